#include "sagips/run/check.hpp"

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <functional>
#include <sstream>

#include "sagips/analysis/table.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/nn/script.hpp"
#include "sagips/optim/solvers.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/generation_task.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/loading.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/run/task.hpp"
#include "sagips/run/trained_networks.hpp"
#include "sagips/run/training_memory.hpp"
#include "sagips/run/training_setup.hpp"
#include "sagips/train/loop.hpp"
#include "sagips/train/rank_exchange.hpp"

namespace sagips::run {

namespace {

// Free space of the nearest folder that exists above the run folder.
std::string free_space(const std::string& folder) {
  std::filesystem::path place = std::filesystem::absolute(folder);
  while (!std::filesystem::exists(place) && place.has_parent_path() && place != place.parent_path())
    place = place.parent_path();
  const auto space = std::filesystem::space(place);
  return core::text(core::fixed(static_cast<double>(space.available) / 1e9, 1), " GB free at ",
                    place.string());
}

bool show_pipeline(const problem::ChannelPlan& plan, const env::ParameterSet& parameters,
                   env::Reach reach, std::ostream& out) {
  const env::PipelineReport report =
      plan.pipeline.check(parameters, static_cast<std::int64_t>(plan.observables.size()), reach);
  std::vector<std::string> reached;
  for (std::size_t i = 0; i < report.reaches.size(); ++i)
    if (report.reaches[i]) reached.push_back(parameters.all()[parameters.free()[i]].name);
  std::vector<std::vector<std::string>> rows;
  for (const auto& row : report.rows)
    rows.push_back(
        {row.stage, core::text(torch::IntArrayRef(row.shape)), core::text(row.noise_dimensions)});
  const std::vector<std::string> without = plan.pipeline.without_gradient();
  out << "pipeline '" << plan.name << "': shapes fit, values finite, "
      << (!without.empty()
              ? core::text("no gradient through '", core::join(without, "', '"),
                           "': GAN training not possible, methods without gradients are "
                           "(sagips solve with solve.method=moments)")
              : core::text("the gradient reaches ", reached.size() == report.reaches.size()
                                                        ? std::string("every free parameter")
                                                        : core::join(reached, ", ")))
      << '\n'
      << analysis::plain_table({"stage", "output of a small batch", "random numbers an event"},
                               rows);
  if (!report.numbers.empty())
    out << "numbers a sample: " << core::join(report.numbers, ", ") << '\n';
  return without.empty();
}

void show_data(const env::Environment& environment, std::ostream& out) {
  for (const env::Channel& channel : environment.channels) {
    out << "data '" << channel.name << "': " << channel.training.origin << ", "
        << core::with_thousands(channel.training.size()) << " to train on, "
        << core::with_thousands(channel.held_out.values.defined() ? channel.held_out.size() : 0)
        << " held out\n";
    for (const auto& [name, value] : channel.training.reference)
      out << "reference " << name << " = " << core::significant(value, 7) << '\n';
  }
}

// Layers inside another one stand below it; its weights and operations hold theirs.
void add_rows(const std::vector<nn::LayerSummary>& layers, const std::string& indent,
              std::vector<std::vector<std::string>>& rows, std::int64_t& outputs) {
  for (const nn::LayerSummary& layer : layers) {
    rows.push_back({indent + layer.name, nn::written(layer.output),
                    core::with_thousands(layer.weights), core::with_thousands(layer.operations)});
    outputs += nn::numbers_in(layer.output);
    add_rows(layer.inside, indent + "  ", rows, outputs);
  }
}

// Layers, and what their weights, gradients and an update rule's numbers take.
void show_network(const std::string& name, const nn::Network& network,
                  const optim::UpdateConfig& rule, std::ostream& out, bool with_layers = true) {
  std::vector<std::vector<std::string>> rows;
  std::int64_t weights = 0, operations = 0, outputs = 0;
  add_rows(network.layers(), "", rows, outputs);
  for (const nn::LayerSummary& layer : network.layers()) {
    weights += layer.weights;
    operations += layer.operations;
  }
  constexpr double bytes = sizeof(float);
  const double arrays = 2 + rule.arrays();  // weights, gradients, and the rule's
  const auto of = [](const core::RowTensors& tensors, const nn::Shape& shape) {
    return tensors.empty() ? nn::written(shape) : tensors.written();
  };
  out << name << ": " << of(network.input_tensors(), network.input()) << " to "
      << of(network.output_tensors(), network.output()) << ", " << core::with_thousands(weights)
      << " weights\n";
  if (with_layers)
    out << analysis::plain_table({"layer", "output", "weights", "multiply-adds of a row"}, rows);
  out << core::with_thousands(operations) << " multiply-adds a row forward; "
      << core::significant(arrays * bytes * static_cast<double>(weights) / 1e6, 3)
      << " MB for weights, gradients and update rule; "
      << core::significant(bytes * static_cast<double>(outputs) / 1e3, 3)
      << " kB a row for what layers put out\n";
}

// The sizes tell all of networks that nobody has listed.
void show_networks(const optim::GanConfig& gan, const env::Environment& environment,
                   std::ostream& out) {
  const auto show = [&out](const std::string& key, const std::string& suffix,
                           const nn::MlpConfig& config, const optim::UpdateConfig& rule,
                           std::int64_t inputs, std::int64_t outputs) {
    show_network(key + suffix, *config.network(inputs, outputs, key), rule, out,
                 !config.hidden_layers.empty());
  };
  const std::int64_t parameters = environment.parameters.free_size();
  if (parameters == 0) return;
  show("generator", "", gan.generator.network, gan.optimizer.generator,
       gan.generator.noise_dimensions, parameters);
  for (std::size_t i = 0; i < environment.channels.size(); ++i)
    show("discriminator", environment.suffix(i), gan.discriminator.network,
         gan.optimizer.discriminator, environment.channels[i].observables(), 1);
}

}  // namespace

bool LearningProblem::check(const Look& look) const {
  const Job& job = look.job;
  look.part([&] {
    const LearningRows rows = load_examples(job);
    const data::ExampleSets& sets = rows.sets;
    look.out << "data: " << sets.origin << ", " << core::with_thousands(sets.training->rows())
             << " rows to learn from, " << core::with_thousands(sets.validation->rows())
             << " kept aside\n";
    const auto parts = make_networks(job, *sets.training);
    for (const optim::NetworkPart& part : parts)
      show_network(part.name, *part.network, job.learning().learner.optimizer, look.out);
    const auto learned = make_learner(job, parts, rows);
    for (const std::string& line : begin_from(*this, learned->networks())) look.out << line << '\n';
    for (const std::string& warning : warnings_of(job, *learned, sets))
      look.log.warning("examples", warning);
    for (const std::string& line : remarks_on_lengths(job, sets.training->rows(), look.ranks))
      look.log.warning("lengths", line);
    check_metric(job.settings.early_stop, waits_for_plateau(), true, metric_names(*learned, sets));
  });
  return true;
}

bool GenerationProblem::check(const Look& look) const {
  look.part([&] {
    const data::ExampleSets sets = load_conditioned(look.job);
    look.out << "data: " << sets.origin << ", " << core::with_thousands(sets.training->rows())
             << " rows to learn from, " << core::with_thousands(sets.validation->rows())
             << " kept aside\n";
    const auto learned = make_adversarial(look.job, sets);
    for (std::size_t i = 0; i < learned->networks().size(); ++i) {
      const optim::NetworkPart& part = learned->networks()[i].part;
      show_network(part.name, *part.network, learned->steps()[i].rule->config(), look.out);
    }
    for (const std::string& warning : sets.warnings) look.log.warning("examples", warning);
    const std::int64_t rows = sets.training->rows();
    if (const std::string line = remark_on_batch(learner.batch, rows, look.ranks); !line.empty())
      look.log.warning("lengths", line);
    look.out << memory_of_training(look.job, sets, look.ranks_of_node) << '\n';
  });
  return true;
}

bool InverseProblem::check(const Look& look) const {
  bool trainable = true;
  look.part([&] { optim::solvers().get(solve.method, "solve.method"); });
  look.part([&] {
    const env::ParameterSet parameters(workload->parameters());
    const auto plans = problem::channels_in_use(*workload, data);
    const auto reach = plans.size() > 1 ? env::Reach::some_parameter : env::Reach::every_parameter;
    for (const auto& plan : plans)
      look.part([&] { trainable = show_pipeline(plan, parameters, reach, look.out) && trainable; });
  });
  look.part([&] {
    const problem::LoadedData loaded = problem::load_data(*workload, data, look.job.seed());
    warn_of_data(loaded, look.log);
    const env::Environment environment = loaded.training();
    show_data(environment, look.out);
    if (trainable) show_networks(gan, environment, look.out);
  });
  return trainable;
}

namespace {

// What the command that comes next uses.
Usage usage_of(const Job& job, bool trainable, std::int64_t ranks) {
  if (trainable || !job.as<InverseProblem>()) return {.command = "train", .ranks = ranks};
  return {.command = "solve", .trains = false, .methods = {job.inverse().solve.method}};
}

// Memory and time of this rank's first steps, as they find them.
std::string use_of_gpu(const Job& job, Task& task) {
  const torch::Device device = job.settings.made_device();
  train::Loop::Callbacks callbacks;
  std::string remark;  // where they cannot be graphs
  callbacks.observers.push_back([&remark](const record::Event& event) {
    if (const auto* const warning = std::get_if<record::Warning>(&event))
      remark = "; " + warning->message;
  });
  train::Loop loop(loop_of(job), task.optimizer(), callbacks);
  constexpr std::int64_t first = 8;  // of which graphs are made
  loop.run_steps(first);
  nn::wait_for(device);
  const auto start = std::chrono::steady_clock::now();
  constexpr std::int64_t timed = 4;
  loop.run_steps(first + timed);
  nn::wait_for(device);
  const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
  constexpr double gigabyte = 1e9;
  const nn::GpuMemory memory = nn::memory_of(device);
  return core::text("on the GPU: a rank's training takes ",
                    core::significant(static_cast<double>(memory.most_taken) / gigabyte, 2), " of ",
                    core::significant(static_cast<double>(memory.all) / gigabyte, 3),
                    " GB, beside what CUDA itself does; a step some ",
                    core::significant(took.count() / timed, 2), " ms", remark);
}

// What a training on these ranks would refuse. collective
// problems: gets what the first steps on this rank's GPU end with
void check_on_ranks(const Job& job, comm::Ranks& ranks, std::ostream& out,
                    std::vector<std::string>& problems) {
  core::Log log({.quiet = true});
  const std::unique_ptr<Task> task = job.problem->task(job, ranks, log);
  check_metric(job.settings.early_stop, job.problem->waits_for_plateau(), task->keeps_best(),
               task->metric_names());
  const train::RankExchange exchange(ranks, task->optimizer(), job.exchange_choice(), job.seed());
  if (ranks.is_first() && ranks.size() > 1)
    out << ranks.size() << " ranks, " << task->share() << " each: " << exchange.description()
        << '\n';
  std::string failure;
  try {
    if (!job.settings.made_device().is_cpu()) out << use_of_gpu(job, *task) << '\n';
  } catch (const std::exception& problem) {
    failure = "the first steps on the GPU: " + nn::first_line(problem);
  }
  const auto failed = ranks.gather(failure.empty() ? 0 : 1);
  const auto other = std::ranges::find(failed, 1U);
  if (failure.empty() && other != failed.end())
    failure = core::text("the first steps on the GPU of rank ", other - failed.begin(),
                         " fail. Check it alone to see why.");
  if (!failure.empty()) problems.push_back(failure);
}

}  // namespace

Checked check(const Workloads& workloads, Job& job, comm::Ranks& ranks, core::Log& log) {
  const auto goes_on = [&ranks](bool on_first) { return ranks.gather(on_first ? 1 : 0)[0] != 0; };
  std::ostringstream out;
  Checked checked;
  nn::take_turn(place_on_node(ranks));
  if (!ranks.is_first()) {
    if (goes_on(false)) check_on_ranks(job, ranks, out, checked.problems);
    return checked;
  }
  std::vector<std::string>& problems = checked.problems;
  const auto part = [&](const std::function<void()>& look) {
    try {
      look();
    } catch (const core::Error& error) {
      // a pipeline's problem shows again where the data are made with it
      if (std::find(problems.begin(), problems.end(), error.what()) == problems.end())
        problems.emplace_back(error.what());
    }
  };
  out << "config of '" << job.settings.workload << "': every key known, every value in range\n";
  part([&] { job.settings.loop.check(); });
  part([&] {
    if (const std::string gpu = nn::described(job.settings.made_device()); !gpu.empty())
      out << "device: " << gpu << '\n';
  });
  part([&] { train::traits_of(job.exchange_choice(), 1); });
  const std::vector<int>& nodes = ranks.communicator().nodes();
  const auto of_node = static_cast<int>(std::count(nodes.begin(), nodes.end(), nodes.front()));
  checked.trainable = job.problem->check({job, ranks.size(), of_node, out, log, part});
  std::string remark;
  part([&] {
    remark = keys_without_effect(workloads, job, usage_of(job, checked.trainable, ranks.size()));
  });
  // Of one rank its rows are looked at already, as a training does.
  const auto is_left = [&] {
    return !job.as<LearningProblem>() || ranks.size() > 1 || !job.settings.made_device().is_cpu();
  };
  if (goes_on(checked.trainable && problems.empty() && is_left()))
    check_on_ranks(job, ranks, out, problems);
  out << "run folder: " << job.settings.run.folder << ", " << free_space(job.settings.run.folder)
      << '\n';
  if (problems.empty() && !remark.empty()) log.warning("without-effect", remark);
  checked.report = out.str();
  return checked;
}

}  // namespace sagips::run
