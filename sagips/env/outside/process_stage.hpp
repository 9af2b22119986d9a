#pragma once
#include <cstdint>
#include <memory>
#include <string>

#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/noise/noise.hpp"
#include "sagips/env/outside/simulator_pool.hpp"

namespace sagips::env {

/// A simulator that runs beside SAGIPS, in any language: started once, asked for the events of many
/// parameter vectors at a time. With `gradient: true` it also gives the product of a slope with its
/// Jacobian, and trains with a GAN like any other stage.
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

    void fields(core::FieldList& list);
  };
  /// throws: ConfigError without a command
  explicit ProcessStage(const Config& config);

  torch::Tensor operator()(torch::Tensor input, Noise& noise) const;
  std::string name() const { return name_; }
  bool differentiable() const { return config_.gradient; }
  bool checks_product() const { return config_.gradient; }

 private:
  Config config_;
  std::string name_;
  std::shared_ptr<SimulatorPool> pool_;
};

}  // namespace sagips::env
