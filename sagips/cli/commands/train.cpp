#include <iostream>
#include <optional>

#include "sagips/analysis/table.hpp"
#include "sagips/cli/commands.hpp"
#include "sagips/cli/data_parts.hpp"
#include "sagips/cli/interrupt.hpp"
#include "sagips/cli/job_ranks.hpp"
#include "sagips/cli/outcome.hpp"
#include "sagips/cli/proposals.hpp"
#include "sagips/cli/rank_summary.hpp"
#include "sagips/cli/run_environment.hpp"
#include "sagips/cli/run_figures.hpp"
#include "sagips/cli/run_report.hpp"
#include "sagips/cli/timing.hpp"
#include "sagips/cli/training.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device.hpp"
#include "sagips/optim/channel_share.hpp"
#include "sagips/optim/warm_start.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/train/add_up.hpp"
#include "sagips/train/distribute.hpp"
#include "sagips/train/gather.hpp"

namespace sagips::cli {

namespace {

constexpr std::int64_t stored_proposals = 10000;
constexpr std::int64_t usual_timeline = 100;  // epochs that --timeline traces

optim::DataShare share_of(const Job& job, comm::Ranks& ranks) {
  const train::RankConfig& config = job.settings.ranks;
  optim::DataShare share;
  share.place = {ranks.rank(), ranks.size()};
  const bool sharded = config.data == train::RankConfig::Data::sharded;
  const double usual =
      sharded ? 1 : train::traits_of(job.settings.exchange_choice(), ranks.size()).data_fraction;
  share.fraction = config.fraction.value_or(usual);
  if (sharded)
    share.sharded = true;
  else
    share.distribute = [&ranks](const optim::DataShare::Load& load) {
      return train::distribute(ranks, load);
    };
  return share;
}

// What one process of a job may use, and a warning when the launcher allows less than is asked for.
int set_threads(const Job& job, comm::Ranks& ranks, core::Log& log) {
  const int sharing = ranks_on_these_processors(ranks);
  const int threads = nn::set_threads(job.settings.threads, sharing);
  const int allowed = nn::allowed_processors();
  if (ranks.is_first() && threads > allowed && ranks.size() > 1)
    log.warning(core::text(threads, " threads a rank share ", allowed,
                           allowed == 1 ? " processor" : " processors",
                           " that the launcher binds it to (they take turns). Start with --bind-to "
                           "none or --map-by slot:PE=",
                           threads, ", or set threads=", allowed, "."));
  return threads;
}

// Rank 0 makes the folder, all know its path.
std::string announce(comm::Ranks& ranks, const std::string& path) {
  std::vector<std::byte> bytes;
  for (const char letter : path) bytes.push_back(static_cast<std::byte>(letter));
  ranks.broadcast(bytes);
  std::string announced;
  for (const std::byte letter : bytes) announced.push_back(static_cast<char>(letter));
  return announced;
}

// What rank 0 leaves in the folder of the run.
class Outputs {
 public:
  Outputs(const Job& job, comm::Ranks& ranks, int threads, core::Log& log, Timing& timing)
      : job_(job), ranks_(ranks), log_(log), timing_(timing) {
    if (ranks.is_first()) {
      folder_.emplace(job.settings.run, job.settings.workload);
      core::write_file(folder_->file(record::run_files::config.name), job.effective_config);
      log.add_file(folder_->file(record::run_files::log.name));
      record::write_environment(folder_->file(record::run_files::environment.name),
                                run_environment(ranks, threads));
      if (ranks.size() > 1) folder_->folder(record::run_files::ranks.name);
      if (job.settings.loop.snapshots > 0) folder_->folder(record::run_files::snapshots.name);
      if (job.settings.run.tensorboard) folder_->folder(record::run_files::tensorboard.name);
      if (job.settings.loop.timeline > 0) folder_->folder(record::run_files::timeline.name);
    }
    path_ = announce(ranks, folder_ ? folder_->path() : std::string());
  }
  const std::string& path() const { return path_; }

