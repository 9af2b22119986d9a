#include "sagips/run/many_ranks.hpp"

#include <algorithm>
#include <memory>

#include "sagips/analysis/statistics.hpp"
#include "sagips/comm/ranks.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::run {

namespace {

using core::ConfigError;

double square(double number) { return number * number; }

// Ranks in their order, so that the sum is the same whoever came last.
double distance_from_mean(const std::vector<std::vector<float>>& weights) {
  const double ranks = static_cast<double>(weights.size());
  double sum = 0;
  for (std::size_t i = 0; i < weights.front().size(); ++i) {
    double mean = 0;
    for (const auto& of_rank : weights) mean += of_rank[i] / ranks;
    for (const auto& of_rank : weights) sum += square(of_rank[i] - mean) / ranks;
  }
  return sum;
}

}  // namespace

void ManyRanks::check(const Job& job) {
  const Settings& settings = job.settings;
  if (job.inverse().gan.generator.start != optim::GeneratorConfig::Start::random)
    throw ConfigError(
        "generator.start",
        "a training that begins at the solution has nowhere to converge to (simulated "
        "ranks compare how they get there). Set it to random.");
  if (settings.ranks.data != train::RankConfig::Data::distributed ||
      settings.ranks.channels != train::RankConfig::Channels::all)
    throw ConfigError("ranks",
                      "simulated ranks share one copy of the data (there is no file to read parts "
                      "of). Set ranks.data=distributed and ranks.channels=all.");
  if (settings.loop.epochs == 0)
    throw ConfigError("train.epochs",
                      "simulated trainings are compared after the same epochs (minutes of this "
                      "machine mean nothing there). Set train.epochs.");
  if (settings.loop.minutes > 0)
    throw ConfigError("train.minutes",
                      "simulated trainings have no limit of time (minutes of this machine mean "
                      "nothing there). Leave it at 0 and set train.epochs.");
  if (settings.early_stop.patience > 0)
    throw ConfigError(
        "early_stop.patience",
        "simulated trainings stop after train.epochs, all of them (learning curves of equal "
        "length are compared). Leave it at 0.");
  if (settings.exchange == "auto")
    throw ConfigError("exchange",
                      "auto measures this machine's time (a simulated network has its own). Name "
                      "the exchange, e.g. rabenseifner.");
  settings.loop.check();
}

ManyRanks::ManyRanks(const Job& job, int ranks)
    : job_(job),
      ranks_(static_cast<std::size_t>(ranks)),
      data_((check(job),
             problem::load_data(*job.inverse().workload, job.inverse().data, job.seed()))) {
  learning_curve_.exchange = job.settings.exchange;
  learning_curve_.ranks = ranks;
}

// As in `sagips train`, but for what is sent: the events are there already, once for all.
TrainingSetup ManyRanks::setup(const problem::RankPlace& place) const {
  problem::DataShare share;
  share.place = place;
  share.fraction = job_.settings.ranks.fraction.value_or(
      train::traits_of(job_.exchange_choice(), static_cast<int>(place.ranks)).data_fraction);
  return {job_, data_.training(share), job_.seed(), place};
}

std::int64_t ManyRanks::floats() {
  return setup({0, static_cast<std::int64_t>(ranks_)}).gan.generator().shared_size();
}

void ManyRanks::take_targets(const env::ParameterSet& parameters) {
  const std::scoped_lock lock(mutex_);
  if (!targets_.empty()) return;
  for (const std::size_t place : parameters.free()) {
    const env::Parameter& parameter = parameters.all()[place];
    if (!parameter.truth || *parameter.truth == 0) continue;
    targets_.push_back({static_cast<std::int64_t>(place), *parameter.truth});
    learning_curve_.parameters.push_back(parameter.name);
  }
  if (targets_.empty())
    throw ConfigError("parameters",
                      "no free parameter has a truth that is not 0 (residuals are relative to it). "
                      "Train on toy data: leave data.file empty.");
}

void ManyRanks::look(std::int64_t epoch, std::size_t rank, double time_s, optim::Gan& gan) {
  const torch::NoGradGuard no_grad;
  const torch::Tensor mean =
      gan.predict(job_.inverse().evaluation.samples).to(torch::kFloat64).mean(0).contiguous();
  RankPrediction prediction{time_s, {}};
  for (const Target& target : targets_)
    prediction.values.push_back(mean[target.place].item<double>());
  const nn::Replica& generator = gan.generator();
  const torch::Tensor weights = generator.weights().cpu();
  const std::scoped_lock lock(mutex_);
  Evaluation& evaluation = evaluations_[epoch];
  evaluation.predictions.resize(ranks_);
  evaluation.weights.resize(ranks_);
  evaluation.predictions[rank] = std::move(prediction);
  evaluation.weights[rank].assign(weights.data_ptr<float>(),
                                  weights.data_ptr<float>() + generator.shared_size());
  if (++evaluation.seen == static_cast<int>(ranks_)) settle(evaluation);
}

