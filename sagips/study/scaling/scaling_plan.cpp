#include "sagips/study/scaling/scaling_plan.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include "sagips/comm/exchanges.hpp"
#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/study/grid.hpp"

namespace sagips::study {

namespace {

using core::ConfigError;
using core::text;
using Mode = ScalingConfig::Mode;

// How a learning rate follows the batch; the last one is linear after a warm-up.
constexpr std::array rate_rules{"none", "linear", "square_root", "warm_up"};

bool contains(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

void check_lists(const ScalingConfig& config) {
  check_named_once(config.ranks, "--ranks");
  check_named_once(config.exchanges, "--exchanges");
  check_named_once(config.batches, "--batches");
  check_named_once(config.rates, "--rates");
  check_named_once(config.launchers, "scaling.launchers");
  check_named_once(config.simulate, "--simulate");
  if (std::find(config.ranks.begin(), config.ranks.end(), 1) == config.ranks.end())
    throw ConfigError("--ranks",
                      "have no 1 (speed-up and efficiency are those against one rank of the same "
                      "machine). Add it.");
  const auto known = comm::known_exchanges();
  for (const std::string& exchange : config.exchanges) known.get(exchange, "--exchanges");
  const std::vector<std::string> rules(rate_rules.begin(), rate_rules.end());
  for (const std::string& rule : config.rates)
    if (!contains(rules, rule))
      throw ConfigError("--rates", text("there is no rule '", core::excerpt(rule), "'",
                                        core::suggestion(rule, rules), "."));
}

// What would be taken and do nothing.
void check_combinations(const ScalingConfig& config, std::int64_t own_batch) {
  const bool has_rates = config.rates != ScalingConfig{}.rates;
  if (has_rates && config.batches.empty())
    throw ConfigError("--rates",
                      "say how the learning rate follows the batch, and --batches names none. Name "
                      "some, or leave --rates out.");
  if (config.batches == std::vector{own_batch})
    throw ConfigError("--batches", text("name ", own_batch,
                                        " alone, which is the config's own and trained anyway. "
                                        "Name others."));
  if (config.ranks.size() == 1 && (!config.exchanges.empty() || !config.launchers.empty()))
    throw ConfigError("--ranks", "are 1 alone (one rank exchanges nothing). Add others.");
  if (!config.simulate.empty() && config.mode == Mode::strong)
    throw ConfigError("--simulate",
                      "takes the measured computation of one rank with its whole batch, and with "
                      "--mode strong ranks have parts of it. Take weak or both.");
}

/// A launcher's words that others do not have.
std::string own_words(const std::string& launcher, const std::vector<std::string>& all) {
  std::vector<std::string> own;
  for (const std::string& word : core::split(launcher, ' ')) {
    const bool is_common = std::all_of(all.begin(), all.end(), [&](const std::string& other) {
      const auto words = core::split(other, ' ');
      return std::find(words.begin(), words.end(), word) != words.end();
    });
    if (!is_common) own.push_back(word);
  }
  return own.empty() ? "as usual" : core::join(own, " ");
}

std::string file_name(std::string label) {
  for (char& letter : label)
    if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
  return label;
}

/// Puts ways and their rows together.
class Planner {
 public:
  explicit Planner(const run::Job& job)
      : job_(job), config_(job.of<ScalingConfig>()), keys_(job.problem->step_keys()) {}

  WaysPlan plan() {
    plan_.add({"1 rank", "one_rank"}, {.series = "1 rank", .batch = keys_.size});
    const std::vector<std::string> exchanges =
        config_.exchanges.empty() ? std::vector{job_.settings.exchange} : config_.exchanges;
    const std::vector<std::string> launchers =
        config_.launchers.empty() ? std::vector{std::string()} : config_.launchers;
    for (const std::string& exchange : exchanges)
      for (const std::string& launcher : launchers)
        for (const bool divided : {false, true}) {
          if (config_.mode != Mode::both && divided != (config_.mode == Mode::strong)) continue;
          for (const std::int64_t ranks : config_.ranks)
            if (ranks > 1) add_ranks(exchange, launcher, divided, ranks);
        }
    for (const std::string& rule : config_.rates)
      for (const std::int64_t batch : config_.batches) add_batch(batch, rule);
    return std::move(plan_);
  }

 private:
  void add_ranks(const std::string& exchange, const std::string& launcher, bool divided,
                 std::int64_t ranks) {
    TrainingWay way{.ranks = ranks, .launcher = launcher};
    if (!config_.exchanges.empty()) way.assignments.push_back("exchange=" + exchange);
    std::int64_t batch = keys_.size;
    if (divided) {
      batch = divided_batch(ranks);
      way.assignments.push_back(text(keys_.batch, "=", batch));
    }
    std::string series = exchange;
    if (divided) series += ", batch divided";
    if (config_.launchers.size() > 1) series += ", " + own_words(launcher, config_.launchers);
    way.label = text(series, ", ", ranks, " ranks");
    way.name = file_name(text(series, " ranks ", ranks));
    plan_.add(std::move(way), {.series = series, .batch = batch});
  }

  std::int64_t divided_batch(std::int64_t ranks) const {
    if (keys_.batch.empty()) refuse_batches("--mode");
    if (keys_.size % ranks == 0) return keys_.size / ranks;
    throw ConfigError("--mode", text(keys_.batch, "=", keys_.size, " cannot be divided among ",
                                     ranks, " ranks. Take one that can, or --mode weak."));
  }

  void add_batch(std::int64_t batch, const std::string& rule) {
    if (keys_.batch.empty()) refuse_batches("--batches");
    TrainingWay way{.label = text("batch ", batch, ", rate: ", rule)};
    if (batch == keys_.size) return;  // one rank trains it anyway
    way.name = file_name(text("batch ", batch, " rate ", rule));
    way.assignments.push_back(text(keys_.batch, "=", batch));
    const double ratio = static_cast<double>(batch) / static_cast<double>(keys_.size),
                 factor = rule == "none"          ? 1
                          : rule == "square_root" ? std::sqrt(ratio)
                                                  : ratio;
    for (const auto& [key, rate] : keys_.rules) {
      if (rule != "none")
        way.assignments.push_back(text(key, ".learning_rate=", core::round_trip(rate * factor)));
      if (rule == "warm_up")
        way.assignments.push_back(text(key, ".warm_up=", config_.warm_up * steps(batch)));
    }
    plan_.add(std::move(way), {.batch = batch, .rates = rule});
  }

  // Of an epoch of one rank.
  std::int64_t steps(std::int64_t batch) {
    if (steps_ == 0) steps_ = job_.problem->step_of_ranks(job_).steps(1);
    return std::max<std::int64_t>(1, steps_ * keys_.size / batch);
  }

  [[noreturn]] void refuse_batches(const std::string& option) const {
    throw ConfigError(option,
                      text("'", job_.settings.workload, "' is ", job_.problem->description(),
                           " (it has no key for its batch). Leave the option out."));
  }

  const run::Job& job_;
  const ScalingConfig& config_;
  const run::StepKeys keys_;
  std::int64_t steps_ = 0;
  WaysPlan plan_;
};

}  // namespace

void ScalingConfig::fields(core::FieldList& list) {
  list.add("ranks", ranks, "numbers of ranks, 1 among them; also --ranks",
           core::Range::between(1, 1e6));
  list.add("exchanges", exchanges, "exchanges to compare, also --exchanges; none: the config's");
  list.choice("mode", mode, {{"weak", Mode::weak}, {"strong", Mode::strong}, {"both", Mode::both}},
              "also --mode: each rank keeps the batch of one (weak), the batch is divided among "
              "them (strong), or one after the other");
  list.add("launchers", launchers,
           "placements to compare: what starts several ranks, in place of ensemble.launcher, e.g. "
           "\"mpirun -n {ranks} --map-by socket\"; also --launcher, once for each");
  list.add("batches", batches, "further batches of one rank, also --batches",
           core::Range::between(1, 1e9));
  list.add("rates", rates,
           "how the learning rate follows those batches, also --rates: none, linear, square_root "
           "(Krizhevsky, arXiv 1404.5997), warm_up (linear, after warm_up epochs: Goyal et al., "
           "arXiv 1706.02677)");
  list.add("warm_up", warm_up, "epochs in which rates=warm_up comes to its learning rate",
           core::Range::between(1, 1e6));
  core::needs(list, contains(rates, "warm_up"), "warm_up among rates", {"warm_up"});
  list.add("repeats", repeats, "trainings of each, which differ by their seeds; also --repeats",
           core::Range::between(1, 1e4));
  list.add("simulate", simulate,
           "further numbers of ranks, simulated on simulate.platform; also --simulate",
           core::Range::between(2, 1e6));
  list.add("metric", metric, "what accuracy is measured by; empty: early_stop.metric");
  list.add("target", target, "of the metric, also --target: when it is reached; null: none");
  list.add("price_per_hour", price_per_hour, "of a rank, in any currency; 0: not told",
           core::Range::at_least(0));
  list.add("power_W", power_W, "that a rank takes [W]; 0: not told", core::Range::at_least(0));
  list.add_paths("beside", beside,
                 "folders of other scaling studies to show beside this one, also --with");
  list.add("published", published,
           core::text("published efficiencies to show beside: ",
                      core::join(analysis::known_published(), ", "),
                      ", or a .csv file with columns label, ranks and efficiency"));
  list.choice("jobs", jobs, {{"none", Jobs::none}, {"slurm", Jobs::slurm}},
              "also --jobs: write job arrays for a batch system in place of training here; the "
              "same command gathers what they have done");
}

std::string scaling_metric(const run::Job& job) {
  const std::string& own = job.of<ScalingConfig>().metric;
  return own.empty() ? job.settings.early_stop.metric : own;
}

WaysPlan plan_scaling(const run::Workloads& workloads, const std::string& source,
                      const std::vector<std::string>& assignments, const run::Job& job) {
  const ScalingConfig& config = job.of<ScalingConfig>();
  check_lists(config);
  check_combinations(config, job.problem->step_keys().size);
  WaysPlan plan = Planner(job).plan();
  plan.study.study.kind = "scaling";
  plan.study.study.workload = job.settings.workload;
  plan.study.study.ranks = static_cast<int>(plan.most_ranks());
  read_ways(workloads, source, assignments, plan);
  plan.add_members(job, config.repeats);
  return plan;
}

}  // namespace sagips::study
