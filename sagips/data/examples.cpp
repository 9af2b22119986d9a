#include "sagips/data/examples.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <optional>
#include <unordered_map>
#include <utility>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/crc32c.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/dataset.hpp"
#include "sagips/data/file_list.hpp"
#include "sagips/data/hdf5.hpp"
#include "sagips/data/table.hpp"
#include "sagips/data/whole_file.hpp"

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

// Columns of the same table that other arrays take are no inputs. Their files are looked up already.
std::vector<std::string> columns_of_others(const ArraySource& inputs,
                                           const std::vector<const ArraySource*>& others,
                                           const std::string& split_by) {
  const auto dataset = [](const ArraySource& source) {
    return source.hdf5_dataset.substr(source.hdf5_dataset.starts_with('/') ? 1 : 0);
  };
  std::vector<std::string> columns;
  if (!inputs.columns.empty() || !inputs.is_given()) return columns;
  const std::string& first = inputs.file.front();
  for (const ArraySource* other : others)
    if (other->is_given() && is_same_file(first, other->file.front()) &&
        dataset(inputs) == dataset(*other))
      columns.insert(columns.end(), other->columns.begin(), other->columns.end());
  const bool is_column = split_by != "rows" && split_by != "files";
  if (is_column && format_of(first) != FileFormat::hdf5) columns.push_back(split_by);
  return columns;
}

bool is_table(const std::string& file) {
  return file.find("://") == std::string::npos && format_of(file) == FileFormat::csv;
}

// What is not said of other rows is as in these. Columns go by the names that they have here, since
// another table may have them in another order, or more of them.
ArraySource read_like(ArraySource source, const ArraySource& like,
                      const std::vector<std::string>& without, const Reading& reading) {
  if (source.hdf5_dataset.empty()) source.hdf5_dataset = like.hdf5_dataset;
  if (source.columns.empty()) source.columns = like.columns;
  if (source.shape.empty()) source.shape = like.shape;
  if (source.select.empty()) source.select = like.select;
  if (source.reorder.empty()) source.reorder = like.reorder;
  if (!source.divide_by) source.divide_by = like.divide_by;
  if (source.script.empty()) source.script = like.script;
  const std::string first = files_named(like.file, reading).front();
  const std::string other = files_named(source.file, reading).front();
  if (!source.columns.empty() || !is_table(first) || !is_table(other)) return source;
  const std::string names = reading.once([&] {
    if (!std::filesystem::exists(first)) return std::string();  // predictions elsewhere
    return column_names(other).empty() ? "" : core::join(column_names(first), "\n");
  });
  std::vector<std::string> columns = core::split(names, '\n');
  for (const std::string& name : without) {
    const auto found = std::find(columns.begin(), columns.end(), name);
    if (found == columns.end()) return source;  // by its number, or there is no header
    columns.erase(found);
  }
  if (!names.empty()) source.columns = columns;
  return source;
}

// A network that sees its targets copies them. One that learns its inputs has the same columns in both.
void check_targets_are_no_inputs(const ArraySource& inputs, const ArraySource& targets) {
  if (!targets.is_given() || inputs.columns == targets.columns ||
      !is_same_file(inputs.file.front(), targets.file.front()) ||
      inputs.hdf5_dataset != targets.hdf5_dataset)
    return;
  for (const std::string& name : inputs.columns)
    if (std::find(targets.columns.begin(), targets.columns.end(), name) != targets.columns.end())
      throw ConfigError("data.inputs.columns",
                        text("'", name,
                             "' is a target, too (the network would copy it). Leave it "
                             "out here or there."));
}

// In files of the same number, rows belong together file by file.
void check_pairs(const ArrayRows& inputs, const ArrayRows& others) {
  const std::vector<std::int64_t>&one = inputs.begins(), &other = others.begins();
  for (std::size_t i = 1; one.size() == other.size() && i < one.size(); ++i)
    if (one[i] != other[i])
      throw DataError(others.file(i - 1),
                      text("has ", other[i] - other[i - 1], " rows, and ", inputs.file(i - 1),
                           ", with which it is read, ", one[i] - one[i - 1],
                           ". Name the files in the same order."));
}