void ManyRanks::settle(Evaluation& evaluation) const {
  evaluation.consensus_distance = distance_from_mean(evaluation.weights);
  evaluation.weights.clear();
}

void ManyRanks::note_end(const train::RankExchange& exchange, std::int64_t epochs) {
  const std::scoped_lock lock(mutex_);
  for (const record::Exchanged& report : exchange.reports(epochs)) {
    if (report.subject != exchange.primary()) continue;
    learning_curve_.description = exchange.description();
    learning_curve_.exposed_s += (report.exposed_s + report.waiting_s) /
                                 static_cast<double>(epochs * static_cast<std::int64_t>(ranks_));
    learning_curve_.used += report.used;
    learning_curve_.dropped += report.dropped;
    learning_curve_.missing += report.missing;
    age_sum_ += report.age_mean * static_cast<double>(report.used);
    learning_curve_.age_maximum = std::max(learning_curve_.age_maximum, report.age_maximum);
  }
}

void ManyRanks::train(comm::Communicator& communicator, const SimulatedClock& clock) {
  comm::Ranks ranks(communicator);
  ranks.timeout().set_config({.timeout_s = job_.settings.ranks.timeout_s, .alarmed = {}});
  TrainingSetup setup = this->setup(train::place_of(job_.exchange_choice(), communicator));
  setup.loop.engine.threads = 1;  // ranks take turns
  setup.loop.engine.polls_within_tiles = false;
  take_targets(setup.environment.parameters);
  optim::Gan& gan = setup.gan;
  train::RankExchange exchange(ranks, gan, job_.exchange_choice(), job_.seed());
  ranks.gather(0);  // all begin together
  const double start_s = clock.now_s();

  train::Loop::Callbacks callbacks;
  callbacks.exchange = exchange.hooks();
  callbacks.agree = [&](std::int64_t epoch, const record::StopReason&) {
    if (!callbacks.exchange.serve) clock.compute(epoch + 1, callbacks.exchange.poll);
    return record::StopReason();
  };
  train::Loop* running = nullptr;
  callbacks.evaluate = [&] {
    look(running->epoch(), static_cast<std::size_t>(ranks.rank()), clock.now_s() - start_s, gan);
    return record::Evaluated{};
  };
  train::Loop loop(setup.loop, gan, callbacks);
  running = &loop;
  const train::LoopResult result = loop.run();
  if (callbacks.exchange.close) callbacks.exchange.close();
  note_end(exchange, result.epochs);
  if (ranks.is_first()) learning_curve_.floats = gan.generator().shared_size();
  ranks.gather(0);  // windows are read until the last one has ended
}

record::SimulatedLearningCurve::Point ManyRanks::point(std::int64_t epoch,
                                                       const Evaluation& evaluation) const {
  record::SimulatedLearningCurve::Point point;
  point.epoch = epoch;
  std::vector<double> times, all;
  for (const RankPrediction& prediction : evaluation.predictions)
    times.push_back(prediction.time_s);
  std::sort(times.begin(), times.end());
  point.time_s = analysis::quantile(times, 0.5);
  point.last_s = times.back();
  for (std::size_t i = 0; i < targets_.size(); ++i) {
    std::vector<double> residuals;
    for (const RankPrediction& prediction : evaluation.predictions)
      residuals.push_back((targets_[i].truth - prediction.values[i]) / targets_[i].truth);
    const double mean = analysis::mean(residuals);
    point.first.push_back(residuals.front());
    point.mean.push_back(mean);
    all.insert(all.end(), residuals.begin(), residuals.end());
    for (double& residual : residuals) residual -= mean;
    point.spread.push_back(analysis::root_mean_square(residuals));
  }
  point.typical = analysis::root_mean_square(all);
  point.consensus_distance = evaluation.consensus_distance;
  return point;
}

record::SimulatedLearningCurve ManyRanks::learning_curve() const {
  record::SimulatedLearningCurve curve = learning_curve_;
  for (const auto& [epoch, evaluation] : evaluations_)
    curve.points.push_back(point(epoch, evaluation));
  if (curve.used > 0) curve.age_mean = age_sum_ / static_cast<double>(curve.used);
  return curve;
}

}  // namespace sagips::run
