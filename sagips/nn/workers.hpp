#pragma once
#include <atomic>
#include <cstddef>
#include <deque>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace sagips::nn {

/// Threads that share numbered pieces of work; the calling thread is one of them. LibTorch's
/// operations run on one thread inside each of the others.
class Workers {
 public:
  explicit Workers(int threads);
  ~Workers();
  Workers(const Workers&) = delete;
  Workers& operator=(const Workers&) = delete;

  /// `between` is empty on all threads but the calling one.
  using Work = std::function<void(std::size_t piece, const std::function<void()>& between)>;
  /// Works on each piece once, on whichever of so many threads is free. The calling thread passes
  /// `poll` to its pieces and calls it while it waits for the others.
  /// throws: what the first piece in order threw; pieces that nobody began are left out then
  void run(std::size_t pieces, const Work& work, const std::function<void()>& poll, int threads);

 private:
  enum class State { resting, called, working, dismissed };
  struct Helper {
    std::atomic<State> state{State::resting};
    std::thread thread;
    void tell(State next);
  };
  void serve(Helper& helper);
  void take_pieces(const std::function<void()>& between);
  void wait_for(Helper& helper, std::function<void()>& poll);
  void fail(std::size_t piece);

  const Work* work_ = nullptr;
  std::size_t pieces_ = 0;
  std::atomic<std::size_t> next_{0};
  std::atomic<bool> failed_{false};
  std::mutex mutex_;  ///< of what follows
  std::exception_ptr error_;
  std::size_t error_piece_ = 0;
  std::deque<Helper> helpers_;
};

}  // namespace sagips::nn
