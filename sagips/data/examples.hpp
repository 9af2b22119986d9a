#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/random.hpp"
#include "sagips/core/row_tensors.hpp"
#include "sagips/data/arrays.hpp"
#include "sagips/data/row_selection.hpp"
#include "sagips/data/standard.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// The named tensors that inputs and targets are made of; none: they are one tensor each.
struct ExampleTensors {
  core::RowTensors inputs{}, targets{};
};

/// What a network learns from: rows that belong together.
struct Examples {
  torch::Tensor inputs;     ///< [rows, ...] float32; of several tensors [rows, numbers]
  torch::Tensor targets;    ///< [rows] int64 (classes) or [rows, ...] float32; of several as inputs
  torch::Tensor weights{};  ///< [rows] float32; undefined: all 1
  std::shared_ptr<const ExampleTensors> tensors{};  ///< null: none have names

  std::int64_t rows() const { return inputs.defined() ? inputs.size(0) : 0; }
  Examples chosen(const torch::Tensor& rows) const;
  core::RowTensors input_tensors() const { return tensors ? tensors->inputs : core::RowTensors(); }
  core::RowTensors target_tensors() const {
    return tensors ? tensors->targets : core::RowTensors();
  }
};
/// Examples of tensors by their names, each [rows, ...] or [rows]; whole numbers of classes become float32,
/// which keeps them up to 2^24.
Examples named_examples(const std::map<std::string, torch::Tensor>& inputs,
                        const std::map<std::string, torch::Tensor>& targets,
                        const torch::Tensor& weights = {});

/// Rows to learn from or to judge by, in memory or in files. Threads may share them.
class ExampleRows {
 public:
  virtual ~ExampleRows() = default;
  virtual std::int64_t rows() const = 0;
  /// shape: numbers [n] int64, from 0. throws: DataError for what cannot be read
  virtual Examples read(const torch::Tensor& numbers) const = 0;
  /// Their targets and weights alone; inputs are undefined.
  virtual Examples read_targets(const torch::Tensor& numbers) const;
  /// Whether reading takes no file.
  virtual bool in_memory() const { return false; }
  /// A checksum of what tells these rows from others, going on from another one.
  virtual std::uint32_t fingerprint(std::uint32_t sum) const = 0;

  Examples first(std::int64_t count) const;  ///< fewer where there are not as many
  /// Calls with targets and weights, some at a time: of all rows where they are in memory, else of the first
  /// ones, which take little of it.
  void look_at_targets(const std::function<void(const Examples&)>& look) const;
};
using ExampleRowsPtr = std::shared_ptr<const ExampleRows>;

/// Calls with the numbers of rows [n] int64, `at_once` at a time.
void for_each_piece(std::int64_t rows, std::int64_t at_once,
                    const std::function<void(const torch::Tensor& numbers)>& use);

ExampleRowsPtr hold(Examples examples);
/// Examples without names that are made once a node, for all its ranks. collective
ExampleRowsPtr hold(const std::function<Examples()>& make, const Reading& reading);
/// Rows with something done to them as they are read.
ExampleRowsPtr changed(const ExampleRowsPtr& rows, std::function<void(Examples&)> change);
/// Rows with other targets: at once and once a node where they are in memory, else as they are read.
/// collective
ExampleRowsPtr with_targets(const ExampleRowsPtr& rows, std::function<void(Examples&)> change,
                            const Reading& reading);
/// Some of the rows, which stay where they are: nothing is copied.
ExampleRowsPtr chosen(const ExampleRowsPtr& rows, RowSelection selection);
/// Rows whose inputs are standardised as they are read.
ExampleRowsPtr standardised(const ExampleRowsPtr& rows, const Standard& inputs);

