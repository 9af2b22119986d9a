#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "sagips/core/log.hpp"
#include "sagips/nn/state.hpp"
#include "sagips/optim/learn/supervised.hpp"
#include "sagips/record/event.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/tensor_file.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

/// Each array of networks by its name in their file, in the file's order: "layer0.weight", of one of
/// several networks "body.layer0.weight".
void for_each_array(std::span<optim::WeightedNetwork> networks,
                    const std::function<void(const std::string& name, torch::Tensor& values)>& use);

/// beside: further arrays by their names, float64
void write_networks(const std::string& path, std::span<optim::WeightedNetwork> networks,
                    const std::map<std::string, torch::Tensor>& beside = {});

/// Copies an array of a file. throws: DataError where it is not there or of another shape
void take_array(const record::TensorFile& content, const std::string& file, const std::string& name,
                torch::Tensor& values);

/// The path of what a training writes at its end. throws: DataError where it is not there, with the reason
std::string finished_file(const std::string& folder, const std::string& name);

/// The file of networks that a run has left in its folder: those of its best evaluation where there
/// are any and `best` asks for them, else those of its end.
std::string network_file(const std::string& folder, bool best = true);

/// The networks for such inputs, with the weights of a `network_file`.
/// throws: DataError when the file is missing or of other networks
std::vector<optim::WeightedNetwork> read_networks(const Job& job, const data::ExampleRows& rows,
                                                  const std::string& file);

/// Puts in place what `start_from` and `networks.NAME.start_from` name: a run folder or a .safetensors
/// file. An array is found by its name there, or by the number of its layer among all networks' layers,
/// so that a network which is cut in two to train its end alone begins from a whole one.
/// Returns a line a file that says what was taken, for a person.
/// throws: ConfigError, DataError for a file that is missing or whose arrays do not fit
std::vector<std::string> begin_from(const LearningProblem& learning,
                                    std::span<optim::WeightedNetwork> networks);

/// The networks of a training's best evaluation so far.
class BestNetworks {
 public:
  explicit BestNetworks(std::span<optim::WeightedNetwork> networks);

  /// Copies the networks as they are evaluated now. The evaluation may come later.
  void remember(std::int64_t epoch);
  using Score = std::function<std::optional<double>(const record::Evaluated&)>;
  /// The evaluation of a remembered epoch. score: smaller is better; NaN and nothing are never best
  void judge(const record::Evaluated& evaluated, const Score& score);
  /// The evaluation that was the best; nothing: there is none yet.
  const std::optional<record::Evaluated>& evaluated() const { return best_; }
  /// Calls it with the best weights in the networks; the present ones are back afterwards.
  void with_best(const std::function<void()>& use);
  /// Adds what was the best to a run's results and calls `write` with its weights; leaves these in the
  /// networks where early_stop.restore asks for it. Nothing where there is no best.
  void conclude(const Job& job, record::Results& results, core::Log& log,
                const std::function<void()>& write);
  /// Leaves the best weights in the networks.
  void restore() { put(weights_); }
  void state(nn::StateList& list);

 private:
  torch::Tensor now() const;
  void put(const torch::Tensor& flat);

  std::span<optim::WeightedNetwork> networks_;
  torch::Tensor
      weights_;  ///< of all arrays, one behind the other; zeros as long as there is no best
  std::optional<record::Evaluated> best_;
  std::map<std::int64_t, torch::Tensor> under_way_;  ///< by the epoch that is being judged
  std::int64_t undefined_ = 0;  ///< evaluations of this process whose score was not finite
};

}  // namespace sagips::run