// Equal numbers for equal cells, which single precision would not keep apart. shape: [rows] float64
torch::Tensor group_numbers(const ArrayRows& inputs, const std::string& column) {
  constexpr double exact = 9007199254740992;  // 2^53: beyond it doubles skip whole numbers
  std::vector<double> groups;
  std::unordered_map<std::string, double> texts;
  for (std::size_t i = 0; i + 1 < inputs.begins().size(); ++i) {
    const std::string& file = inputs.file(i);
    if (format_of(file) == FileFormat::csv) {
      for (const std::string& cell : text_column(file, column))
        groups.push_back(texts.try_emplace(cell, texts.size()).first->second);
      continue;
    }
    const Table table = format_of(file) == FileFormat::hdf5 ? read_hdf5_array(file, column)
                                                            : table_of(core::read_npy(file), file);
    const NeededColumn needed{table.columns.size() == 1 ? "0" : column, "split_by"};
    check_finite(table, needed);
    for (const double number : table.columns[find_column(table, needed)]) {
      if (std::abs(number) >= exact)
        throw DataError(file, text("'", column, "' holds ", core::round_trip(number),
                                   ", where whole numbers are not told apart. Number the groups "
                                   "anew, or give a .csv, where they may be text."));
      groups.push_back(number);
    }
  }
  return torch::tensor(groups, torch::kFloat64);
}

torch::Tensor as_inputs(const torch::Tensor& rows) {
  return rows.dim() == 1 ? rows.unsqueeze(1) : rows;
}

torch::Tensor as_weights(const torch::Tensor& rows, const std::string& file) {
  if (rows.numel() != rows.size(0))
    throw DataError(file, text("has rows of ", rows.numel() / rows.size(0),
                               " numbers, and a weight is one. Choose a column."));
  if (rows.lt(0).any().item<bool>())
    throw DataError(file, "holds a negative weight, by which no loss can be weighted. Correct it.");
  return rows.flatten();
}

NamedArrays arrays_of(const ArraySource& whole, const NamedArrays& tensors) {
  if (tensors.empty()) return {NamedArray{{}, whole}};
  return tensors;
}

// Arrays of the same names, in their order: those that are given, else all out of one file.
NamedArrays named_like(const NamedArrays& usual, const ArraySource& whole,
                       const NamedArrays& tensors, const std::string& key) {
  const auto by_name = [](const NamedArrays& all, const std::string& name) {
    return std::find_if(all.begin(), all.end(),
                        [&](const NamedArray& one) { return one.name == name; });
  };
  std::vector<std::string> names;
  for (const NamedArray& one : usual)
    if (!one.name.empty()) names.push_back(one.name);
  for (const NamedArray& one : tensors)
    if (by_name(usual, one.name) == usual.end())
      throw ConfigError(
          text(key, ".", one.name),
          names.empty() ? "those to learn from have no names. Leave the name out."
                        : text("has no tensor of its name among those to learn from, which are: ",
                               core::join(names, ", "), ". Rename it."));
  NamedArrays all;
  for (const NamedArray& one : usual) {
    const auto own = by_name(tensors, one.name);
    if (own == tensors.end() && !tensors.empty())
      throw ConfigError(key, text("lacks '", one.name, "'. Name its file."));
    all.push_back({one.name, own == tensors.end() ? whole : own->source, one.standardise});
  }
  return all;
}

// So many rows that what is taken of them fits into a processor's cache.
std::int64_t rows_of_a_piece(std::int64_t numbers_of_a_row) {
  constexpr std::int64_t most_numbers = std::int64_t{1} << 20;
  return std::max<std::int64_t>(1, most_numbers / std::max<std::int64_t>(1, numbers_of_a_row));
}

/// Rows in memory, which several of these may share: all or some of them, standardised or not.
class HeldExamples final : public ExampleRows {
 public:
  explicit HeldExamples(Examples all) : all_(std::move(all)) {}

  std::int64_t rows() const override { return selection_ ? selection_->count() : all_.rows(); }
  Examples read(const torch::Tensor& numbers) const override {
    const torch::Tensor rows = places_of(numbers);
    Examples examples = targets_at(rows);
    examples.inputs = standard_.apply_to(all_.inputs, rows);
    return examples;
  }
  Examples read_targets(const torch::Tensor& numbers) const override {
    return targets_at(places_of(numbers));
  }
  bool in_memory() const override { return true; }
  std::uint32_t fingerprint(std::uint32_t sum) const override {
    const auto add = [&](const torch::Tensor& all, const auto& taken) {
      if (!all.defined()) return;
      for_each_piece(
          rows(), rows_of_a_piece(all.numel() / std::max<std::int64_t>(1, all_.rows())),
          [&](const auto& numbers) {
            const torch::Tensor dense = taken(places_of(numbers)).contiguous();
            sum = core::crc32c({static_cast<const char*>(dense.data_ptr()), dense.nbytes()}, sum);
          });
    };
    add(all_.inputs, [&](const auto& rows) { return standard_.apply_to(all_.inputs, rows); });
    for (const torch::Tensor& all : {all_.targets, all_.weights})
      add(all, [&](const torch::Tensor& rows) { return all.index_select(0, rows); });
    return sum;
  }

