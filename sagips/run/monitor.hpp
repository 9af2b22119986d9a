#pragma once
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "sagips/record/event.hpp"

namespace sagips::run {

/// Of this process [MB]: resident now, and at most so far. 0 where /proc does not tell.
double resident_mb();
double peak_resident_mb();

/// The machine's GPUs, asked by NVIDIA's library (NVML) where it is installed.
class Gpus;

/// Looks twice a second, in a thread of its own, what this process and its machine are busy with.
class Monitor {
 public:
  Monitor();
  ~Monitor();
  Monitor(const Monitor&) = delete;
  Monitor& operator=(const Monitor&) = delete;

  /// What cannot be monitored here, in one line; empty: everything can.
  const std::string& problem() const { return problem_; }
  /// The mean since the last call.
  record::MachineUse since_last(std::int64_t epoch);
  record::MachineUse since_start();

 private:
  /// What grows, or is added up over looks; a mean is the difference of two over time or looks.
  struct Totals {
    double time_s = 0, processor_s = 0, received_mb = 0, sent_mb = 0;
    double looks = 0, memory_mb = 0, gpu_percent = 0, gpu_memory_mb = 0;
  };
  const Totals& look();
  record::MachineUse between(const Totals& before, const Totals& now) const;
  void watch();

  std::string problem_;
  std::unique_ptr<Gpus> gpus_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ended_ = false;
  Totals totals_;  ///< at the last look
  Totals start_, last_;
  std::thread thread_;  ///< the last member: it reads the others
};

}  // namespace sagips::run
