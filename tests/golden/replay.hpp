#pragma once
#include <cstdint>
#include <string>

#include "sagips/train/engine.hpp"
#include "tests/golden/recorded_run.hpp"

namespace sagips::golden {

/// Runs the steps of a dump through our GAN.
class Replay {
 public:
  /// pipeline: YAML laid over the workload's own settings; library: who evaluates dense layers.
  Replay(RecordedRun run, const train::EngineConfig& engine, const std::string& pipeline,
         const std::string& library = "auto");

  /// Computes one step. Each gradient starts from weights of the dump, whatever happened before.
  StepOutcome step(std::int64_t index);
  /// Both networks get the dump's weights from before step `index`.
  void put_weights(std::int64_t index);
  optim::Gan& gan() { return gan_; }

 private:
  bool is_generator(std::size_t step) { return gan_.steps()[step].replica == &gan_.generator(); }
  void put_weights_of(std::size_t step, std::int64_t row);

  RecordedRun run_;
  env::Environment environment_;
  optim::Gan gan_;
  train::Engine engine_;
};

/// |ours - theirs| / |theirs|, calculated in double.
double relative_difference(const torch::Tensor& ours, const torch::Tensor& theirs);

/// The largest of some numbers and where it was found.
struct Largest {
  double value = 0;
  std::string where;

  void add(double another, const std::string& place);
  std::string text() const;
};

/// Largest relative differences of the losses, and of the gradients of each weight or bias tensor:
/// in a flat array the largest tensor would hide the others.
struct Differences {
  Largest loss, generator, discriminator;

  void add(const StepOutcome& ours, const StepOutcome& theirs);
};

}  // namespace sagips::golden