  /// Whether these are all rows as they are held, which can be changed in their place.
  bool is_whole() const { return !selection_ && !standard_.mean.defined(); }
  const Examples& all() const { return all_; }
  std::shared_ptr<HeldExamples> part(const RowSelection& selection) const {
    auto part = std::make_shared<HeldExamples>(*this);
    part->selection_ =
        std::make_shared<const RowSelection>(selection_ ? selection_->part(selection) : selection);
    return part;
  }
  std::shared_ptr<HeldExamples> standardised(const Standard& inputs) const {
    auto rows = std::make_shared<HeldExamples>(*this);
    rows->standard_ = inputs;
    return rows;
  }
  bool is_standardised() const { return standard_.mean.defined(); }

 private:
  torch::Tensor places_of(const torch::Tensor& numbers) const {
    return selection_ ? selection_->rows_of(numbers) : numbers;
  }
  Examples targets_at(const torch::Tensor& rows) const {
    return Examples{{}, all_.targets, all_.weights, all_.tensors}.chosen(rows);
  }

  Examples all_;
  std::shared_ptr<const RowSelection> selection_{};  ///< null: all
  Standard standard_{};
};

/// Arrays that are read together: one as it is, several with names flat and one behind the other.
class JoinedArrays {
 public:
  void add(const NamedArray& one, const Reading& reading,
           const std::vector<std::string>& without = {}) {
    arrays_.emplace_back(one.source, reading, without);
    if (one.name.empty()) return;
    const torch::Tensor row = as_inputs(arrays_.back().read(torch::zeros({1}, torch::kInt64)));
    tensors_.add(one.name, row[0].sizes().vec(), one.standardise);
  }
  const std::deque<ArrayRows>& arrays() const { return arrays_; }
  const core::RowTensors& tensors() const { return tensors_; }

  torch::Tensor read(const torch::Tensor& numbers) const {
    if (arrays_.empty()) return {};
    if (tensors_.empty()) return arrays_[0].read(numbers);
    std::vector<torch::Tensor> pieces;
    for (const ArrayRows& one : arrays_) pieces.push_back(as_inputs(one.read(numbers)).flatten(1));
    return torch::cat(pieces, 1);
  }
  /// All rows where they are in memory as they are to be; else undefined.
  torch::Tensor held() const {
    return arrays_.size() == 1 && tensors_.empty() ? arrays_[0].held() : torch::Tensor();
  }
  /// All rows, piece by piece into memory that is as large as they are.
  torch::Tensor all(const Reading::Room& room) const {
    if (arrays_.empty()) return {};
    torch::Tensor result;
    std::int64_t bytes = 1;
    for (const ArrayRows& one : arrays_) bytes += static_cast<std::int64_t>(one.bytes());
    const std::int64_t rows = arrays_[0].rows();
    const std::int64_t at_once = std::max<std::int64_t>(1, rows * bytes_at_once / bytes);
    for_each_piece(rows, at_once, [&](const torch::Tensor& numbers) {
      const torch::Tensor piece = read(numbers);
      std::vector<std::int64_t> shape = piece.sizes().vec();
      shape[0] = rows;
      if (!result.defined()) result = room(shape, piece.scalar_type());
      if (result.sizes() != shape)  // a script may make anything of rows
        throw DataError(arrays_[0].name(),
                        "makes rows of another shape than before. Give all of them one.");
      result.narrow(0, numbers[0].item<std::int64_t>(), numbers.size(0)).copy_(piece);
    });
    return result;
  }

 private:
  static constexpr std::int64_t bytes_at_once = std::int64_t{1} << 22;  // that are read together

  std::deque<ArrayRows> arrays_;
  core::RowTensors tensors_;
};

class FileExamples final : public ExampleRows {
 public:
  JoinedArrays inputs, targets, weights;
  std::shared_ptr<const ExampleTensors> tensors{};

