#include <sys/resource.h>

#include <chrono>
#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/measuring.hpp"
#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/comm/ranks.hpp"
#include "sagips/core/error.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/nn/memory.hpp"
#include "sagips/run/generation_task.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/training_setup.hpp"
#include "sagips/train/loop.hpp"
#include "sagips/train/rank_exchange.hpp"
#include "workloads/calorimeter3d/calorimeter3d.hpp"
#include "workloads/classify/classify.hpp"
#include "workloads/learning/learning.hpp"
#include "workloads/stress_strain/stress_strain.hpp"

// Training steps of a learning or a generation problem, one turn a line of standard input:
// bench/learning_bench.py lets it take turns with PyTorch. "go K" does K steps (draw, forward, backward,
// update) and prints their mean time; with --make 1 it makes so many batches of examples instead. Under
// mpirun, `--steps K` takes K steps on all ranks and prints the mean time, --exchange says what ranks exchange.

namespace {

using namespace sagips;

struct Problem {
  std::string source;                    ///< as `sagips train` takes it
  std::vector<std::string> assignments;  ///< over its settings
  nn::Shape input{};                     ///< of one row of a learning problem
};

const std::map<std::string, Problem>& problems() {
  static const std::map<std::string, Problem> all = {
      {"calorimeter", {"calorimeter3d", {}}},
      {"laptop", {"calorimeter3d/laptop", {}}},
      {"fashion", {"classify/fashion", {}, {1, 28, 28}}},
      {"fashion_small", {"classify/fashion_small", {}, {1, 28, 28}}},
      {"shapes", {"classify/shapes", {}, {3, 32, 32}}},
      {"stress_strain", {"stress_strain", {}, {200, 3}}},
      {"stress_strain_convolution", {"stress_strain/convolution", {}, {3, 200}}},
      {"stress_strain_recurrent", {"stress_strain/recurrent", {}, {200, 3}}},
      // JEDI-net, 33,625 weights
      {"jets",
       {"learning",
        {"network.layers=[{interaction: {messages: [{dense: 30, activation: elu}, {dense: 15, "
         "activation: elu}, {dense: 10, activation: elu}], objects: [{dense: 30, activation: elu}, "
         "{dense: 15, activation: elu}, {dense: 10, activation: elu}]}}, {flatten: {}}, "
         "{dense: 30, activation: elu}, {dense: 15, activation: elu}, {dense: 5}]",
         "loss=cross_entropy", "batch=100"},
        {100, 16}}}};
  return all;
}

run::Job read_job(const bench::Options& options) {
  run::Workloads workloads("workload");
  for (const problem::Entry& entry : std::vector<problem::Entry>{
           workloads::calorimeter3d_workload(), workloads::classify_workload(),
           workloads::learning_workload(), workloads::stress_strain_workload()})
    workloads.add(entry.name, entry);
  const Problem& problem = problems().at(options.text("network"));
  std::vector<std::string> assignments = problem.assignments;
  assignments.push_back("threads=" + options.text("threads"));
  if (!options.text("batch").empty()) assignments.push_back("batch=" + options.text("batch"));
  if (!options.text("exchange").empty())
    assignments.push_back("exchange=" + options.text("exchange"));
  return run::read_any_job(workloads, problem.source, assignments);
}

/// A training as run::LearningTask puts it together, on random rows.
std::unique_ptr<optim::Supervised> make_learner(const run::Job& job, const nn::Shape& input,
                                                const problem::RankPlace& place = {}) {
  constexpr std::int64_t batches = 100;
  const optim::SupervisedConfig& settings = job.learning().learner;
  const std::int64_t rows = batches * settings.batch;
  nn::Shape shape = input;
  shape.insert(shape.begin(), rows);
  torch::manual_seed(1);
  data::Examples examples{torch::randn(shape), {}};
  const auto networks = run::make_networks(job, *data::hold(examples));
  const std::int64_t outputs = networks.back().network->output()[0];
  examples.targets = optim::loss_named(settings.loss, "loss").of_classes()
                         ? torch::randint(outputs, {rows}, torch::kInt64)
                         : torch::randn({rows, outputs});
  const data::ExampleRowsPtr held = data::hold(examples);
  return run::make_learner(job, networks, {.sets = {.training = held, .validation = held}}, place);
}

/// Most memory that this process has held so far, in MB.
double peak_MB() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return static_cast<double>(used.ru_maxrss) / 1e3;
}

