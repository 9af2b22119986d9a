#include "sagips/run/inverse_task.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/problem/channel_share.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/run/effects.hpp"
#include "sagips/run/loading.hpp"
#include "sagips/run/outcome.hpp"
#include "sagips/run/proposals.hpp"
#include "sagips/run/rank_agreement.hpp"
#include "sagips/run/run_figures.hpp"
#include "sagips/train/collectives.hpp"

namespace sagips::run {

namespace {

constexpr std::int64_t stored_proposals = 10000;

// Instance noise fades with the share of the epochs that are over.
void check_fading(const Job& job) {
  if (job.inverse().gan.discriminator.instance_noise > 0 && job.settings.loop.epochs == 0)
    throw core::ConfigError("discriminator.instance_noise",
                            "the noise fades to 0 at the last epoch, and train.epochs=0 names none "
                            "(it would never fade). Set train.epochs.");
}

problem::DataShare checked_share(const Job& job, comm::Ranks& ranks) {
  check_fading(job);
  return training_share(job, ranks);
}

}  // namespace

InverseTask::InverseTask(const Job& job, comm::Ranks& ranks, core::Log& log)
    : job_(job),
      ranks_(ranks),
      log_(log),
      share_(checked_share(job, ranks)),
      data_(load_data(job, ranks, log)),
      fingerprint_(data_->fingerprint()),
      environment_(data_->training(share_)),
      setup_(job, own_channels(), job.seed(), share_.place),
      evaluator_(job.inverse().evaluation, environment_, job.seed()) {
  if (ranks.size() > 1 && comm::keeps_central_weights(job.settings.exchange) &&
      job.inverse().gan.generator.average > 0)
    throw core::ConfigError(
        "generator.average",
        "is a mean of one rank's own weights (with exchange=served the answer is "
        "that of the central ones). Set it to 0.");
  const optim::GanOptimizerConfig& rules = job.inverse().gan.optimizer;
  const std::int64_t updates = job.settings.loop.epochs;
  for (const std::string& line :
       {remark_on_updates(job, "optimizer.generator", rules.generator, updates, ranks.size()),
        remark_on_updates(job, "optimizer.discriminator", rules.discriminator,
                          updates * rules.discriminator_steps, ranks.size())})
    if (!line.empty() && ranks.is_first()) log.warning("lengths", line);
}

// What this rank's networks work on: all channels, or one of them.
env::Environment InverseTask::own_channels() const {
  if (job_.settings.ranks.channels == train::RankConfig::Channels::all) return environment_;
  if (job_.inverse().gan.discriminator.exchange != "none")
    throw core::ConfigError("discriminator.exchange",
                            "ranks.channels=divided gives ranks discriminators of different data "
                            "sets (their gradients have nothing in common). Set it to none.");
  if (job_.settings.exchange == "none")
    throw core::ConfigError("exchange",
                            "ranks.channels=divided shows each rank one data set (without an "
                            "exchange each generator would know only that one). Choose another.");
  if (job_.inverse().gan.generator.shared != nn::SharedPart::all)
    throw core::ConfigError("generator.shared",
                            "ranks.channels=divided shows each rank one data set (what is not "
                            "exchanged, such as biases, would learn of that one alone). Set it to "
                            "all.");
  return problem::channel_share(environment_, share_.place);
}

std::string InverseTask::description() const {
  return core::text(job_.settings.workload, " on ", data_origin(environment_));
}

std::string InverseTask::share() const {
  std::vector<std::string> counts;
  for (const env::Channel& channel : environment_.channels)
    counts.push_back(core::text(channel.training.size()));
  return core::join(counts, " + ") + " events";
}

std::vector<std::string> InverseTask::metric_names() const {
  return train::metric_names(environment_);
}

// Each data set has a discriminator of its own where they are divided.
int InverseTask::kinds_of_ranks() const {
  if (job_.settings.ranks.channels == train::RankConfig::Channels::all) return 1;
  return static_cast<int>(environment_.channels.size());
}

// Where the config wants it: all ranks begin at one solution, to which each adds what its events say.
void InverseTask::begin_at_solution() {
  optim::SolveContext context;
  context.seed = job_.seed();
  context.place = {ranks_.rank(), ranks_.size()};
  if (ranks_.size() > 1)
    context.add_up = [this](std::span<double> numbers) { train::add_up(ranks_, numbers); };
  // the ranks' own events overlap; sums over ranks need parts that do not
  const auto solution = setup_.begin(job_, data_->training(parts_share(job_, ranks_)), context);
  if (!solution || !ranks_.is_first()) return;
  warn_of_misfit(goodness_results(solution->goodness), log_);
  warn_of_doubts(*solution, log_);
  log_.info(core::text("the generator begins at the solution of the moments, found in ",
                       core::duration(solution->time_s)));
}

void InverseTask::begin(bool resumed) {
  if (!resumed) {
    begin_at_solution();
    check_equal_start(ranks_, setup_.gan.generator());
  }
  // rank 0 alone asks for all events again, at the end
  if (!ranks_.is_first() || (share_.sharded && ranks_.size() > 1)) data_.reset();
}

void InverseTask::begin_evaluations(bool all_wait, bool has_central) {
  evaluation_.emplace(ranks_, all_wait, has_central, setup_.gan, evaluator_,
                      env::ParameterSet(job_.inverse().workload->parameters()));
}

record::Evaluated InverseTask::after_failure() {
  return evaluator_.parameters(setup_.gan.predict(evaluator_.samples()));
}

// What the networks' answer is judged by: all events, and what the discriminators learned, where there
// is one for each channel, on those that were kept aside. Without all events, what this rank has.
env::Environment InverseTask::judges() {
  env::Environment seen = data_ ? data_->all() : environment_;
  if (setup_.gan.channels() != seen.channels.size()) return seen;
  for (std::size_t k = 0; k < seen.channels.size(); ++k) {
    seen.channels[k].features.push_back(setup_.gan.feature(k));
    seen.channels[k].held_out = environment_.channels[k].held_out;
  }
  return seen;
}

record::Results InverseTask::results(const env::Environment& all, const Training& training,
                                     const std::vector<RankRow>& rows, Timing& timing) {
  Oracle oracle;
  timing.begin("fit and chi2 beside the networks");
  if (training.failure)
    log_.info("the run failed: the results are those of the last good update, without a fit");
  else if (share_.sharded && ranks_.size() > 1)
    log_.info("no fit beside the trained values: no rank holds all events (ranks.data=sharded)");
  else if (job_.settings.run.fit)
    // what judges keep aside is among all events
    oracle = oracle_fit(job_, all, event_count(data_ ? data_->all() : environment_), log_);
  record::Results results = training_results(job_, environment_, training.record, oracle);
  results.numbers.push_back({"ranks", static_cast<double>(ranks_.size())});
  results.numbers.push_back({"analysis_rate", analysis_rate(rows)});
  for (const auto& number : training.record.last.ranks) results.numbers.push_back(number);
  if (!training.failure) judge_training(job_, all, results, log_);
  warn_of_remarks(all, log_);
  if (!job_.inverse().data.data.bootstrap) warn_of_equal_events(all, log_);
  return results;
}

record::Results InverseTask::write(RunOutputs& outputs, const Training& training,
                                   const std::vector<RankRow>& rows) {
  const auto every_proposal = train::gather(ranks_, setup_.gan.predict(stored_proposals));
  const auto weights = train::gather(ranks_, setup_.gan.predicting_weights());
  if (!ranks_.is_first()) return {};
  const torch::Tensor proposals = torch::stack(every_proposal).mean(0);
  record::Results results =
      this->results(training.failure ? environment_ : judges(), training, rows, outputs.timing());
  const record::RunDirectory& folder = outputs.folder();
  record::write_covariance(folder.path(), results);
  write_rows(folder.file(record::run_files::generator_samples.name), proposals);
  write_rows(folder.file(record::run_files::generator.name), torch::stack(weights));
  outputs.write(results, rows, [&] {
    if (training.failure) return std::string();  // figures need pipelines that work
    return draw_run_figures(folder, job_, environment_, results, proposals, evaluator_, log_);
  });
  return results;
}

}  // namespace sagips::run
