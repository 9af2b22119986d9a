#include <chrono>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/tensor_file.hpp"
#include "sagips/run/generation_task.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/predict.hpp"
#include "sagips/run/proposals.hpp"

namespace sagips::run {

namespace {

constexpr const char* conditions_prefix = "conditions.";

/// A generator as a run has left it.
struct TrainedGenerator {
  std::string file;
  optim::GeneratorInput input;
  std::vector<optim::WeightedNetwork> network;  ///< one
};

TrainedGenerator read_generator(const GenerationProblem& problem, const std::string& file) {
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
  TrainedGenerator made{file, {std::move(conditions), config.noise}, {}};
  const optim::NetworkPart part{
      "generator", std::make_shared<nn::LayeredNetwork>(
                       config.layers, nn::Shape{made.input.width()}, "generator.layers")};
  made.network.push_back({part, nn::Replica(part.network, nn::SharedPart::all, torch::kCPU)});
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

// A row of its file for each example: a condition's values, or the number of its class.
// shape: [rows, numbers of the condition]
torch::Tensor read_condition(const optim::Condition& condition, const std::string& file) {
  const torch::Tensor rows = read_whole(file);
  const std::int64_t numbers = condition.target.numbers();
  if (rows.size(1) != numbers)
    throw core::DataError(file,
                          core::text("has rows of ", rows.size(1), " numbers, and the condition '",
                                     condition.name, "' has ", numbers, "."));
  if (condition.classes == 0) return rows;
  const torch::Tensor classes = data::class_numbers(rows, file);
  const torch::Tensor wrong = classes.masked_select((classes < 0) | (classes >= condition.classes));
  if (wrong.numel() > 0)
    throw core::DataError(
        file, core::text("a row is of class ", wrong[0].item<std::int64_t>(),
                         ", and the generator knows 0 to ", condition.classes - 1, "."));
  return rows;
}

// shape: [rows, numbers of all conditions]
torch::Tensor read_conditions(const TrainedGenerator& generator, const data::InputFiles& inputs) {
  const std::vector<optim::Condition>& known = generator.input.conditions();
  std::vector<torch::Tensor> parts;
  std::vector<std::string> names;
  for (const optim::Condition& condition : known) {
    names.push_back(condition.name);
    const auto own = inputs.find(condition.name),
               found = own == inputs.end() && known.size() == 1 ? inputs.find("") : own;
    if (found == inputs.end())
      throw core::ConfigError(
          "inputs." + condition.name,
          "is needed: the examples to be made have this condition. Name a file.");
    parts.push_back(read_condition(condition, found->second));
    if (parts.back().size(0) != parts.front().size(0))
      throw core::DataError(found->second,
                            core::text("has ", parts.back().size(0), " rows, and others ",
                                       parts.front().size(0), ". Give one for each example."));
  }
  if (inputs.size() != known.size())
    throw core::ConfigError(
        "inputs", core::text("the conditions of these examples are: ", core::join(names, ", "),
                             ". Name a file for each."));
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

// A few at a time: the noise of each is named by its number.
torch::Tensor made_for(TrainedGenerator& generator, const torch::Tensor& conditions,
                       std::uint64_t seed) {
  constexpr std::int64_t at_once = 100;
  const torch::NoGradGuard no_grad;
  const core::RandomStream noise(seed, "noise of examples");
  std::vector<torch::Tensor> made;
  const auto& [part, replica] = generator.network.front();
  for (std::int64_t first = 0; first < conditions.size(0); first += at_once) {
    const torch::Tensor some =
        conditions.narrow(0, first, std::min(at_once, conditions.size(0) - first));
    made.push_back((*part.network)(replica.leaves(), generator.input(some, noise, first), {}));
  }
  return torch::cat(made);
}

}  // namespace

std::map<std::string, torch::Tensor> arrays_of(const std::vector<optim::Condition>& conditions) {
  std::map<std::string, torch::Tensor> arrays;
  for (const optim::Condition& condition : conditions) {
    std::vector<double> numbers = {static_cast<double>(condition.classes)};
    numbers.insert(numbers.end(), condition.target.shape.begin(), condition.target.shape.end());
    arrays[conditions_prefix + condition.name] = torch::tensor(numbers, torch::kFloat64);
  }
  return arrays;
}

Predicted GenerationProblem::predict(const Job& job, const std::string& folder,
                                     const PredictOptions& options) const {
  TrainedGenerator generator =
      read_generator(*this, network_file(folder, options.best.value_or(true)));
  torch::Tensor conditions = options.inputs.empty() ? conditions_kept_aside(job, generator)
                                                    : read_conditions(generator, options.inputs);
  const std::int64_t rows = options.samples.value_or(conditions.size(0));
  if (rows < 1) throw core::ConfigError("samples", core::text(rows, " is no number of examples."));
  conditions = conditions.index_select(0, torch::arange(rows, torch::kInt64) % conditions.size(0));
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const torch::Tensor made = made_for(
      generator, conditions, options.seed ? static_cast<std::uint64_t>(*options.seed) : job.seed());
  Predicted predicted{.what = Predicted::What::examples};
  predicted.rows = rows;
  predicted.per_second =
      static_cast<double>(rows) / std::chrono::duration<double>(Clock::now() - start).count();
  predicted.networks = {generator.file};
  const std::string file = options.out.empty() ? folder + "/predictions.npy" : options.out;
  write_rows(file, made);
  predicted.outputs = {{file, made}};
  if (generator.input.conditions().empty()) return predicted;
  const std::string beside = file.substr(0, file.rfind(".npy")) + "_conditions.npy";
  write_rows(beside, conditions);
  predicted.outputs.push_back({beside, conditions});
  return predicted;
}

}  // namespace sagips::run