  /// proposals: mean over ranks; weights: [ranks, weights]
  /// judges: what the answer is judged by
  void write(const env::Environment& environment, const env::Environment& judges,
             const Training& training, const std::vector<RankRow>& rows,
             const torch::Tensor& proposals, const torch::Tensor& weights,
             const train::Evaluator& evaluator) {
    const bool sharded = job_.settings.ranks.data == train::RankConfig::Data::sharded;
    Oracle oracle;
    timing_.begin("fit and chi2 beside the networks");
    if (training.failure)
      log_.info("the run failed: the results are those of the last good update, without a fit");
    else if (sharded && ranks_.size() > 1)
      log_.info("no fit beside the trained values: no rank holds all events (ranks.data=sharded)");
    else if (job_.settings.run.fit)
      oracle = oracle_fit(job_, log_);
    record::Results results = training_results(job_, environment, training.record, oracle);
    results.numbers.push_back({"ranks", static_cast<double>(ranks_.size())});
    results.numbers.push_back({"analysis_rate", analysis_rate(rows)});
    for (const auto& number : training.record.last.ranks) results.numbers.push_back(number);
    if (!training.failure) judge_training(job_, judges, results, log_);
    record::write_results_json(folder_->file(record::run_files::results.name), results);
    record::write_summary_csv(folder_->file(record::run_files::summary.name), results);
    write_proposals(folder_->file(record::run_files::parameters.name), proposals);
    write_generators(*folder_, weights);
    if (ranks_.size() > 1) write_rank_rows(folder_->file(record::run_files::exchange.name), rows);
    timing_.begin("figures");
    std::string figure;
    if (job_.settings.run.figures && !training.failure)  // they need pipelines that work
      figure = draw_run_figures(*folder_, job_, environment, results, proposals, evaluator, log_);
    write_timing(folder_->file(record::run_files::timing.name), timing_.parts());
    std::cout << '\n' << analysis::result_table(results) << '\n';
    if (!results.errors_from.empty()) std::cout << "errors: " << results.errors_from << '\n';
    std::cout << goodness_lines(results.goodness);
    if (ranks_.size() > 1) std::cout << exchange_line(rows) << '\n';
    if (!figure.empty()) std::cout << "residuals over time: " << figure << '\n';
    if (job_.settings.run.figures) say_run_report(folder_->path(), log_);
    std::cout << "run folder: " << folder_->path() << std::endl;
  }