  const ArrayRows& first() const { return inputs.arrays().front(); }
  std::vector<const ArrayRows*> arrays() const {
    std::vector<const ArrayRows*> all;
    for (const JoinedArrays* joined : {&inputs, &targets, &weights})
      for (const ArrayRows& one : joined->arrays()) all.push_back(&one);
    return all;
  }
  std::int64_t rows() const override { return first().rows(); }
  Examples read(const torch::Tensor& numbers) const override {
    return together(inputs.read(numbers), targets.read(numbers), weights.read(numbers));
  }
  std::uint32_t fingerprint(std::uint32_t sum) const override {
    for (const ArrayRows* array : arrays()) sum = core::crc32c(text(array->fingerprint()), sum);
    return sum;
  }
  std::uint64_t bytes() const {
    std::uint64_t sum = 0;
    for (const ArrayRows* array : arrays()) sum += array->bytes();
    return sum;
  }
  /// What is not in memory as it is to be is read there once a node.
  ExampleRowsPtr held(const Reading& reading) const {
    const std::vector<const JoinedArrays*> parts{&inputs, &targets, &weights};
    std::vector<torch::Tensor> all;
    for (const JoinedArrays* part : parts) all.push_back(part->held());
    const std::vector<torch::Tensor> read = reading.once_a_node([&](const Reading::Room& room) {
      std::vector<torch::Tensor> made(parts.size());
      for (std::size_t i = 0; i < parts.size(); ++i)
        if (!all[i].defined()) made[i] = parts[i]->all(room);
      return made;
    });
    for (std::size_t i = 0; i < parts.size(); ++i)
      if (!all[i].defined()) all[i] = read[i];
    return hold(together(all[0], all[1], all[2]));
  }

 private:
  Examples together(const torch::Tensor& in, const torch::Tensor& out,
                    const torch::Tensor& counts) const {
    Examples examples{as_inputs(in), out};
    if (counts.defined()) examples.weights = as_weights(counts, weights.arrays()[0].name());
    examples.tensors = tensors;
    return examples;
  }
};

void check_rows(const FileExamples& files) {
  for (const ArrayRows* array : files.arrays())
    if (array->rows() != files.rows())
      throw DataError(array->name(),
                      text("has ", array->rows(), " rows, ", files.first().name(), " has ",
                           files.rows(), ". Inputs, targets and weights belong together by row."));
  for (const ArrayRows* array : files.arrays()) check_pairs(files.first(), *array);
}

ExampleRowsPtr held_or_not(const std::shared_ptr<FileExamples>& files, const Reading& reading) {
  if (files->bytes() > reading.memory_bytes) return files;
  return files->held(reading);
}

class ChangedExamples final : public ExampleRows {
 public:
  ChangedExamples(ExampleRowsPtr rows, std::function<void(Examples&)> change)
      : rows_(std::move(rows)), change_(std::move(change)) {}
  std::int64_t rows() const override { return rows_->rows(); }
  Examples read(const torch::Tensor& numbers) const override {
    Examples examples = rows_->read(numbers);
    change_(examples);
    return examples;
  }
  bool in_memory() const override { return rows_->in_memory(); }
  std::uint32_t fingerprint(std::uint32_t sum) const override { return rows_->fingerprint(sum); }

 private:
  ExampleRowsPtr rows_;
  std::function<void(Examples&)> change_;
};

class ChosenExamples final : public ExampleRows {
 public:
  ChosenExamples(ExampleRowsPtr rows, RowSelection selection)
      : rows_(std::move(rows)), selection_(std::move(selection)) {}
  std::int64_t rows() const override { return selection_.count(); }
  Examples read(const torch::Tensor& numbers) const override {
    return rows_->read(selection_.rows_of(numbers));
  }
  bool in_memory() const override { return rows_->in_memory(); }
  std::uint32_t fingerprint(std::uint32_t sum) const override {
    return core::crc32c(text(selection_.count()), rows_->fingerprint(sum));
  }

 private:
  ExampleRowsPtr rows_;
  RowSelection selection_;
};

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

// Groups are dealt to parts as rows are.
RowSelection rows_of_groups(const torch::Tensor& groups, const std::vector<std::int64_t>& sizes,
                            std::size_t part, const core::RandomStream& stream) {
  const auto [all, numbers] = at::_unique(groups, /*sorted=*/true, /*return_inverse=*/true);
  const RowSelection of_groups = drawn_part(sizes, part, stream);
  const torch::Tensor chosen = of_groups.rows_of(torch::arange(of_groups.count(), torch::kInt64));
  const torch::Tensor is_chosen =
      torch::zeros({all.size(0)}, torch::kBool).index_fill(0, chosen, 1);
  const torch::Tensor rows = is_chosen.index_select(0, numbers.flatten());
  const bool* const row = rows.const_data_ptr<bool>();
  return {rows.size(0), [row](std::int64_t i) { return row[i]; }};
}

}  // namespace

Examples Examples::chosen(const torch::Tensor& rows) const {
  const auto of = [&](const torch::Tensor& all) {
    return all.defined() ? all.index_select(0, rows) : all;
  };
  return {of(inputs), of(targets), of(weights), tensors};
}

