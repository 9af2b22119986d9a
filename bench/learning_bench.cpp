#include <cstdio>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "bench/measuring.hpp"
#include "sagips/core/error.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/nn/memory.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/training_setup.hpp"
#include "sagips/train/loop.hpp"
#include "workloads/classify/classify.hpp"
#include "workloads/learning/learning.hpp"

// Training steps of a learning problem, one turn a line of standard input: bench/learning_bench.py lets
// it take turns with PyTorch. "go K" does K steps (draw, forward, backward, update) and prints their
// mean time.

namespace {

using namespace sagips;

struct Problem {
  std::string source;                    ///< as `sagips train` takes it
  std::vector<std::string> assignments;  ///< over its settings
  nn::Shape input;                       ///< of one row
};

const std::map<std::string, Problem>& problems() {
  static const std::map<std::string, Problem> all = {
      {"fashion", {"classify/fashion", {}, {1, 28, 28}}},
      {"fashion_small", {"classify/fashion_small", {}, {1, 28, 28}}},
      {"shapes", {"classify/shapes", {}, {3, 32, 32}}},
      // 200 points of (strain, stress, flag) to two material parameters: layers with the right number of
      // weights, since those of the original are not known
      {"stress_strain",
       {"learning",
        {"network.layers=[{dense: 199, activation: relu}, {dense: 120, activation: relu}, "
         "{dense: 80, activation: relu}, {dense: 2}]",
         "loss=mean_square", "batch=75"},
        {600}}}};
  return all;
}

run::Job read_job(const Problem& problem, const std::string& threads) {
  run::Workloads workloads("workload");
  workloads.add("classify", workloads::classify_workload());
  workloads.add("learning", workloads::learning_workload());
  std::vector<std::string> assignments = problem.assignments;
  assignments.push_back("threads=" + threads);
  return run::read_any_job(workloads, problem.source, assignments);
}

/// A training as run::LearningTask puts it together, on random rows.
std::unique_ptr<optim::Supervised> make_learner(const run::Job& job, const nn::Shape& input) {
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
  return run::make_learner(job, networks, {held, held});
}

void take_turns(const bench::Options& options) {
  const auto found = problems().find(options.text("network"));
  if (found == problems().end())
    throw core::Error("unknown network '" + options.text("network") + "'",
                      core::ExitCode::bad_input);
  const run::Job job = read_job(found->second, options.text("threads"));
  nn::set_threads(job.settings.threads);
  const auto learner = make_learner(job, found->second.input);
  train::Loop loop(run::loop_of(job), *learner, {});

  std::int64_t steps = 3;  // the first ones ask for memory
  loop.run_steps(steps);
  std::printf("ready {\"weights\": %lld, \"batch\": %lld}\n",
              static_cast<long long>(learner->replica().size()),
              static_cast<long long>(job.learning().learner.batch));
  std::fflush(stdout);
  bench::answer_turns([&](int more) { loop.run_steps(steps += more); });
}

}  // namespace

int main(int argc, char** argv) {
  nn::keep_freed_memory();
  try {
    take_turns(bench::Options({{"network", "fashion"}, {"threads", "2"}}, argc, argv));
  } catch (const core::Error& error) {
    std::fprintf(stderr, "learning_bench: %s\n", error.what());
    return 2;
  }
}
