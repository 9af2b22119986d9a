#pragma once
#include <coroutine>
#include <exception>
#include <functional>
#include <memory>
#include <utility>
#include <vector>

namespace sagips::comm {

/// Something a task waits for. Asking makes it progress; nothing else does.
class Condition {
 public:
  virtual ~Condition() = default;
  /// throws: CommError when it can never come true
  virtual bool ready() = 0;
};

class Flow;

/// An exchange algorithm as a C++20 coroutine: written from top to bottom like the text book, run in
/// pieces. `co_await` takes a Condition (goes on when it is ready) or another Task (runs it to its
/// end). A task starts when it is awaited or given to a Flow, never by itself; no thread is involved.
class [[nodiscard]] Task {
 public:
  struct promise_type;
  using Handle = std::coroutine_handle<promise_type>;

  explicit Task(Handle handle) : handle_(handle) {}
  Task(Task&& other) noexcept : handle_(std::exchange(other.handle_, {})) {}
  Task& operator=(Task&& other) noexcept {
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~Task() {
    if (handle_) handle_.destroy();
  }

  bool await_ready() const { return false; }
  Handle await_suspend(Handle caller);
  void await_resume();

 private:
  friend class Flow;
  Handle handle_;
};

/// One task on its way: `ready` moves it as far as it gets without waiting.
class Flow final : public Condition {
 public:
  Flow() = default;
  explicit Flow(Task task) { begin(std::move(task)); }
  Flow(const Flow&) = delete;  // the running task points here
  Flow& operator=(const Flow&) = delete;

  /// Takes a task and runs it to its first wait. The flow before must be over.
  void begin(Task task);
  /// True when the task is over. throws: what the task threw
  bool ready() override;
  bool over() const { return !root_; }

 private:
  friend class Task;
  friend struct Task::promise_type;
  void finish();

  std::unique_ptr<Task> root_;
  Condition* waiting_ = nullptr;
  std::coroutine_handle<> leaf_;
};

struct Task::promise_type {
  Flow* flow = nullptr;
  std::coroutine_handle<> caller;
  std::exception_ptr error;

  /// Suspends the task on a condition that lives as long as the co_await expression.
  struct Wait {
    Condition& condition;
    Flow* flow;
    bool await_ready() { return condition.ready(); }
    void await_suspend(std::coroutine_handle<> task) {
      // clang's analyzer does not see await_transform fill a Wait.
      flow->waiting_ = &condition;  // NOLINT(clang-analyzer-core.NullDereference)
      flow->leaf_ = task;
    }
    void await_resume() {}
  };
  /// At its end a task goes on with its caller, if it has one.
  struct Return {
    bool await_ready() noexcept { return false; }
    std::coroutine_handle<> await_suspend(Handle task) noexcept {
      const auto next = task.promise().caller;
      return next ? next : std::noop_coroutine();
    }
    void await_resume() noexcept {}
  };

  Task get_return_object() { return Task(Handle::from_promise(*this)); }
  std::suspend_always initial_suspend() noexcept { return {}; }
  Return final_suspend() noexcept { return {}; }
  void return_void() {}
  void unhandled_exception() { error = std::current_exception(); }
  Wait await_transform(Condition& condition) { return {condition, flow}; }
  Wait await_transform(Condition&& condition) { return {condition, flow}; }
  Task&& await_transform(Task&& task) { return std::move(task); }
};

/// A condition from a function.
template <class Predicate>
class Until final : public Condition {
 public:
  explicit Until(Predicate predicate) : predicate_(std::move(predicate)) {}
  bool ready() override { return predicate_(); }

 private:
  Predicate predicate_;
};

/// Several tasks side by side; ready when all are over.
class Together final : public Condition {
 public:
  void add(Task task) { flows_.push_back(std::make_unique<Flow>(std::move(task))); }
  bool ready() override {
    bool all = true;
    for (auto& flow : flows_) all = flow->ready() && all;
    return all;
  }

 private:
  std::vector<std::unique_ptr<Flow>> flows_;
};

}  // namespace sagips::comm