Examples named_examples(const std::map<std::string, torch::Tensor>& inputs,
                        const std::map<std::string, torch::Tensor>& targets,
                        const torch::Tensor& weights) {
  ExampleTensors tensors;
  const auto joined = [](const auto& all, core::RowTensors& names) {
    std::vector<torch::Tensor> pieces;
    for (const auto& [name, rows] : all) {
      const torch::Tensor own = as_inputs(rows);
      names.add(name, {own.sizes().begin() + 1, own.sizes().end()});
      pieces.push_back(own.flatten(1).to(torch::kFloat32));
    }
    return pieces.empty() ? torch::Tensor() : torch::cat(pieces, 1);
  };
  Examples examples{joined(inputs, tensors.inputs), joined(targets, tensors.targets), weights};
  examples.tensors = std::make_shared<const ExampleTensors>(std::move(tensors));
  return examples;
}

Examples ExampleRows::first(std::int64_t count) const {
  return read(torch::arange(std::min(count, rows()), torch::kInt64));
}

Examples ExampleRows::read_targets(const torch::Tensor& numbers) const {
  Examples examples = read(numbers);
  examples.inputs = torch::Tensor();
  return examples;
}

void ExampleRows::look_at_targets(const std::function<void(const Examples&)>& look) const {
  constexpr std::int64_t most_rows = 1000, most_numbers = std::int64_t{1} << 22;
  std::int64_t count = rows(), at_once = std::int64_t{1} << 16;
  if (!in_memory()) {
    const std::int64_t numbers = std::max<std::int64_t>(1, first(1).inputs.numel());
    count = std::min(count, std::clamp<std::int64_t>(most_numbers / numbers, 1, most_rows));
  }
  for_each_piece(count, at_once,
                 [&](const torch::Tensor& numbers) { look(read_targets(numbers)); });
}

void for_each_piece(std::int64_t rows, std::int64_t at_once,
                    const std::function<void(const torch::Tensor& numbers)>& use) {
  for (std::int64_t first = 0; first < rows; first += at_once)
    use(torch::arange(first, std::min(first + at_once, rows), torch::kInt64));
}

ExampleRowsPtr hold(Examples examples) {
  return std::make_shared<const HeldExamples>(std::move(examples));
}

ExampleRowsPtr hold(const std::function<Examples()>& make, const Reading& reading) {
  const auto made = reading.once_a_node([&](const Reading::Room&) -> std::vector<torch::Tensor> {
    const Examples examples = make();
    return {examples.inputs, examples.targets, examples.weights};
  });
  return hold({made[0], made[1], made[2]});
}

ExampleRowsPtr changed(const ExampleRowsPtr& rows, std::function<void(Examples&)> change) {
  return std::make_shared<const ChangedExamples>(rows, std::move(change));
}

ExampleRowsPtr with_targets(const ExampleRowsPtr& rows, std::function<void(Examples&)> change,
                            const Reading& reading) {
  const auto* const held = dynamic_cast<const HeldExamples*>(rows.get());
  if (held == nullptr || !held->is_whole()) return changed(rows, std::move(change));
  Examples examples = held->all(), one = rows->first(1);
  change(one);
  examples.tensors = one.tensors;
  examples.targets = reading.once_a_node([&](const Reading::Room&) -> std::vector<torch::Tensor> {
    Examples all = held->all();
    change(all);
    return {all.targets};
  })[0];
  return hold(std::move(examples));
}

ExampleRowsPtr chosen(const ExampleRowsPtr& rows, RowSelection selection) {
  if (const auto* const held = dynamic_cast<const HeldExamples*>(rows.get()))
    return held->part(selection);
  return std::make_shared<const ChosenExamples>(rows, std::move(selection));
}

ExampleRowsPtr standardised(const ExampleRowsPtr& rows, const Standard& inputs) {
  if (!inputs.mean.defined()) return rows;
  const auto* const held = dynamic_cast<const HeldExamples*>(rows.get());
  if (held != nullptr && !held->is_standardised()) return held->standardised(inputs);
  return changed(rows,
                 [inputs](Examples& examples) { examples.inputs = inputs.apply(examples.inputs); });
}

void ExampleSplit::fields(core::FieldList& list) {
  list.add(
      "held_out", held_out,
      "share of the rows that is kept aside for evaluations, where they have no files; 0: none, "
      "and no evaluations",
      {0, 1, false, true});
  list.add("seed", seed, "of which rows are kept aside, and of what is drawn; -1: run.seed",
           core::Range::at_least(-1));
  list.add("fold", fold, "\"2/5\": the second of five parts is kept aside; empty: held_out");
  core::needs(list, fold.empty(), "no data.fold", {"held_out"});
}

