#include "sagips/study/tune/next_trial.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/search/search_numbers.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::study {

namespace {

using State = record::TrialEnd::State;
constexpr std::size_t most_numbers = 10;  // that a Gaussian process is asked for by itself

std::string searcher_for(const TuneConfig& config, const optim::SearchSpace& space) {
  if (config.searcher == "evolution" && !space.is_numeric())
    throw core::ConfigError("tune.searcher",
                            "evolution moves numbers, and tune.space has words without order or "
                            "keys that count only at times. Choose another searcher, e.g. tpe.");
  if (config.searcher != "auto") return config.searcher;
  return space.is_numeric() && space.size() <= most_numbers ? "bayesian" : "tpe";
}

std::vector<optim::Point> named_points(const TuneConfig& config, const SettingSpace& space) {
  std::vector<optim::Point> points;
  for (std::size_t i = 0; i < config.points.size(); ++i) {
    std::vector<std::string> settings;
    for (const std::string& one : core::split(config.points[i], ',')) {
      const auto equals = one.find('=');
      const std::string key = core::trim(one.substr(0, equals));
      settings.push_back(equals == std::string::npos
                             ? key
                             : core::text(key, "=", core::trim(one.substr(equals + 1))));
      if (std::find(space.keys().begin(), space.keys().end(), key) == space.keys().end())
        throw core::ConfigError(core::text("tune.points.", i),
                                core::text("'", core::excerpt(key), "' is no key of tune.space",
                                           core::suggestion(key, space.keys())));
    }
    const auto point = space.point(settings);
    if (!point)
      throw core::ConfigError(core::text("tune.points.", i),
                              core::text("'", core::excerpt(config.points[i]),
                                         "' is no point of tune.space: every key that counts needs "
                                         "a value in its range."));
    points.push_back(*point);
  }
  return points;
}

std::vector<optim::Trial> trials_of_earlier(const TuneConfig& config, const SettingSpace& space) {
  std::vector<optim::Trial> found;
  if (config.warm_start.empty()) return found;
  const std::string folder =
      core::text(config.warm_start, "/", record::run_files::trials.name, "/records");
  if (!std::filesystem::is_directory(folder))
    throw core::ConfigError("tune.warm_start",
                            core::text(config.warm_start, " holds no study of `sagips tune` (",
                                       folder, " is missing). Name the folder of one."));
  record::TrialStore store(folder, config.lease_s);
  for (const auto& [number, trial] : store.read())
    if (trial.end && trial.end->state == State::done)
      if (const auto point = space.point(trial.claim.settings))
        found.push_back({*point, score_of(trial, config)});
  return found;
}

}  // namespace

NextTrial::NextTrial(const TuneConfig& config, std::uint64_t seed, std::int64_t epochs)
    : config_(config),
      space_(config.space),
      stream_(seed, "settings"),
      named_(named_points(config, space_)),
      earlier_(trials_of_earlier(config, space_)),
      searcher_(
          optim::setting_searchers_of(config.searchers)
              .get(searcher_for(config, space_.space()), "tune.searcher")(
                  {.space = space_.space(),
                   .seed = seed,
                   .trials = config.all_trials() + static_cast<std::int64_t>(earlier_.size())})) {
  if (config.population.members > 0 && epochs < config.population.legs)
    throw core::ConfigError("tune.population.legs",
                            core::text("are more than the training has epochs (", epochs,
                                       "). Lower them, or raise train.epochs."));
  const auto members = static_cast<std::size_t>(config.population.members);
  if (searcher_->size() < members && searcher_->size() + named_.size() < members)
    throw core::ConfigError("tune.searcher",
                            core::text(searcher_for(config, space_.space()), " has ",
                                       searcher_->size(), " points, and each of ", members,
                                       " members of the population begins at one. Choose another "
                                       "searcher, or fewer members."));
}

std::int64_t NextTrial::all_trials() const {
  if (config_.population.members > 0) return config_.all_trials();  // legs follow
  const std::size_t own = searcher_->size();
  const auto all = static_cast<std::size_t>(config_.all_trials());
  return static_cast<std::int64_t>(own < all ? std::min(all, named_.size() + own) : all);
}

std::optional<optim::Point> NextTrial::searched(const Trials& trials) {
  if (trials.size() < named_.size()) return named_[trials.size()];
  const bool all = searcher_->takes_others();
  std::vector<optim::Trial> known;
  if (all) known = earlier_;
  for (const auto& [number, trial] : trials) {
    if (!all && number <= static_cast<std::int64_t>(named_.size())) continue;
    known.push_back({trial.claim.point});
    if (trial.end) known.back().score = score_of(trial, config_);
  }
  std::vector<optim::Point> points = searcher_->ask(known, 1);
  if (points.empty()) return {};  // a generation that is not over
  return space_.space().placed(std::move(points.front()));
}

