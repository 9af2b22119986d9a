#include "sagips/nn/workers.hpp"

#include <ATen/Parallel.h>

#include <algorithm>
#include <chrono>

namespace sagips::nn {

Workers::Workers(int threads) {
  if (threads <= 1) return;
  // a thread learns its number of LibTorch threads when it first asks: see to it that it is one
  const int of_operations = at::get_num_threads();
  at::set_num_threads(1);
  std::atomic<int> ready{0};
  for (int i = 1; i < threads; ++i) {
    Helper& helper = helpers_.emplace_back();
    helper.thread = std::thread([this, &ready, &helper] {
      at::set_num_threads(1);
      at::get_num_threads();
      ready.fetch_add(1);
      ready.notify_one();
      serve(helper);
    });
  }
  for (int seen = ready.load(); seen + 1 < threads; seen = ready.load()) ready.wait(seen);
  at::set_num_threads(of_operations);
}

Workers::~Workers() {
  for (Helper& helper : helpers_) helper.tell(State::dismissed);
  for (Helper& helper : helpers_) helper.thread.join();
}

void Workers::Helper::tell(State next) {
  state = next;
  state.notify_one();
}

void Workers::serve(Helper& helper) {
  for (;;) {
    helper.state.wait(State::resting);
    State seen = State::called;
    if (helper.state.compare_exchange_strong(seen, State::working)) {
      take_pieces({});
      helper.tell(State::resting);
    } else if (seen == State::dismissed) {
      return;
    }
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

void Workers::run(std::size_t pieces, const Work& work, const std::function<void()>& poll,
                  int threads) {
  work_ = &work;
  pieces_ = pieces;
  next_ = 0;
  failed_ = false;
  error_ = nullptr;
  const auto others = static_cast<std::size_t>(std::max(1, threads) - 1);
  const std::size_t helpers =
      std::min({helpers_.size(), others, std::max<std::size_t>(1, pieces) - 1});
  for (std::size_t i = 0; i < helpers; ++i) helpers_[i].tell(State::called);
  take_pieces(poll);
  std::function<void()> polled = poll;
  for (std::size_t i = 0; i < helpers; ++i) wait_for(helpers_[i], polled);
  if (error_) std::rethrow_exception(error_);
}

// Who works uses what the caller owns: whatever happens, it is waited for. Who has not come yet,
// since others have its processor, need not come any more. The wait may be long where its processor
// is taken from it, so the caller gives up its own between polls.
void Workers::wait_for(Helper& helper, std::function<void()>& poll) {
  constexpr int polls_at_once = 100;
  constexpr auto between_polls = std::chrono::microseconds(20);
  State seen = State::called;
  if (helper.state.compare_exchange_strong(seen, State::resting)) return;
  for (int polls = 0; helper.state == State::working;) {
    if (!poll) {
      helper.state.wait(State::working);
      continue;
    }
    try {
      poll();
      if (++polls > polls_at_once) std::this_thread::sleep_for(between_polls);
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

}  // namespace sagips::nn
