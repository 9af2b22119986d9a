#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/data/examples.hpp"
#include "sagips/problem/comparison.hpp"
#include "sagips/problem/problem.hpp"

namespace sagips::problem {

/// Where the examples of a learning problem come from. A folder of its own holds it with its networks.
class ExampleSource : public Problem {
 public:
  /// Its keys of the group `data`.
  virtual void fields(core::FieldList& list) = 0;
  /// Every row; those for evaluations apart where it has some. seed: of what is drawn. collective
  virtual data::ExampleSets load(std::uint64_t seed, const data::Reading& reading) const = 0;
  /// Whether the seed changes what is loaded.
  virtual bool is_drawn() const { return true; }
  /// Functions of the inputs that have no weights, by their names: who makes such examples may be judged
  /// by them, and learns through their gradients. shape: [rows, ...] -> [rows] or [rows, ...]
  using Measure = std::function<torch::Tensor(const torch::Tensor& inputs)>;
  virtual std::map<std::string, Measure> measures() const { return {}; }
  /// Whether examples that were made for such targets are right; null: nothing tells.
  virtual std::unique_ptr<ExampleComparison> comparison(const core::RowTensors& /*targets*/) const {
    return nullptr;
  }
  /// How inputs are drawn; none: as grey images. shape: [rows, ...]
  virtual std::vector<ExampleView> views(const torch::Tensor& /*inputs*/) const { return {}; }
  /// What a target is counted in, and the values that it can have.
  struct Quantity {
    std::string unit;
    double lowest, highest;
  };
  virtual std::map<std::string, Quantity> quantities() const { return {}; }
  /// Files of examples that it writes and reads.
  struct FileForm {
    std::string ending;                       ///< ".h5"
    std::map<std::string, std::string> keys;  ///< of `data`, which read such a `file`
    /// Reads rows some at a time, in their order. throws: StorageError; ConfigError for others than it has
    std::function<void(const std::string& path, const data::ExampleRows& rows)> write;
  };
  virtual std::optional<FileForm> file_form() const { return std::nullopt; }  ///< nothing: none
  /// Inputs of other files, as the training's are read. throws: DataError, ConfigError
  virtual data::ExampleRowsPtr inputs_of(const data::InputFiles& files,
                                         const data::Reading& reading) const = 0;
};

using LearningEntry = EntryOf<ExampleSource>;

/// Inputs like those of a source are to be made for its targets.
class Generation final : public Problem {
 public:
  /// source: null: that of a learning workload, which the config names
  explicit Generation(std::unique_ptr<ExampleSource> source = nullptr)
      : source(std::move(source)) {}

  std::unique_ptr<ExampleSource> source;
};

using GenerationEntry = EntryOf<Generation>;

}  // namespace sagips::problem
