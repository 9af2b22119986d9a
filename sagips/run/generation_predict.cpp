#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/tensor_file.hpp"
#include "sagips/run/generation_task.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/predict.hpp"
#include "sagips/run/proposals.hpp"

namespace sagips::run {

namespace {

constexpr const char *conditions_prefix = "conditions.", *ranges_prefix = "ranges.";

/// A generator as a run has left it.
struct TrainedGenerator {
  std::string file;
  optim::GeneratorInput input;
  core::RowTensors targets;  ///< that are its conditions
  /// Smallest and largest that it has learned from, by condition [2, numbers]; none of classes, nor in runs
  /// of earlier versions.
  std::map<std::string, torch::Tensor> ranges;
  std::vector<optim::WeightedNetwork> network;  ///< one
};

TrainedGenerator read_generator(const GenerationProblem& problem, const std::string& file,
                                torch::Device device) {
  const optim::AdversarialConfig::Generator& config = problem.learner.generator;
  const record::TensorFile content = record::read_tensor_file(file);
  std::vector<optim::Condition> conditions;
  core::RowTensors targets;
  for (const std::string& name : config.conditions) {
    const std::vector<double> numbers = content.tensor(conditions_prefix + name, file).numbers();
    optim::Condition condition{.name = name, .classes = static_cast<std::int64_t>(numbers.at(0))};
    targets.add(name, {numbers.begin() + 1, numbers.end()});
    condition.target = targets.at(name);
    conditions.push_back(std::move(condition));
  }
  TrainedGenerator made{file, {std::move(conditions), config.noise}, targets, {}, {}};
  for (const core::RowTensor& target : targets)
    if (const auto found = content.tensors.find(ranges_prefix + target.name);
        found != content.tensors.end())
      made.ranges[target.name] =
          torch::tensor(found->second.numbers(), torch::kFloat64).reshape({2, target.numbers()});
  const optim::NetworkPart part{
      "generator", std::make_shared<nn::LayeredNetwork>(
                       config.layers, nn::Shape{made.input.width()}, "generator.layers")};
  made.network.push_back({part, nn::Replica(part.network, nn::SharedPart::all, device)});
  for_each_array(made.network, [&](const std::string& name, torch::Tensor& values) {
    take_array(content, file, "generator." + name, values);
  });
  return made;
}

// shape: [rows, numbers]
torch::Tensor read_whole(const std::string& file) {
  const data::ArrayRows rows({.file = {file}}, reading_of());
  const torch::Tensor all = rows.read(torch::arange(rows.rows(), torch::kInt64));
  return all.dim() == 1 ? all.unsqueeze(1) : all.flatten(1);
}

using Quantities = std::map<std::string, problem::ExampleSource::Quantity>;

std::string unit_of(const Quantities& known, const std::string& name) {
  const auto found = known.find(name);
  return found == known.end() ? "" : core::text(" [", found->second.unit, "]");
}

// A row of its file for each example, or one number for all: a condition's values, or the number of its class.
// shape: [rows, numbers of the condition]
torch::Tensor read_condition(const optim::Condition& condition, const std::string& given,
                             const Quantities& known) {
  double number = 0;
  const bool is_number = !std::filesystem::exists(given) && core::parse_number(given, number);
  const std::string place = is_number ? core::text("inputs.", condition.name, "=", given) : given;
  torch::Tensor rows = is_number ? torch::full({1, 1}, number, torch::kFloat32)
                                 : read_whole(given).to(torch::kFloat32);
  const std::int64_t numbers = condition.target.numbers();
  if (rows.size(1) != numbers)
    throw core::DataError(place,
                          core::text("has rows of ", rows.size(1), " numbers, and the condition '",
                                     condition.name, "' has ", numbers, "."));
  const auto found = known.find(condition.name);
  const double lowest = found == known.end() ? -HUGE_VAL : found->second.lowest,
               highest = found == known.end() ? HUGE_VAL : found->second.highest;
  const torch::Tensor outside =
      rows.masked_select(~((rows >= lowest) & (rows <= highest) & rows.isfinite()));
  if (outside.numel() > 0)
    throw core::DataError(place, core::text("has ", outside[0].item<float>(), ", and ",
                                            condition.name, unit_of(known, condition.name),
                                            " is a number from ", lowest, " to ", highest, "."));
  if (condition.classes == 0) return rows;
  const torch::Tensor classes = data::class_numbers(rows, place);
  const torch::Tensor wrong = classes.masked_select((classes < 0) | (classes >= condition.classes));
  if (wrong.numel() > 0)
    throw core::DataError(
        place, core::text("a row is of class ", wrong[0].item<std::int64_t>(),
                          ", and the generator knows 0 to ", condition.classes - 1, "."));
  return rows;
}

// Without a name it is the only condition.
void check_names(const std::vector<optim::Condition>& known, const data::InputFiles& inputs,
                 const Quantities& quantities) {
  std::vector<std::string> names;
  for (const optim::Condition& one : known)
    names.push_back(one.name + unit_of(quantities, one.name));
  for (const auto& [name, given] : inputs) {
    const auto is_it = [&name = name](const optim::Condition& one) { return one.name == name; };
    if (std::any_of(known.begin(), known.end(), is_it)) continue;
    if (name.empty() && known.size() == 1 && inputs.size() == 1) continue;
    throw core::ConfigError(
        name.empty() ? "inputs" : "inputs." + name,
        known.empty()
            ? "these examples have no conditions. Leave it out."
            : core::text("is no condition of these examples, which are: ", core::join(names, ", "),
                         ". Name a file for each, or give a number."));
  }
}

// shape: [rows, numbers of all conditions]
torch::Tensor read_conditions(const TrainedGenerator& generator, const data::InputFiles& inputs,
                              const Quantities& quantities) {
  const std::vector<optim::Condition>& known = generator.input.conditions();
  check_names(known, inputs, quantities);
  std::vector<torch::Tensor> parts;
  std::int64_t rows = 1;
  for (const optim::Condition& condition : known) {
    const auto own = inputs.find(condition.name),
               found = own == inputs.end() && known.size() == 1 ? inputs.find("") : own;
    if (found == inputs.end())
      throw core::ConfigError(
          "inputs." + condition.name,
          core::text("is needed: the examples to be made have this condition",
                     unit_of(quantities, condition.name), ". Name a file, or give a number."));
    parts.push_back(read_condition(condition, found->second, quantities));
    const std::int64_t own_rows = parts.back().size(0);
    if (own_rows != 1 && rows != 1 && own_rows != rows)
      throw core::DataError(found->second,
                            core::text("has ", own_rows, " rows, and others ", rows,
                                       ". Give one for each example, or one for all."));
    rows = std::max(rows, own_rows);
  }
  for (torch::Tensor& part : parts) part = part.expand({rows, part.size(1)});
  return torch::cat(parts, 1);
}

// Of the rows that were kept aside.
torch::Tensor conditions_kept_aside(const Job& job, const TrainedGenerator& generator) {
  constexpr std::int64_t usual = 1000;
  if (generator.input.conditions().empty()) return torch::empty({usual, 0});
  const data::ExampleSets sets = load_conditioned(job);
  const std::int64_t rows = sets.validation->rows();
  if (rows == 0)
    throw core::ConfigError("inputs",
                            "is needed: the run has kept no rows aside (data.held_out=0). Name "
                            "conditions by inputs=FILE.");
  const data::Examples all = sets.validation->read_targets(torch::arange(rows, torch::kInt64));
  const core::RowTensors tensors = sets.validation->first(1).target_tensors();
  std::vector<torch::Tensor> parts = {torch::empty({rows, 0})};
  for (const optim::Condition& condition : generator.input.conditions())
    parts.push_back(tensors.at(condition.name).of(all.targets).flatten(1));
  return torch::cat(parts, 1);
}

/// Examples that are made as they are read, one behind the other: the noise of each is named by its number.
class MadeExamples final : public data::ExampleRows {
 public:
  /// conditions: of examples in turn. shape: [any, numbers of all conditions]
  MadeExamples(const TrainedGenerator& generator, torch::Tensor conditions, std::int64_t rows,
               std::uint64_t seed)
      : generator_(generator),
        conditions_(std::move(conditions)),
        rows_(rows),
        noise_(seed, "noise of examples"),
        tensors_(std::make_shared<const data::ExampleTensors>(
            data::ExampleTensors{{}, generator.targets})) {}