void ExampleSplit::apply(ExampleSets& sets, const core::RandomStream& stream) const {
  if (sets.validation) {
    if (fold.empty()) return;
    throw ConfigError("data.fold",
                      "these data have rows for evaluations already (folds take them from the "
                      "training's). Leave it out, give no validation rows, or set data.join=true.");
  }
  const std::int64_t rows = sets.training->rows();
  std::int64_t number = 1, parts = 0;
  if (!fold.empty()) std::tie(number, parts) = numbers_of(fold);
  const std::int64_t all =
      sets.groups.defined() ? std::get<0>(at::_unique(sets.groups)).size(0) : rows;
  const char* const what = sets.groups.defined() ? " groups of rows" : " rows";
  if (parts > all)
    throw ConfigError("data.fold", text(all, what, " make no ", parts,
                                        " parts. Choose fewer parts, or give more rows."));
  std::vector<std::int64_t> sizes;  // of the parts
  for (std::int64_t i = 1; i <= parts; ++i)
    sizes.push_back(i * all / parts - (i - 1) * all / parts);
  if (sizes.empty()) {
    const std::int64_t aside = std::llround(held_out * static_cast<double>(all));
    sizes = {aside, all - aside};
  }
  const std::int64_t aside = sizes[static_cast<std::size_t>(number - 1)];
  const bool keeps_none = fold.empty() && held_out == 0;
  if ((aside == 0 && !keeps_none) || aside == all)
    throw ConfigError(fold.empty() ? "data.held_out" : "data.fold",
                      text(all, what, " leave none ", aside == 0 ? "aside" : "to learn from",
                           ". Change it, or give more rows."));
  const auto part = static_cast<std::size_t>(number - 1);
  const RowSelection kept = sets.groups.defined() ? rows_of_groups(sets.groups, sizes, part, stream)
                                                  : drawn_part(sizes, part, stream);
  sets.validation = chosen(sets.training, kept);
  sets.training = chosen(sets.training, kept.others());
  sets.groups = torch::Tensor();
  sets.kept_aside = kept;
}

void NamedArray::fields(core::FieldList& list) {
  source.fields(list);
  list.add("standardise", standardise, "false: data.standardise leaves it as it is");
}

void ExampleFiles::fields(core::FieldList& list) {
  const auto add = [&list](const std::string& name, ArraySource& source, NamedArrays& tensors,
                           const std::string& help) {
    core::FieldList own;
    source.fields(own);
    own.named_groups("tensors", tensors, "several by names of yours, in place of one file");
    list.add_group(name, std::move(own), help);
  };
  add("inputs", inputs, input_tensors, "what the network sees");
  add("targets", targets, target_tensors, "what it learns: numbers of classes from 0, or values");
  list.group("weights", weights, "how much each row counts in the loss; without a file: 1");
  add("validation_inputs", validation_inputs, validation_input_tensors,
      "inputs of the evaluations; without a file: rows kept aside");
  add("validation_targets", validation_targets, validation_target_tensors,
      "targets of the evaluations");
  list.group("validation_weights", validation_weights, "weights of the evaluations");
  list.add("classes", classes, "names of the classes, from 0; empty: their numbers");
  list.add(
      "join", join,
      "the validation files are read behind the others, as these are, and rows of all are kept "
      "aside");
  list.add("split_by", split_by,
           "what is kept aside as a whole: rows, files, or the rows of equal numbers in a column "
           "(of HDF5 a data set) of that name");
  limit_fields(list);
  core::needs(list, !has_validation() || join,
              "rows kept aside, and there are data.validation_inputs", {"held_out", "split_by"});
  core::needs(list, has_validation(), "data.validation_inputs.file", {"validation_weights"});
}

void ExampleFiles::limit_fields(core::FieldList& list) {
  list.add("memory_GB", memory_GB,
           "rows that take more of a node in single precision are read from their files again in "
           "each epoch",
           core::Range::between(0, 1e9));
  list.group("cache", cache, "copies of files on a disk of this machine");
}

std::vector<std::string> ExampleFiles::others(const NamedArrays& in, const NamedArrays& out,
                                              const ArraySource& counts, std::size_t which) const {
  std::vector<const ArraySource*> all;
  for (const NamedArray& one : out) all.push_back(&one.source);
  all.push_back(&counts);
  for (const NamedArray& one : in)
    if (&one != &in[which]) all.push_back(&one.source);
  return columns_of_others(in[which].source, all, split_by);
}

void ExampleFiles::take_limits(Reading& reading) const {
  reading.memory_bytes = static_cast<std::uint64_t>(memory_GB * 1e9);
  reading.cache = std::make_shared<FileCache>(cache);
}

