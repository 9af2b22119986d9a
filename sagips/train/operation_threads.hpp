#pragma once
#include <ATen/Parallel.h>

namespace sagips::train {

/// So many threads inside each of LibTorch's operations on this thread, until the end of the scope.
class OperationThreads {
 public:
  explicit OperationThreads(int threads) : before_(at::get_num_threads()), now_(threads) {
    if (now_ != before_) at::set_num_threads(now_);
  }
  ~OperationThreads() {
    if (now_ != before_) at::set_num_threads(before_);
  }
  OperationThreads(const OperationThreads&) = delete;
  OperationThreads& operator=(const OperationThreads&) = delete;

 private:
  int before_, now_;
};

}  // namespace sagips::train
