#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/random.hpp"
#include "sagips/data/arrays.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// What a network learns from: rows that belong together.
struct Examples {
  torch::Tensor inputs;     ///< [rows, ...] float32
  torch::Tensor targets;    ///< [rows] int64 (classes) or [rows, ...] float32
  torch::Tensor weights{};  ///< [rows] float32; undefined: all 1

  std::int64_t rows() const { return inputs.defined() ? inputs.size(0) : 0; }
  Examples chosen(const torch::Tensor& rows) const;
};

/// Rows to learn from, and others to judge by what was learned.
struct ExampleSets {
  Examples training, validation{};
  std::vector<std::string> classes{};  ///< their names, where there are any
  std::string origin{};                ///< file, or "drawn: ..."
};

/// Which rows are kept aside.
struct ExampleSplit {
  double held_out = 0.1;  ///< share of the rows, where the source has no validation rows of its own
  std::int64_t seed = -1;  ///< of the order in which rows are kept aside, and of what is drawn
  std::string fold{};      ///< "2/5": the second of five parts is kept aside; empty: `held_out`

  void fields(core::FieldList& list);
  /// Cuts rows aside at random where there are none yet. throws: ConfigError
  void apply(ExampleSets& sets, const core::RandomStream& stream) const;
};

/// Inputs and targets of files.
struct ExampleFiles {
  ArraySource inputs, targets, validation_inputs, validation_targets;
  std::vector<std::string> classes;

  void fields(core::FieldList& list);
  /// throws: ConfigError, DataError
  ExampleSets load() const;
  /// Inputs of another file of the same form. throws: DataError
  torch::Tensor inputs_of(const std::string& file) const;
};

/// Targets as numbers of classes: from whole numbers [rows] or [rows, 1], or from rows with a single 1
/// among zeros. file: for messages. shape: [rows] int64. throws: DataError
torch::Tensor class_numbers(const torch::Tensor& targets, const std::string& file);

}  // namespace sagips::data
