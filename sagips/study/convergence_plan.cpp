#include "sagips/study/convergence_plan.hpp"

#include <algorithm>

#include "sagips/comm/exchanges.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/study/grid.hpp"
#include "sagips/train/rank_exchange.hpp"

namespace sagips::study {

namespace {

using analysis::ConvergenceVariant;
using core::ConfigError;
using core::text;
using Batch = ConvergenceConfig::Batch;

constexpr const char* baseline = "all_reduce";

bool is_grouped(const std::string& exchange) {
  return exchange == "grouped" || exchange == "arar_arar" || exchange == "rma_arar_arar";
}

void check_outer_periods(const run::Job& job) {
  const ConvergenceConfig& config = job.of<ConvergenceConfig>();
  if (config.outer_periods.empty()) return;
  const auto& exchanges = config.exchanges;
  if (std::none_of(exchanges.begin(), exchanges.end(), is_grouped))
    throw ConfigError("--outer-periods",
                      "none of the exchanges has groups (a period of what?). Add arar_arar or "
                      "rma_arar_arar to --exchanges.");
  const std::int64_t size = job.settings.exchanges.grouped.group_size;
  if (size >= config.ranks ||
      (size == 0 && !may_have_several_nodes(job.of<EnsembleConfig>().launcher)))
    throw ConfigError("--outer-periods",
                      text("all ", config.ranks,
                           " ranks form one group (there is no outer exchange "
                           "whose period could matter). Set exchanges.grouped.group_size below "
                           "the number of ranks, e.g. to ",
                           std::max<std::int64_t>(1, config.ranks / 2), "."));
}

void check(const run::Job& job) {
  const ConvergenceConfig& config = job.of<ConvergenceConfig>();
  if (config.exchanges.empty())
    throw ConfigError("--exchanges", "names no exchange. Name some, e.g. all_reduce,arar_arar.");
  const auto known = comm::known_exchanges();
  for (const std::string& exchange : config.exchanges) known.get(exchange, "--exchanges");
  check_named_once(config.exchanges, "--exchanges");
  check_named_once(config.outer_periods, "--outer-periods");
  check_named_once(config.over_ranks, "--over-ranks");
  if (config.ranks == 1)
    throw ConfigError("--ranks",
                      "one rank has nobody to exchange with (all exchanges would be "
                      "alike). Take two or more.");
  check_outer_periods(job);
  if (job.settings.loop.snapshots < 2)
    throw ConfigError("train.snapshots",
                      "residuals over time need two snapshots or more of each training. Leave it "
                      "at 21, say.");
}

std::string folder_name(const ConvergenceVariant& variant) {
  if (variant.exchange.empty()) return "one_rank";
  std::string name = text(variant.exchange, "_ranks_", variant.ranks);
  if (variant.divided) name += "_divided";
  if (variant.outer_every) name += text("_h_", *variant.outer_every);
  return name;
}

/// Puts variants and groups together.
class Planner {
 public:
  explicit Planner(const run::Job& job) : job_(job), config_(job.of<ConvergenceConfig>()) {}

  ConvergencePlan plan() {
    compare_exchanges();
    for (const std::string& exchange : config_.exchanges)
      if (is_grouped(exchange)) scan_outer_period(exchange);
    if (!config_.over_ranks.empty())
      for (const std::string& exchange : config_.exchanges) scan_ranks(exchange);
    return std::move(plan_);
  }

 private:
  bool divided() const {
    return job_.inverse().gan.batch.over_ranks == optim::BatchConfig::OverRanks::divided;
  }

  void compare_exchanges() {
    ConvergencePlan::Group group{"exchanges", {}, {}};
    for (const std::string& exchange : config_.exchanges) {
      group.variants.push_back(variant({exchange, exchange, config_.ranks, divided()}));
      group.labels.push_back(exchange);
    }
    plan_.comparisons.push_back(std::move(group));
  }

  void scan_outer_period(const std::string& exchange) {
    if (config_.outer_periods.empty()) return;
    ConvergencePlan::Group group{"outer_period_" + exchange, {}, {}};
    for (const std::int64_t period : config_.outer_periods) {
      const std::string label = text(exchange, ", h = ", period);
      ConvergenceVariant one{label, exchange, config_.ranks, divided(), period};
      // what the comparison of exchanges trains anyway
      if (period == job_.settings.exchanges.grouped.outer_every) one.outer_every.reset();
      group.variants.push_back(variant(one));
      group.labels.push_back(label);
    }
    plan_.comparisons.push_back(std::move(group));
  }