  std::int64_t rows() const override { return rows_; }
  data::Examples read_targets(const torch::Tensor& numbers) const override {
    data::Examples examples;
    examples.targets = conditions_.index_select(0, numbers % conditions_.size(0));
    examples.tensors = tensors_;
    return examples;
  }
  data::Examples read(const torch::Tensor& numbers) const override {
    const torch::NoGradGuard no_grad;
    const auto start = std::chrono::steady_clock::now();
    data::Examples examples = read_targets(numbers);
    const auto& [part, replica] = generator_.network.front();
    const torch::Tensor conditions = examples.targets.to(replica.weights().device());
    examples.inputs =
        (*part.network)(replica.leaves(),
                        generator_.input(conditions, noise_, numbers[0].item<std::int64_t>()), {})
            .cpu();
    made_ += numbers.size(0);
    seconds_ += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return examples;
  }
  std::uint32_t fingerprint(std::uint32_t sum) const override { return sum; }  // nobody asks
  double per_second() const { return static_cast<double>(made_) / seconds_; }

 private:
  const TrainedGenerator& generator_;
  torch::Tensor conditions_;
  std::int64_t rows_;
  core::RandomStream noise_;
  std::shared_ptr<const data::ExampleTensors> tensors_;
  mutable std::int64_t made_ = 0;
  mutable double seconds_ = 0;
};

// "0.02 to 5"
std::string range_text(const torch::Tensor& values) {
  const std::string lowest = core::text(values.min().item<float>()),
                    highest = core::text(values.max().item<float>());
  return lowest == highest ? lowest : core::text(lowest, " to ", highest);
}

// "energy 0.02 to 5 [100 GeV]"
std::vector<std::string> ranges_of(const TrainedGenerator& generator,
                                   const torch::Tensor& conditions, const Quantities& known) {
  std::vector<std::string> ranges;
  for (const core::RowTensor& target : generator.targets)
    ranges.push_back(core::text(target.name, " ", range_text(target.of(conditions)),
                                unit_of(known, target.name)));
  return ranges;
}

// Of a condition of several numbers the first one that is outside.
void warn_of_extrapolation(const TrainedGenerator& generator, const torch::Tensor& conditions,
                           const Quantities& known, core::Log& log) {
  std::vector<std::string> parts;
  for (const core::RowTensor& target : generator.targets) {
    const auto found = generator.ranges.find(target.name);
    if (found == generator.ranges.end()) continue;
    const torch::Tensor &range = found->second, values = target.of(conditions).flatten(1);
    const torch::Tensor outside = ((values < range[0]) | (values > range[1])).any(0).nonzero();
    if (outside.numel() == 0) continue;
    const auto number = outside[0].item<std::int64_t>();
    parts.push_back(core::text(target.name,
                               target.numbers() > 1 ? core::text("[", number, "]") : "", " ",
                               range_text(values.select(1, number)), unit_of(known, target.name),
                               " where its training had ", range_text(range.select(1, number))));
  }
  if (!parts.empty())
    log.warning("extrapolation", core::text("the generator has not learned from such conditions: ",
                                            core::join(parts, ", "), "."));
}

}  // namespace

std::map<std::string, torch::Tensor> arrays_of(const std::vector<optim::Condition>& conditions,
                                               const torch::Tensor& range) {
  std::map<std::string, torch::Tensor> arrays;
  for (const optim::Condition& condition : conditions) {
    std::vector<double> numbers = {static_cast<double>(condition.classes)};
    numbers.insert(numbers.end(), condition.target.shape.begin(), condition.target.shape.end());
    arrays[conditions_prefix + condition.name] = torch::tensor(numbers, torch::kFloat64);
    const torch::Tensor own = condition.target.of(range).flatten(1);
    if (condition.classes == 0 && own.isfinite().all().item<bool>())
      arrays[ranges_prefix + condition.name] = own.to(torch::kFloat64);
  }
  return arrays;
}

Predicted GenerationProblem::predict(const Job& job, const std::string& folder,
                                     const PredictOptions& options, core::Log& log) const {
  TrainedGenerator generator = read_generator(
      *this, network_file(folder, options.best.value_or(true)), job.settings.made_device());
  const Quantities quantities = examples->quantities();
  const std::string file = options.file_of(folder);
  const auto form = examples->file_form();
  check_rows_file(file, form ? std::vector<std::string>{".npy", form->ending}
                             : std::vector<std::string>{".npy"});
  const std::string beside = file.substr(0, file.rfind(".npy")) + "_conditions.npy";
  const bool has_beside = file.ends_with(".npy") && !generator.targets.empty();
  options.check_written(folder, has_beside ? std::vector{file, beside} : std::vector{file});
  const torch::Tensor conditions = options.inputs.empty()
                                       ? conditions_kept_aside(job, generator)
                                       : read_conditions(generator, options.inputs, quantities);
  if (!options.inputs.empty()) warn_of_extrapolation(generator, conditions, quantities, log);
  const std::int64_t rows = options.samples.value_or(conditions.size(0));
  if (rows < 1) throw core::ConfigError("samples", core::text(rows, " is no number of examples."));
  const MadeExamples made(generator, conditions, rows,
                          options.seed ? static_cast<std::uint64_t>(*options.seed) : job.seed());
  Predicted predicted{.what = Predicted::What::examples};
  predicted.rows = rows;
  predicted.networks = {generator.file};
  predicted.outputs = {{file}};
  predicted.conditions = ranges_of(generator, conditions, quantities);
  file.ends_with(".npy") ? write_rows(file, made) : form->write(file, made);
  if (has_beside) {
    const torch::Tensor all = made.read_targets(torch::arange(rows, torch::kInt64)).targets;
    predicted.outputs.push_back({beside, all});
    write_rows(beside, all);
  }
  predicted.per_second = made.per_second();
  return predicted;
}

}  // namespace sagips::run
