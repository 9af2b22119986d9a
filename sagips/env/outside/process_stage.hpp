#pragma once
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/events.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/env/outside/answer_store.hpp"
#include "sagips/env/outside/simulator_pool.hpp"

namespace sagips::env {

/// A simulator that runs beside SAGIPS, in any language: started once, asked for the events of many
/// parameter vectors at a time. With `gradient: true` it also gives the product of a slope with its
/// Jacobian, and trains with a GAN like any other stage. It may lose events and weigh them; see
/// OutsideArrays.
///
/// shape: [samples, ...] -> what the simulator gives, samples first
/// noise: `noise_dimensions` uniform dimensions, and one for the seeds
class ProcessStage {
 public:
  struct Config {
    std::string command;
    std::int64_t processes = 1;
    double timeout_s = 60;
    std::int64_t noise_dimensions = 0;
    bool seeds = false;
    bool gradient = false;
    std::string log;
    enum class OnError { stop, skip };
    OnError on_error = OnError::stop;
    double most_skipped = 0.01;
    bool nan_is_lost = false;
    std::string folder = ".";  ///< where the command starts

    void fields(core::FieldList& list);
    /// All but the command.
    void other_fields(core::FieldList& list, std::int64_t least_processes = 1);
  };
  /// throws: ConfigError without a command
  explicit ProcessStage(const Config& config);

  Events operator()(Events input, Noise& noise) const;
  std::string name() const { return name_; }
  std::int64_t processes() const { return config_.processes; }
  std::int64_t keep_answers(const std::string& path) const;
  /// How many events were skipped, when there were any.
  std::string remark() const;
  bool differentiable() const { return config_.gradient; }
  bool checks_product() const { return config_.gradient; }

 private:
  Config config_;
  std::string name_;
  std::shared_ptr<SimulatorPool> pool_;
  struct Counts {
    std::atomic<std::int64_t> events = 0, skipped = 0;
  };
  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();

  /// Shared by all copies of the stage.
  struct Kept {
    std::mutex mutex;
    std::shared_ptr<AnswerStore> answers;  ///< none: nothing is kept
  };
  std::shared_ptr<Kept> kept_ = std::make_shared<Kept>();

  void skip(SimulatorPool::Arrays& arrays) const;
  std::vector<std::pair<std::string, torch::Tensor>> arrays_for(const torch::Tensor& input,
                                                                Noise& noise) const;
  OutsideArrays answer(const SimulatorPool::Request& request) const;
  OutsideArrays kept_answer(const SimulatorPool::Request& request) const;
};

}  // namespace sagips::env