 private:
  const Job& job_;
  comm::Ranks& ranks_;
  core::Log& log_;
  Timing& timing_;
  std::optional<record::RunDirectory> folder_;
  std::string path_;
};

std::string event_counts(const env::Environment& environment) {
  std::vector<std::string> counts;
  for (const env::Channel& channel : environment.channels)
    counts.push_back(core::text(channel.training.size()));
  return core::join(counts, " + ");
}

// What this rank's networks work on: all channels, or one of them.
env::Environment own_channels(const Job& job, const env::Environment& all,
                              const optim::RankPlace& place) {
  if (job.settings.ranks.channels == train::RankConfig::Channels::all) return all;
  const train::ExchangeChoice choice = job.settings.exchange_choice();
  if (choice.discriminator != "none")
    throw core::ConfigError("discriminator.exchange",
                            "ranks.channels=divided gives ranks discriminators of different data "
                            "sets (their gradients have nothing in common). Set it to none.");
  if (choice.generator == "none")
    throw core::ConfigError("exchange",
                            "ranks.channels=divided shows each rank one data set (without an "
                            "exchange each generator would know only that one). Choose another.");
  if (job.settings.gan.generator.shared != nn::SharedPart::all)
    throw core::ConfigError("generator.shared",
                            "ranks.channels=divided shows each rank one data set (what is not "
                            "exchanged, such as biases, would learn of that one alone). Set it to "
                            "all.");
  return optim::channel_share(all, place);
}

// Where the config wants it: all ranks begin at one solution, to which each adds what its events say.
void begin(const Job& job, comm::Ranks& ranks, const env::Environment& environment, optim::Gan& gan,
           core::Log& log) {
  if (job.settings.gan.generator.start != optim::GeneratorConfig::Start::moments) return;
  optim::SolveContext context;
  context.seed = job.seed();
  context.place = {ranks.rank(), ranks.size()};
  if (ranks.size() > 1)
    context.add_up = [&ranks](std::span<double> numbers) { train::add_up(ranks, numbers); };
  // the ranks' own events overlap; sums over ranks need parts that do not
  const env::Environment parts =
      ranks.size() == 1
          ? environment
          : optim::make_environment(*job.workload, job.settings.data, optim::Split::held_out,
                                    job.seed(), parts_of_data(job, ranks));
  const optim::Solution solution =
      optim::warm_start(gan, parts, job.settings.solvers.moments, context);
  if (!ranks.is_first()) return;
  std::vector<record::GoodnessResult> goodness;
  for (const optim::GoodnessOfFit& one : solution.goodness)
    goodness.push_back({one.name, one.value, one.degrees_of_freedom, one.p_value});
  warn_of_misfit(goodness, log);
  warn_at_limits(solution.at_limit, log);
  log.info(core::text("the generator begins at the solution of the moments, found in ",
                      core::duration(solution.time_s)));
}

// What the networks' answer is judged by: all events, and what the discriminators learned, where there
// is one for each channel.
env::Environment judges(const Job& job, const comm::Ranks& ranks,
                        const env::Environment& environment, const optim::Gan& gan,
                        const Training& training) {
  if (training.failure) return environment;
  const bool sharded = job.settings.ranks.data == train::RankConfig::Data::sharded;
  env::Environment seen = sharded && ranks.size() > 1
                              ? environment
                              : optim::make_environment(*job.workload, job.settings.data,
                                                        optim::Split::all_training, job.seed());
  if (gan.channels() != seen.channels.size()) return seen;
  for (std::size_t k = 0; k < seen.channels.size(); ++k)
    seen.channels[k].features.push_back(gan.feature(k));
  return seen;
}

void say_start(const Job& job, comm::Ranks& ranks, const env::Environment& environment,
               const train::RankExchange& exchange, int threads, core::Log& log) {
  std::string line =
      core::text("training ", job.settings.workload, " on ", data_origin(environment), " with ",
                 threads, threads == 1 ? " thread" : " threads", ", seed ", job.settings.run.seed);
  if (ranks.size() > 1)
    line += core::text("; ", ranks.size(), " ranks (", ranks.communicator().description(), "), ",
                       event_counts(environment), " events each; ", exchange.description());
  log.info(line);
}

// Instance noise fades with the share of the epochs that are over.
void check_fading(const Job& job) {
  if (job.settings.gan.discriminator.instance_noise > 0 && job.settings.loop.epochs == 0)
    throw core::ConfigError("discriminator.instance_noise",
                            "the noise fades to 0 at the last epoch, and train.epochs=0 names none "
                            "(it would never fade). Set train.epochs.");
}

}  // namespace

core::ExitCode train(const Workloads& workloads, const Arguments& arguments) {
  comm::Ranks& ranks = *arguments.ranks;
  Timing timing;
  timing.begin("preparation");
  std::vector<std::string> assignments = arguments.assignments;
  if (arguments.options.contains("timeline"))
    assignments.push_back(core::text("train.timeline=", usual_timeline));
  const Job job = read_job(workloads, arguments.source, assignments);
  job.settings.loop.check();  // before anything is made
  check_fading(job);
  const auto traits = train::traits_of(job.settings.exchange_choice(), ranks.size());
  check_agreement(ranks, job.effective_config);
  // alone, a signal during the preparations ends the program; among ranks it may tell of a death
  std::optional<InterruptGuard> interrupt;
  if (ranks.size() > 1) interrupt.emplace();
  ranks.patience().set_config({.timeout_s = job.settings.ranks.timeout_s,
                               .alarmed = [] { return InterruptGuard::requested(); }});

  core::Log log;
  const torch::Device device = nn::device_from_name(job.settings.device);
  const int threads = set_threads(job, ranks, log);
  const optim::DataShare share = share_of(job, ranks);
  const env::Environment environment = optim::make_environment(
      *job.workload, job.settings.data, optim::Split::held_out, job.seed(), share);
  optim::GanConfig gan_config = job.settings.gan;
  gan_config.optimizer.generator.learning_rate *= traits.learning_rate_factor;
  gan_config.moments = job.settings.solvers.moments;
  const env::Environment own = own_channels(job, environment, share.place);
  optim::Gan gan(gan_config, own, job.seed(), device, share.place);
  train::RankExchange exchange(ranks, gan, job.settings.exchange_choice(), job.seed());
  Outputs outputs(job, ranks, threads, log, timing);  // what can be refused has been
  begin(job, ranks, environment, gan, log);
  check_equal_start(ranks, gan.generator().shared_weights());
  const train::Evaluator evaluator(job.settings.evaluation, environment, job.seed());

  if (ranks.is_first()) say_start(job, ranks, environment, exchange, threads, log);
  if (!interrupt) interrupt.emplace();
  timing.begin("evaluations and records");
  const Training training =
      turn_the_crank(job, ranks, gan, exchange, evaluator, outputs.path(), log);
  if (ranks.size() == 1) interrupt.reset();
  const record::RunFinished& finished = training.record.finished;
  timing.take_out("training", finished.time_s);
  if (ranks.is_first())
    log.info(core::text("finished: ", training.failure ? "failed" : finished.reason, " after ",
                        finished.epochs, " epochs, ", core::duration(finished.time_s)));

  const auto rows = gather_rows(ranks, training.row);
  const auto proposals = train::gather(ranks, gan.predict(stored_proposals));
  const auto weights = train::gather(ranks, gan.predicting_weights());
  if (ranks.is_first())
    outputs.write(environment, judges(job, ranks, environment, gan, training), training, rows,
                  torch::stack(proposals).mean(0), torch::stack(weights), evaluator);
  training.accord->part();
  if (training.failure) std::rethrow_exception(training.failure);
  return finished.complete ? core::ExitCode::done : core::ExitCode::stopped_early;
}

}  // namespace sagips::cli
