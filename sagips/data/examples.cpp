#include "sagips/data/examples.hpp"

#include <cmath>
#include <cstdio>
#include <filesystem>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/dataset.hpp"

namespace sagips::data {

using core::ConfigError;
using core::DataError;
using core::text;

namespace {

// However its path is written.
bool is_same_file(const std::string& one, const std::string& other) {
  std::error_code missing;
  return one == other || std::filesystem::equivalent(one, other, missing);
}

torch::Tensor read_inputs(const ArraySource& source, const std::vector<std::string>& without) {
  const torch::Tensor rows = read_array(source, without);
  return rows.dim() == 1 ? rows.unsqueeze(1) : rows;
}

Examples read_examples(const ArraySource& inputs, const ArraySource& targets) {
  std::vector<std::string> without;  // of one table, the targets' columns are no inputs
  const auto dataset = [](const ArraySource& source) {
    return source.hdf5_dataset.substr(source.hdf5_dataset.starts_with('/') ? 1 : 0);
  };
  if (inputs.columns.empty() && is_same_file(inputs.file, targets.file) &&
      dataset(inputs) == dataset(targets))
    without = targets.columns;
  Examples examples{read_inputs(inputs, without), read_array(targets)};
  if (examples.inputs.size(0) != examples.targets.size(0))
    throw DataError(targets.file,
                    text("has ", examples.targets.size(0), " rows, ", inputs.file, " has ",
                         examples.inputs.size(0), ". Inputs and targets belong together by row."));
  return examples;
}

// "2/5" as {2, 5}.
std::pair<std::int64_t, std::int64_t> numbers_of(const std::string& fold) {
  long long number = 0, parts = 0;
  char rest = 0;
  if (std::sscanf(fold.c_str(), "%lld/%lld%c", &number, &parts, &rest) != 2 || parts < 2 ||
      number < 1 || number > parts)
    throw ConfigError("data.fold", text("'", core::excerpt(fold),
                                        "' is no part of several. Give one such as 2/5."));
  return {number, parts};
}

}  // namespace

Examples Examples::chosen(const torch::Tensor& rows) const {
  return {inputs.index_select(0, rows), targets.index_select(0, rows),
          weights.defined() ? weights.index_select(0, rows) : weights};
}

void ExampleSplit::fields(core::FieldList& list) {
  list.add("held_out", held_out,
           "share of the rows that is kept aside for evaluations, where they have no files",
           {0, 1, true, true});
  list.add("seed", seed, "of which rows are kept aside, and of what is drawn; -1: run.seed",
           core::Range::at_least(-1));
  list.add("fold", fold, "\"2/5\": the second of five parts is kept aside; empty: held_out");
}

void ExampleSplit::apply(ExampleSets& sets, const core::RandomStream& stream) const {
  if (sets.validation.rows() > 0) {
    if (fold.empty()) return;
    throw ConfigError("data.fold",
                      "these data have rows for evaluations already (folds take them from the "
                      "training's). Leave it out, or give no validation rows.");
  }
  const std::int64_t rows = sets.training.rows();
  std::int64_t begin = 0, end = std::llround(held_out * static_cast<double>(rows));
  if (!fold.empty()) {
    const auto [number, parts] = numbers_of(fold);
    if (parts > rows)
      throw ConfigError("data.fold", text(rows, " rows make no ", parts,
                                          " parts. Choose fewer parts, or give more rows."));
    begin = (number - 1) * rows / parts;
    end = number * rows / parts;
  }
  if (begin == end || end - begin == rows)
    throw ConfigError(fold.empty() ? "data.held_out" : "data.fold",
                      text(rows, " rows leave none ", begin == end ? "aside" : "to learn from",
                           ". Change it, or give more rows."));
  const torch::Tensor order = torch::tensor(shuffled_rows(rows, stream));
  const Examples all = sets.training;
  sets.validation = all.chosen(std::get<0>(order.slice(0, begin, end).sort()));
  sets.training = all.chosen(
      std::get<0>(torch::cat({order.slice(0, 0, begin), order.slice(0, end, rows)}).sort()));
}

void ExampleFiles::fields(core::FieldList& list) {
  list.group("inputs", inputs, "what the network sees");
  list.group("targets", targets, "what it learns: numbers of classes from 0, or values");
  list.group("validation_inputs", validation_inputs,
             "inputs of the evaluations; without a file: rows kept aside");
  list.group("validation_targets", validation_targets, "targets of the evaluations");
  list.add("classes", classes, "names of the classes, from 0; empty: their numbers");
}

ExampleSets ExampleFiles::load() const {
  for (const auto& [name, source] : {std::pair("inputs", &inputs), std::pair("targets", &targets)})
    if (!source->is_given())
      throw ConfigError(text("data.", name, ".file"),
                        "is empty. Name the file that the network learns from.");
  if (validation_inputs.is_given() != validation_targets.is_given())
    throw ConfigError(validation_inputs.is_given() ? "data.validation_targets.file"
                                                   : "data.validation_inputs.file",
                      "is empty, and the other one is not. Name both, or neither.");
  ExampleSets sets{read_examples(inputs, targets)};
  if (validation_inputs.is_given())
    sets.validation = read_examples(validation_inputs, validation_targets);
  sets.classes = classes;
  sets.origin = inputs.file;
  return sets;
}

torch::Tensor ExampleFiles::inputs_of(const std::string& file) const {
  ArraySource source = inputs;
  source.file = file;
  // a table without the targets' columns holds the inputs alone
  return read_inputs(source, {});
}

torch::Tensor class_numbers(const torch::Tensor& targets, const std::string& file) {
  const torch::Tensor flat = targets.flatten(1 < targets.dim() ? 1 : 0);
  const bool is_one_hot = flat.dim() == 2 && flat.size(1) > 1;
  torch::Tensor numbers = is_one_hot ? flat.argmax(1) : flat.flatten().to(torch::kInt64);
  const torch::Tensor wrong = is_one_hot ? ((flat != 0) & (flat != 1)).any(1) | (flat.sum(1) != 1)
                                         : flat.flatten() != numbers.to(flat.dtype());
  const torch::Tensor rows = wrong.nonzero().flatten();
  if (rows.numel() > 0)
    throw DataError(file, text("row ", rows[0].item<std::int64_t>() + 1, " is ",
                               is_one_hot ? "no single 1 among zeros" : "no whole number",
                               ", and a class is one. Choose a loss of values, or correct it."));
  return numbers;
}

}  // namespace sagips::data