optim::Point NextTrial::changed(const optim::Point& point, std::int64_t number) const {
  optim::SearchNumbers numbers(stream_.at_step(static_cast<std::uint32_t>(2 * number + 1)));
  optim::Point next = point;
  for (std::size_t i = 0; i < next.size(); ++i) {
    const bool anew = numbers.uniform() < config_.population.anew;
    const bool up = numbers.uniform() < 0.5;
    next[i] = anew ? numbers.uniform() : space_.changed(point, i, config_.population.change, up);
  }
  return space_.space().placed(std::move(next));
}

// The member that is least far and not at work goes on.
std::optional<record::TrialClaim> NextTrial::leg(const Trials& trials) const {
  const auto members = static_cast<std::size_t>(config_.population.members);
  std::vector<std::vector<const record::TrialRecord*>> legs(members);
  for (const auto& [number, trial] : trials)
    legs[static_cast<std::size_t>(trial.claim.member - 1)].push_back(&trial);
  std::size_t member = members;
  for (std::size_t one = 0; one < members; ++one) {
    if (!legs[one].empty() && !legs[one].back()->end) continue;
    if (member == members || legs[one].size() < legs[member].size()) member = one;
  }
  if (member == members || legs[member].size() == static_cast<std::size_t>(config_.population.legs))
    return {};
  record::TrialClaim claim{.number = static_cast<std::int64_t>(trials.size()) + 1,
                           .member = static_cast<std::int64_t>(member) + 1};
  const std::size_t leg = legs[member].size();
  if (leg == 0) return claim;                      // the searcher says where it begins
  std::vector<const record::TrialRecord*> ranked;  // all that have come as far
  for (const auto& one : legs)
    if (one.size() >= leg && one[leg - 1]->end) ranked.push_back(one[leg - 1]);
  const auto score = [this](const record::TrialRecord* one) { return score_of(*one, config_); };
  std::stable_sort(ranked.begin(), ranked.end(),
                   [&](const auto* a, const auto* b) { return score(a) < score(b); });
  const record::TrialRecord* before = legs[member].back();
  const auto place =
      static_cast<std::size_t>(std::find(ranked.begin(), ranked.end(), before) - ranked.begin());
  std::size_t moved = 0;
  if (config_.population.share > 0 && ranked.size() > 1)
    moved = std::max<std::size_t>(
        1, static_cast<std::size_t>(config_.population.share * static_cast<double>(ranked.size())));
  const bool gives_way = place + moved >= ranked.size() || !std::isfinite(score(before));
  claim.point = before->claim.point;
  if (gives_way && place > 0) {
    optim::SearchNumbers numbers(stream_.at_step(static_cast<std::uint32_t>(2 * claim.number)));
    before = ranked[numbers.below(std::max<std::size_t>(1, moved))];
    claim.point = changed(before->claim.point, claim.number);
  }
  if (before->end->state != State::failed) claim.from = before->claim.number;
  return claim;
}

std::optional<record::TrialClaim> NextTrial::operator()(const Trials& trials) {
  record::TrialClaim claim{.number = static_cast<std::int64_t>(trials.size()) + 1};
  if (claim.number > all_trials()) return {};
  const std::int64_t members = config_.population.members;
  if (members > 0) {
    const auto leg_claim = leg(trials);
    if (!leg_claim) return {};
    claim = *leg_claim;
  }
  if (claim.point.empty()) {
    const auto point = searched(trials);
    if (!point) return {};
    claim.point = *point;
  }
  claim.settings = space_.settings(claim.point);
  claim.trainings = config_.trainings();
  return claim;
}

std::int64_t end_of_leg(std::int64_t trial,
                        const std::map<std::int64_t, record::TrialRecord>& trials,
                        const TuneConfig& config, std::int64_t epochs) {
  if (config.population.members == 0) return 0;
  std::int64_t leg = 0;
  for (const auto& [number, one] : trials)
    leg += number <= trial && one.claim.member == trials.at(trial).claim.member ? 1 : 0;
  return epochs * leg / config.population.legs;
}

double score_of(const record::TrialRecord& trial, const TuneConfig& config) {
  const bool has_one = trial.end && trial.end->state != State::failed && trial.end->value &&
                       std::isfinite(*trial.end->value);
  return has_one ? config.score(*trial.end->value) : std::numeric_limits<double>::infinity();
}

const record::TrialRecord* best_trial(const std::map<std::int64_t, record::TrialRecord>& trials,
                                      const TuneConfig& config) {
  const record::TrialRecord* best = nullptr;
  double lowest = std::numeric_limits<double>::infinity();
  for (const auto& [number, trial] : trials) {
    const double score = score_of(trial, config);
    if (!(score < lowest) || trial.end->state != State::done) continue;
    lowest = score;
    best = &trial;
  }
  return best;
}

bool target_reached(const std::map<std::int64_t, record::TrialRecord>& trials,
                    const TuneConfig& config) {
  const record::TrialRecord* best = best_trial(trials, config);
  return config.target && best != nullptr &&
         config.score(*best->end->value) <= config.score(*config.target);
}

bool trials_are_left(const std::map<std::int64_t, record::TrialRecord>& trials,
                     const TuneConfig& config) {
  return !target_reached(trials, config) &&
         static_cast<std::int64_t>(trials.size()) < config.all_trials();
}

}  // namespace sagips::study
