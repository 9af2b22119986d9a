#pragma once
#include <signal.h>
#include <sys/resource.h>

namespace sagips::testing {

/// Files of this process, and of those it starts, cannot grow beyond some bytes as long as this lives: a
/// full disk, as write() sees it.
class FullDisk {
 public:
  explicit FullDisk(rlim_t bytes = 0) : handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &before_);
    rlimit low = before_;
    low.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &low);
  }
  ~FullDisk() {
    ::setrlimit(RLIMIT_FSIZE, &before_);
    ::signal(SIGXFSZ, handler_);
  }
  FullDisk(const FullDisk&) = delete;
  FullDisk& operator=(const FullDisk&) = delete;

 private:
  sighandler_t handler_;
  rlimit before_{};
};

}  // namespace sagips::testing
