#include "sagips/comm/task.hpp"

namespace sagips::comm {

Task::Handle Task::await_suspend(Handle caller) {
  handle_.promise().flow = caller.promise().flow;
  handle_.promise().caller = caller;
  return handle_;
}

void Task::await_resume() {
  if (handle_.promise().error) std::rethrow_exception(handle_.promise().error);
}

void Flow::begin(Task task) {
  root_ = std::make_unique<Task>(std::move(task));
  root_->handle_.promise().flow = this;
  waiting_ = nullptr;
  root_->handle_.resume();
  if (root_->handle_.done()) finish();
}

bool Flow::ready() {
  if (over()) return true;
  while (waiting_->ready()) {
    waiting_ = nullptr;
    leaf_.resume();
    if (root_->handle_.done()) {
      finish();
      return true;
    }
  }
  return false;
}

void Flow::finish() {
  const std::unique_ptr<Task> ended = std::move(root_);
  ended->await_resume();
}

}  // namespace sagips::comm
