#pragma once
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/env/outside/simulator_process.hpp"

namespace sagips::env {

/// Several simulators of the same command, started when they are needed first and kept. Called by
/// several threads at a time; a simulator that fails makes every later call fail alike.
class SimulatorPool {
 public:
  SimulatorPool(SimulatorProcess::Config config, std::int64_t processes)
      : config_(std::move(config)), processes_(static_cast<std::size_t>(processes)) {}

  /// What a simulator is asked: arrays by name go out as NAME.npy, others come back.
  struct Request {
    std::string verb;  ///< "events", "gradient"
    std::int64_t samples = 0, events = 0;
    std::vector<std::pair<std::string, torch::Tensor>> arrays{};
    std::string answer;                 ///< name of the array that comes back
    std::vector<std::string> extras{};  ///< names of those that may come with it
    bool finite = true;                 ///< whether the answer must be
  };
  using Arrays = std::map<std::string, torch::Tensor>;
  /// The samples go to several simulators in parts, where earlier calls say that this saves time.
  /// made: of each part's arrays, before parts are put together
  /// shape: [samples, ...] in float64
  /// throws: core::Error that names the command: it fails, or an array is missing, has another
  /// number of samples, or holds NaN or infinity
  Arrays ask(const Request& request, const std::function<void(Arrays& arrays)>& made = {});
  std::int64_t processes() const { return static_cast<std::int64_t>(processes_); }

 private:
  /// The fastest calls with the fewest and the most samples so far.
  struct Times {
    std::int64_t few = 0, many = 0;  ///< samples
    double few_s = 0, many_s = 0;
  };
  Arrays ask_one(const Request& request);
  std::int64_t parts(const Request& request);
  void note_time(const Request& request, double seconds);
  std::unique_ptr<SimulatorProcess> take();
  void give_back(std::unique_ptr<SimulatorProcess> process);
  void break_down(const std::string& reason);

  SimulatorProcess::Config config_;
  std::size_t processes_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<SimulatorProcess>> free_;
  std::size_t started_ = 0;
  std::uint64_t requests_ = 0;
  std::map<std::pair<std::string, std::int64_t>, Times> times_;  ///< by verb and events
  std::string broken_;                                           ///< why; empty: it works
};

}  // namespace sagips::env
