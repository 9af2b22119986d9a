#include "sagips/train/workers.hpp"

#include <ATen/Parallel.h>

namespace sagips::train {

Workers::Workers(int threads) {
  if (threads <= 1) return;
  // a thread learns its number of LibTorch threads when it first asks: see to it that it is one
  const int of_operations = at::get_num_threads();
  at::set_num_threads(1);
  std::atomic<int> ready{0};
  for (int i = 1; i < threads; ++i)
    helpers_.emplace_back([this, &ready] {
      at::set_num_threads(1);
      at::get_num_threads();
      ready.fetch_add(1);
      ready.notify_one();
      serve();
    });
  for (int seen = ready.load(); seen + 1 < threads; seen = ready.load()) ready.wait(seen);
  at::set_num_threads(of_operations);
}

Workers::~Workers() {
  stop_ = true;
  turn_.fetch_add(1);
  turn_.notify_all();
  for (std::thread& helper : helpers_) helper.join();
}

void Workers::serve() {
  for (unsigned seen = 0;;) {
    turn_.wait(seen);
    seen = turn_.load();
    if (stop_) return;
    take_pieces({});
    if (busy_.fetch_sub(1) == 1) busy_.notify_one();
  }
}

void Workers::take_pieces(const std::function<void()>& between) {
  for (std::size_t piece = next_++; piece < pieces_ && !failed_; piece = next_++) {
    try {
      (*work_)(piece, between);
    } catch (...) {
      fail(piece);
    }
  }
}

void Workers::run(std::size_t pieces, const Work& work, const std::function<void()>& poll) {
  work_ = &work;
  pieces_ = pieces;
  next_ = 0;
  failed_ = false;
  error_ = nullptr;
  const bool shared = !helpers_.empty() && pieces > 1;
  if (shared) {
    busy_ = static_cast<int>(helpers_.size());
    turn_.fetch_add(1);
    turn_.notify_all();
  }
  take_pieces(poll);
  if (shared) wait_for_helpers(poll);
  if (error_) std::rethrow_exception(error_);
}

// They use what the caller owns: whatever happens, they are waited for.
void Workers::wait_for_helpers(std::function<void()> poll) {
  for (int busy = busy_.load(); busy != 0; busy = busy_.load()) {
    if (!poll) {
      busy_.wait(busy);
      continue;
    }
    try {
      poll();
      std::this_thread::yield();
    } catch (...) {
      fail(pieces_);
      poll = nullptr;
    }
  }
}

void Workers::fail(std::size_t piece) {
  failed_ = true;
  const std::lock_guard lock(mutex_);
  if (error_ && error_piece_ <= piece) return;
  error_ = std::current_exception();
  error_piece_ = piece;
}

}  // namespace sagips::train