ExampleRowsPtr ExampleFiles::rows_of(NamedArrays in, NamedArrays out, ArraySource weights_source,
                                     const Reading& reading, torch::Tensor* groups) const {
  for (NamedArrays* arrays : {&in, &out})
    for (NamedArray& one : *arrays) one.source.file = files_named(one.source.file, reading);
  if (weights_source.is_given()) weights_source.file = files_named(weights_source.file, reading);
  for (const NamedArray& input : in)
    for (const NamedArray& target : out) check_targets_are_no_inputs(input.source, target.source);
  const auto files = std::make_shared<FileExamples>();
  for (std::size_t i = 0; i < in.size(); ++i)
    files->inputs.add(in[i], reading, others(in, out, weights_source, i));
  for (const NamedArray& one : out) files->targets.add(one, reading);
  if (weights_source.is_given()) files->weights.add({{}, weights_source}, reading);
  if (!files->inputs.tensors().empty() || !files->targets.tensors().empty())
    files->tensors = std::make_shared<const ExampleTensors>(
        ExampleTensors{files->inputs.tensors(), files->targets.tensors()});
  check_rows(*files);
  if (groups && split_by == "files") *groups = files->first().files_of_rows();
  if (groups && split_by != "files" && split_by != "rows") {
    *groups = group_numbers(files->first(), split_by);
    if (groups->size(0) != files->rows())
      throw DataError(files->first().name(),
                      text("has ", files->rows(), " rows, and '", split_by, "' ", groups->size(0),
                           " numbers. It needs one for each row."));
  }
  return held_or_not(files, reading);
}

void ExampleFiles::check_files() const {
  const auto check = [](const std::string& name, const ArraySource& source,
                        const NamedArrays& tensors, const std::string& empty) {
    if (source.is_given() && !tensors.empty())
      throw ConfigError(text("data.", name, ".file"),
                        "stands beside tensors, which are in place of it. Leave either out.");
    for (const NamedArray& one : tensors)
      if (!one.source.is_given())
        throw ConfigError(text("data.", name, ".tensors.", one.name, ".file"),
                          "is empty. Name the file that it is read from.");
    if (!empty.empty() && !source.is_given() && tensors.empty())
      throw ConfigError(text("data.", name, ".file"), empty);
  };
  const std::string needed = "is empty. Name the file that the network learns from.";
  check("inputs", inputs, input_tensors, needed);
  check("targets", targets, target_tensors, needed);
  const bool in = has_validation(),
             out = validation_targets.is_given() || !validation_target_tensors.empty();
  const std::string both = "is empty, and the other one is not. Name both, or neither.";
  check("validation_inputs", validation_inputs, validation_input_tensors, out ? both : "");
  check("validation_targets", validation_targets, validation_target_tensors, in ? both : "");
  if (join && !in)
    throw ConfigError("data.join", "joins files for evaluations, and there are none. Name them.");
}

ExampleRowsPtr ExampleFiles::validation_rows(const Reading& reading) const {
  const NamedArrays in = arrays_of(inputs, input_tensors), out = arrays_of(targets, target_tensors);
  const auto like = [&](const NamedArrays& usual, const ArraySource& whole,
                        const NamedArrays& tensors, bool of_inputs) {
    NamedArrays all = named_like(
        usual, whole, tensors,
        of_inputs ? "data.validation_inputs.tensors" : "data.validation_targets.tensors");
    for (std::size_t i = 0; i < all.size(); ++i)
      all[i].source =
          read_like(all[i].source, usual[i].source,
                    of_inputs ? others(in, out, weights, i) : std::vector<std::string>(), reading);
    return all;
  };
  return rows_of(like(in, validation_inputs, validation_input_tensors, true),
                 like(out, validation_targets, validation_target_tensors, false),
                 validation_weights.is_given() && weights.is_given()
                     ? read_like(validation_weights, weights, {}, reading)
                     : validation_weights,
                 reading, nullptr);
}