void say_ready(std::int64_t weights, std::int64_t batch) {
  std::printf("ready {\"weights\": %lld, \"batch\": %lld, \"peak_MB\": %.0f}\n",
              static_cast<long long>(weights), static_cast<long long>(batch), peak_MB());
  std::fflush(stdout);
}

void take_steps(const run::Job& job, optim::Optimizer& learner, std::int64_t weights,
                std::int64_t batch) {
  train::Loop loop(run::loop_of(job), learner, {});
  std::int64_t steps = 3;  // the first ones ask for memory
  loop.run_steps(steps);
  say_ready(weights, batch);
  bench::answer_turns([&](int more) { loop.run_steps(steps += more); });
}

/// Steps of all ranks of a job, which begin together; the slowest one's time.
void take_steps_together(const run::Job& job, const nn::Shape& input, std::int64_t steps) {
  using Clock = std::chrono::steady_clock;
  constexpr std::int64_t warm_up = 200;
  const auto communicator = comm::make_mpi_communicator();
  comm::Ranks ranks(*communicator);
  const auto learner =
      make_learner(job, input, train::place_of(job.exchange_choice(), ranks.communicator()));
  train::RankExchange exchange(ranks, *learner, job.exchange_choice(), job.seed());
  train::Loop::Callbacks callbacks;
  callbacks.exchange = exchange.hooks();
  train::Loop loop(run::loop_of(job), *learner, callbacks);
  exchange.begin();
  loop.run_steps(warm_up);
  ranks.gather(0);
  const auto start = Clock::now();
  loop.run_steps(warm_up + steps);
  ranks.gather(0);
  const double seconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (callbacks.exchange.close) callbacks.exchange.close();
  if (ranks.is_first())
    std::printf("{\"seconds\": %.9f, \"weights\": %lld}\n", seconds / static_cast<double>(steps),
                static_cast<long long>(learner->replica().size()));
}

void make_examples(const optim::Adversarial& learner, const torch::Tensor& targets,
                   std::int64_t weights) {
  const auto make = [&](std::int64_t first) { learner.make(targets, "benchmark", first); };
  make(0);
  say_ready(weights, targets.size(0));
  std::int64_t batches = 0;
  bench::answer_turns([&](int more) {
    for (int i = 0; i < more; ++i) make(++batches * targets.size(0));
  });
}

void take_turns(const bench::Options& options) {
  const auto found = problems().find(options.text("network"));
  if (found == problems().end())
    throw core::Error("unknown network '" + options.text("network") + "'",
                      core::ExitCode::bad_input);
  const run::Job job = read_job(options);
  nn::set_threads(job.settings.threads);
  if (const auto* const generation = job.as<run::GenerationProblem>()) {
    const data::ExampleSets sets = run::load_conditioned(job);
    const auto learner = run::make_adversarial(job, sets);
    const std::int64_t batch = generation->learner.batch;
    if (options.text("make") == "1")
      return make_examples(*learner, sets.training->first(batch).targets, learner->weights());
    return take_steps(job, *learner, learner->weights(), batch);
  }
  if (const auto steps = static_cast<std::int64_t>(options.number("steps")); steps > 0)
    return take_steps_together(job, found->second.input, steps);
  const auto learner = make_learner(job, found->second.input);
  take_steps(job, *learner, learner->replica().size(), job.learning().learner.batch);
}

}  // namespace

int main(int argc, char** argv) {
  nn::keep_freed_memory();
  try {
    take_turns(bench::Options({{"network", "fashion"},
                               {"threads", "2"},
                               {"batch", ""},
                               {"make", "0"},
                               {"exchange", ""},
                               {"steps", "0"}},
                              argc, argv));
  } catch (const core::Error& error) {
    std::fprintf(stderr, "learning_bench: %s\n", error.what());
    return 2;
  }
}