/// Rows to learn from, and others to judge by what was learned.
struct ExampleSets {
  ExampleRowsPtr training, validation{};  ///< null: there are none
  std::vector<std::string> classes{};     ///< their names, where there are any
  std::vector<std::string> targets{};     ///< names of the columns, where they are known
  std::string origin{};                   ///< file, or "drawn: ..."
  /// Which rows are only kept aside together, by equal numbers; undefined: each by itself.
  /// shape: [rows of training]
  torch::Tensor groups{};
  /// Which of all rows the split has kept aside; nothing where these have files of their own.
  std::optional<RowSelection> kept_aside{};
  std::int64_t one_hot =
      0;  ///< columns of targets that name a class by a 1 among zeros; 0: numbers do
  std::vector<std::string> warnings{};

  /// Names of what a network gives: classes, or targets.
  const std::vector<std::string>& names() const { return classes.empty() ? targets : classes; }
};

/// What a process has read last, for the trainings of a study, which read the same again and again: files
/// that change meanwhile are not read anew. One thread at a time.
struct KeptExamples {
  std::string origin;  ///< what was read, as settings; empty: nothing yet
  ExampleSets sets;
};

/// Which rows are kept aside.
struct ExampleSplit {
  double held_out = 0.1;  ///< share of the rows, where the source has no validation rows of its own
  std::int64_t seed = -1;  ///< of the order in which rows are kept aside, and of what is drawn
  std::string fold{};      ///< "2/5": the second of five parts is kept aside; empty: `held_out`

  void fields(core::FieldList& list);
  /// Its seed, or the run's where it has none.
  std::uint64_t seed_or(std::uint64_t of_run) const {
    return seed < 0 ? of_run : static_cast<std::uint64_t>(seed);
  }
  /// Cuts rows aside at random where there are none yet. throws: ConfigError
  void apply(ExampleSets& sets, const core::RandomStream& stream) const;
};

/// An array by the name of the tensor that it makes; without one where it is all there is.
struct NamedArray {
  std::string name{};
  ArraySource source{};
  bool standardise = true;
  void fields(core::FieldList& list);
};
using NamedArrays = std::vector<NamedArray>;

/// Files of inputs by the tensors that they are for; without a name: of all of them.
using InputFiles = std::map<std::string, std::string>;
/// The file of inputs that have no names. throws: ConfigError where any is named
const std::string& only_file(const InputFiles& files);

/// Inputs and targets of files.
struct ExampleFiles {
  ArraySource inputs, targets, weights, validation_inputs, validation_targets, validation_weights;
  /// Several named tensors in place of those.
  NamedArrays input_tensors, target_tensors, validation_input_tensors, validation_target_tensors;
  std::vector<std::string> classes;
  bool join = false;              ///< validation files are rows like the others
  std::string split_by = "rows";  ///< or files, or a column
  double memory_GB = 4;
  FileCacheConfig cache;

  void fields(core::FieldList& list);
  /// Of these the keys of memory and of copies alone, for a source that names its files in its own way.
  void limit_fields(core::FieldList& list);
  /// throws: ConfigError, DataError; collective
  ExampleSets load(Reading reading = {}) const;
  /// Inputs of other files of the same form. throws: DataError, ConfigError
  ExampleRowsPtr inputs_of(const InputFiles& files, Reading reading = {}) const;

 private:
  bool has_validation() const {
    return validation_inputs.is_given() || !validation_input_tensors.empty();
  }
  /// Columns of the table of one of the inputs that are no part of it.
  std::vector<std::string> others(const NamedArrays& in, const NamedArrays& out,
                                  const ArraySource& counts, std::size_t which) const;
  void check_files() const;
  void take_limits(Reading& reading) const;
  ExampleRowsPtr rows_of(NamedArrays in, NamedArrays out, ArraySource weights_source,
                         const Reading& reading, torch::Tensor* groups) const;
  ExampleRowsPtr validation_rows(const Reading& reading) const;
  void add_warnings(ExampleSets& sets, const std::vector<std::string>& files,
                    const Reading& reading) const;
};

/// Targets as numbers of classes: from whole numbers [rows] or [rows, 1], or from rows with a single 1
/// among zeros. file: for messages, with the number of a row where these are not any part of the file's.
/// shape: [rows] int64. throws: DataError
torch::Tensor class_numbers(const torch::Tensor& targets, const std::string& file,
                            bool is_part = false);

}  // namespace sagips::data
