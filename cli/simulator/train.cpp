// One training among simulated ranks, in a process of its own: SimGrid takes a process whole. A program
// beside `sagips-simulator`, which starts many times and must not load LibTorch for that.

#include <chrono>
#include <exception>
#include <iostream>
#include <string>
#include <vector>

#include "cli/workloads.hpp"
#include "sagips/cli/program.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/run/many_ranks.hpp"
#include "sagips/simulate/cluster.hpp"
#include "sagips/study/simulated/many_ranks_job.hpp"

namespace {

using namespace sagips;
using simulate::Cluster;

constexpr const char* usage =
    "usage: sagips-simulator-train JOB.yaml RESULT.json\n"
    "One training among simulated ranks; `sagips simulate --convergence` writes the jobs and reads "
    "the results.\n";

/// What an epoch of a rank takes beside its messages, spent before they begin.
class EpochTime {
 public:
  EpochTime(const study::ManyRanksJob& job, const simulate::PlatformConfig& platform,
            std::int64_t floats, int rank)
      : scenario_(job.scenario),
        gpu_(platform.gpu_copy),
        array_bytes_(static_cast<double>(floats) * sizeof(float)),
        data_bytes_(static_cast<double>(scenario_.data_bytes)),
        rank_(rank) {
    if (job.as_floats > 0)  // the copies are as slow as messages, the events are as many as told
      data_bytes_ *= static_cast<double>(floats) / static_cast<double>(job.as_floats);
  }

  void pass(std::int64_t epoch, const std::function<void()>& poll) const {
    const double seconds =
        simulate::compute_time(scenario_, rank_, epoch) + copies_s() + pause_s(epoch);
    for (std::int64_t piece = 0; piece < scenario_.polls; ++piece) {
      Cluster::spend(seconds / static_cast<double>(scenario_.polls));
      if (poll) poll();
    }
  }

 private:
  // Gradients to the messages' memory and back, events to the GPU.
  double copies_s() const {
    if (gpu_.bandwidth <= 0) return 0;
    const double events_s = data_bytes_ > 0 ? gpu_.latency_s + data_bytes_ / gpu_.bandwidth : 0;
    return 2 * (gpu_.latency_s + array_bytes_ / gpu_.bandwidth) + events_s;
  }
  double pause_s(std::int64_t epoch) const {
    const bool after =
        scenario_.pause_every > 0 && epoch > 1 && (epoch - 1) % scenario_.pause_every == 0;
    return after ? scenario_.pause_s : 0;
  }

  const simulate::ScenarioConfig& scenario_;
  simulate::CopyConfig gpu_;
  double array_bytes_, data_bytes_;
  int rank_;
};

void train(const std::string& job_file, const std::string& result_file) {
  const auto begun = std::chrono::steady_clock::now();
  auto asked = core::read_config(core::ConfigDocument::from_file(job_file), study::ManyRanksJob{});
  const run::Workloads known = cli::known_workloads(shipped_workloads());
  const run::Job job = run::read_job(known, asked.source, asked.assignments);
  study::check_scenario(asked, job.inverse().gan);
  if (asked.scenario.overlap == simulate::ScenarioConfig::Overlap::none &&
      job.settings.exchange != "served")
    asked.scenario.polls = 1;  // nothing is under way then
  torch::set_num_threads(1);
  run::ManyRanks ranks(job, static_cast<int>(asked.ranks));
  const std::int64_t floats = ranks.floats();
  const simulate::PlatformConfig platform =
      study::for_small_arrays(asked.platform, floats, asked.as_floats);
  Cluster cluster(platform, static_cast<int>(asked.ranks), Cluster::Turns::threads);
  cluster.run([&](comm::Communicator& communicator) {
    torch::set_num_threads(1);  // of this rank's thread
    const EpochTime time(asked, platform, floats, communicator.rank());
    run::SimulatedClock clock;
    clock.now_s = [] { return Cluster::now_s(); };
    clock.compute = [&](std::int64_t epoch, const std::function<void()>& poll) {
      time.pass(epoch, poll);
    };
    ranks.train(communicator, clock);
  });
  record::write_simulated_learning_curve(result_file, ranks.learning_curve());
  const double host_s =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  std::cout << "done after " << core::duration(host_s) << std::endl;
}

int obey(const std::vector<std::string>& words) {
  if (words.size() == 2) {
    train(words[0], words[1]);
    return 0;
  }
  const bool asked = words.size() == 1 && words[0] == "--help";
  (asked ? std::cout : std::cerr) << usage;
  return asked ? 0 : static_cast<int>(core::ExitCode::bad_input);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return obey({argv + 1, argv + argc});
  } catch (const core::Error& error) {
    std::cerr << "sagips-simulator-train: error: " << error.what() << '\n';
    return static_cast<int>(error.exit_code());
  } catch (const std::exception& error) {
    std::cerr << "sagips-simulator-train: error: " << error.what() << '\n';
    return static_cast<int>(core::ExitCode::failed);
  }
}
