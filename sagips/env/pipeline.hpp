#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/data/torch.hpp"
#include "sagips/env/parameter.hpp"
#include "sagips/env/stage.hpp"

namespace sagips::env {

/// What the dry run of a pipeline found.
struct PipelineReport {
  struct Row {
    std::string stage;
    std::vector<std::int64_t> shape;    ///< of the stage's output
    std::int64_t noise_dimensions = 0;  ///< random numbers an event that this stage takes
  };
  std::vector<Row> rows;
  std::int64_t noise_dimensions = 0;
  std::vector<std::string> numbers;  ///< names of the per-sample numbers
  std::vector<bool> reaches;         ///< which free parameters the gradient reaches
};

/// What a pipeline's events must depend on differentiably.
enum class Reach {
  nothing,          ///< no gradient is asked for
  every_parameter,  ///< every free one
  some_parameter,   ///< at least one: other channels see the others
};

/// Where a pipeline first gives NaN or infinity.
struct NonFinite {
  std::string stage;
  bool in_gradient = false;    ///< the values are finite, their gradient is not
  torch::Tensor parameters{};  ///< the first parameter vector where it happens. shape: [parameters]
};

/// A chain of stages from parameters to events: theory -> sampler -> detector -> selection.
class Pipeline {
 public:
  Pipeline() = default;
  Pipeline(std::initializer_list<Stage> stages) : stages_(stages) {}
  explicit Pipeline(std::vector<Stage> stages) : stages_(std::move(stages)) {}

  void append(Stage stage) { stages_.push_back(std::move(stage)); }
  const std::vector<Stage>& stages() const { return stages_; }

  /// Stages work on this device from now on, also for who has parameters and wants events on the CPU.
  void work_on(const torch::Device& device) { device_ = device; }

  /// Draws events in the differentiable form.
  /// shape: parameters [samples, parameters] in physical units -> values [samples, events,
  ///        observables]
  Events operator()(torch::Tensor parameters, Noise& noise) const;
  /// The stages' inference forms, without a graph.
  Events infer(torch::Tensor parameters, Noise& noise) const;

  /// Sends small batches through both forms: shapes fit, values are finite, the same noise gives
  /// the same events, weights do not vanish, the gradient reaches every free parameter that changes
  /// events (where all stages have one), products written by hand agree with differences.
  /// throws: ShapeError naming the stage at fault
  PipelineReport check(const ParameterSet& parameters, std::int64_t observables,
                       Reach reach = Reach::every_parameter) const;

  bool differentiable() const { return without_gradient().empty(); }
  std::vector<std::string> without_gradient() const;  ///< names of the stages that have none

  std::int64_t processes() const;            ///< the most of a stage
  std::vector<std::string> remarks() const;  ///< of the stages that have one
  /// Simulators' answers are kept in files whose names begin with `path`, and found there. Returns how
  /// many there are. throws: StorageError
  std::int64_t keep_answers(const std::string& path) const;

  /// Looks for the stage that gives NaN or infinity, or whose gradient does.
  /// shape: parameters [samples, parameters] in physical units
  std::optional<NonFinite> find_non_finite(const torch::Tensor& parameters, Noise& noise) const;

 private:
  Events run(torch::Tensor parameters, Noise& noise, bool infers) const;

  std::vector<Stage> stages_;
  torch::Device device_ = torch::kCPU;
};

}  // namespace sagips::env