  void scan_ranks(const std::string& exchange) {
    ConvergencePlan::Group scaling{"batch_scaling_" + exchange, {}, {}};
    std::int64_t most = 1;
    for (const std::int64_t ranks : config_.over_ranks) {
      if (ranks == 1) {
        scaling.variants.insert(scaling.variants.begin(), variant({"one rank", "", 1, false}));
        continue;
      }
      if (config_.batch != Batch::divided) variant({"", exchange, ranks, false});
      if (config_.batch == Batch::each) continue;
      const std::size_t number = variant({"", exchange, ranks, true});
      if (ranks < most) continue;
      if (most > 1) scaling.variants.pop_back();
      scaling.variants.push_back(number);
      most = ranks;
    }
    if (scaling.variants.size() < 2) return;
    for (const std::size_t number : scaling.variants)
      scaling.labels.push_back(plan_.variants[number].label);
    plan_.batch_scalings.push_back(std::move(scaling));
  }

  /// Its number; a new one when no variant trains the same.
  std::size_t variant(ConvergenceVariant one) {
    if (one.label.empty())
      one.label = text(one.exchange, ", ", one.ranks, " ranks", one.divided ? ", divided" : "");
    std::string series = one.ranks == 1 ? one.label : one.exchange;
    if (one.divided) series += ", batch divided";
    if (one.outer_every) series.clear();
    const std::size_t number =
        plan_.add({one.label, folder_name(one), one.ranks, assignments_of(one)},
                  {.series = series,
                   .batch = job_.inverse().gan.batch.samples / (one.divided ? one.ranks : 1)});
    if (number == plan_.variants.size()) plan_.variants.push_back(std::move(one));
    return number;
  }

  std::vector<std::string> assignments_of(const ConvergenceVariant& one) const {
    if (one.exchange.empty()) return {};
    std::vector<std::string> all{"exchange=" + one.exchange,
                                 text("batch.over_ranks=", one.divided ? "divided" : "each")};
    if (one.exchange == baseline && job_.inverse().gan.discriminator.exchange == "none")
      all.push_back(text("discriminator.exchange=", baseline));
    if (one.outer_every) all.push_back(text("exchanges.grouped.outer_every=", *one.outer_every));
    return all;
  }

  const run::Job& job_;
  const ConvergenceConfig& config_;
  ConvergencePlan plan_;
};

}  // namespace

void ConvergenceConfig::fields(core::FieldList& list) {
  list.add("exchanges", exchanges,
           "exchanges to compare, also --exchanges; all_reduce averages the discriminators' "
           "gradients, too, as Horovod does (the synchronous baseline)");
  list.add("ranks", ranks, "ranks of each member, also --ranks", core::Range::between(1, 1e6));
  list.add("members", members,
           "trainings of each variant, which differ by their seeds; also --members",
           core::Range::between(1, 1e5));
  list.add("outer_periods", outer_periods,
           "values of exchanges.grouped.outer_every to compare (h of the SAGIPS paper), also "
           "--outer-periods",
           core::Range::between(1, 1e9));
  list.add("over_ranks", over_ranks,
           "numbers of ranks to compare, also --over-ranks; with 1 among them there is something "
           "to gain over",
           core::Range::between(1, 1e6));
  list.choice(
      "batch", batch, {{"each", Batch::each}, {"divided", Batch::divided}, {"both", Batch::both}},
      "of the scan over ranks, also --batch: each rank draws batch.samples, they are divided "
      "among the ranks (SAGIPS paper, eq. (10)), or one after the other");
  list.add("redrawn", redrawn,
           "ensembles of redrawn members that give a suggested stop its uncertainty",
           core::Range::between(0, 1e6));
}

ConvergencePlan plan_convergence(const run::Workloads& workloads, const std::string& source,
                                 const std::vector<std::string>& assignments, const run::Job& job) {
  check(job);
  ConvergencePlan plan = Planner(job).plan();
  plan.study.study.kind = "convergence";
  plan.study.study.workload = job.settings.workload;
  plan.study.study.ranks = static_cast<int>(job.of<ConvergenceConfig>().ranks);
  read_ways(workloads, source, assignments, plan, [](const run::Job& one, std::int64_t ranks) {
    one.inverse().gan.batch.samples_of_rank({0, ranks});
  });
  plan.add_members(job, job.of<ConvergenceConfig>().members);
  return plan;
}

}  // namespace sagips::study