ExampleSets ExampleFiles::load(Reading reading) const {
  check_files();
  take_limits(reading);
  const NamedArrays in = arrays_of(inputs, input_tensors), out = arrays_of(targets, target_tensors);
  const auto joined = [&](NamedArrays arrays, const ArraySource& whole, const NamedArrays& tensors,
                          const std::string& key) {
    if (!join) return arrays;
    const NamedArrays others = named_like(arrays, whole, tensors, key + ".tensors");
    for (std::size_t i = 0; i < arrays.size(); ++i) {
      const std::vector<std::string>& more = others[i].source.file;
      arrays[i].source.file.insert(arrays[i].source.file.end(), more.begin(), more.end());
    }
    return arrays;
  };
  const NamedArrays all_in =
      joined(in, validation_inputs, validation_input_tensors, "data.validation_inputs");
  ArraySource all_weights = weights;
  if (join)
    all_weights.file.insert(all_weights.file.end(), validation_weights.file.begin(),
                            validation_weights.file.end());
  ExampleSets sets;
  sets.training = rows_of(
      all_in, joined(out, validation_targets, validation_target_tensors, "data.validation_targets"),
      all_weights, reading, &sets.groups);
  if (has_validation() && !join) sets.validation = validation_rows(reading);
  add_warnings(sets, all_in.front().source.file, reading);
  sets.classes = classes;
  sets.targets = targets.columns;
  const std::vector<std::string>& files = in.front().source.file;
  sets.origin = files.front();
  if (files.size() > 1) sets.origin += text(" and ", files.size() - 1, " more");
  if (!sets.training->in_memory()) sets.origin += " (read anew in each epoch)";
  return sets;
}

void ExampleFiles::add_warnings(ExampleSets& sets, const std::vector<std::string>& files,
                                const Reading& reading) const {
  std::vector<std::string> all = files_named(files, reading);
  if (sets.validation) {
    const auto others_named = files_named(
        arrays_of(validation_inputs, validation_input_tensors).front().source.file, reading);
    all.insert(all.end(), others_named.begin(), others_named.end());
  }
  std::sort(all.begin(), all.end());
  if (const auto twice = std::adjacent_find(all.begin(), all.end()); twice != all.end())
    sets.warnings.push_back(text("the file ", *twice,
                                 " is named twice: rows that are evaluated are learned from, too. "
                                 "Name it once."));
  const FileCacheConfig usual;
  if (sets.training->in_memory() && (!sets.validation || sets.validation->in_memory()) &&
      std::none_of(all.begin(), all.end(), core::is_remote) &&
      (cache.folder != usual.folder || cache.limit_GB != usual.limit_GB ||
       cache.copy != usual.copy))
    sets.warnings.push_back(
        "no effect in this run: data.cache (needs files on another machine, or rows that take more "
        "than data.memory_GB)");
}

const std::string& only_file(const InputFiles& files) {
  if (files.size() == 1 && files.begin()->first.empty()) return files.begin()->second;
  throw ConfigError("inputs", "these have no names. Give inputs=FILE alone.");
}

ExampleRowsPtr ExampleFiles::inputs_of(const InputFiles& named, Reading reading) const {
  take_limits(reading);
  ArraySource whole;
  NamedArrays tensors;
  for (const auto& [name, file] : named) {
    if (name.empty())
      whole.file = {file};
    else
      tensors.push_back({name, {.file = {file}}});
  }
  if (whole.is_given() != tensors.empty()) only_file(named);
  const NamedArrays in = arrays_of(inputs, input_tensors), out = arrays_of(targets, target_tensors);
  NamedArrays own = named_like(in, whole, tensors, "inputs");
  for (std::size_t i = 0; i < own.size(); ++i)
    own[i].source = read_like(own[i].source, in[i].source, others(in, out, weights, i), reading);
  const auto files = std::make_shared<FileExamples>();
  for (const NamedArray& one : own) files->inputs.add(one, reading);
  if (!files->inputs.tensors().empty())
    files->tensors =
        std::make_shared<const ExampleTensors>(ExampleTensors{files->inputs.tensors(), {}});
  check_rows(*files);
  return held_or_not(files, reading);
}

torch::Tensor class_numbers(const torch::Tensor& targets, const std::string& file, bool is_part) {
  const torch::Tensor flat = targets.flatten(1 < targets.dim() ? 1 : 0);
  const bool is_one_hot = flat.dim() == 2 && flat.size(1) > 1;
  torch::Tensor numbers = is_one_hot ? flat.argmax(1) : flat.flatten().to(torch::kInt64);
  const torch::Tensor wrong = is_one_hot ? ((flat != 0) & (flat != 1)).any(1) | (flat.sum(1) != 1)
                                         : flat.flatten() != numbers.to(flat.dtype());
  const torch::Tensor rows = wrong.nonzero().flatten();
  if (rows.numel() > 0)
    throw DataError(file, text(is_part ? "a row" : text("row ", rows[0].item<std::int64_t>() + 1),
                               " is ", is_one_hot ? "no single 1 among zeros" : "no whole number",
                               ", and a class is one. Choose a loss of values, or correct it."));
  return numbers;
}

}  // namespace sagips::data
