#include "sagips/study/simulated/simulation_plan.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/simulate/platform.hpp"
#include "sagips/study/grid.hpp"

namespace sagips::study {

namespace {

using core::ConfigError;
using core::text;

constexpr std::int64_t very_many_ranks = 1000;
constexpr double grows_like_the_ranks = 1.5;  // from half of them; a ring's messages double

// Names for what another name simulates already.
const std::map<std::string, std::string>& aliases() {
  static const std::map<std::string, std::string> all{{"arar", "ring"}, {"ensemble", "none"}};
  return all;
}

std::string plain_name(const std::string& exchange) {
  const auto found = aliases().find(exchange);
  return found == aliases().end() ? exchange : found->second;
}

std::vector<std::int64_t> ascending(std::vector<std::int64_t> ranks) {
  if (ranks.empty())
    throw ConfigError("--ranks", "names no number of ranks. Name some, e.g. 4,40,400.");
  check_named_once(ranks, "--ranks");
  std::sort(ranks.begin(), ranks.end());
  return ranks;
}

void check_name(const std::string& exchange, const std::string& where) {
  comm::known_exchanges().get(exchange, where);
  if (exchange == "auto")
    throw ConfigError(where,
                      "'auto' chooses by measuring this machine (simulated ranks have no "
                      "wall clock). Name the exchanges that it chooses from.");
}

[[noreturn]] void refuse_key(const std::string& key, const std::string& problem) {
  throw ConfigError("simulate.scenario." + key, problem);
}

// What would be taken and do nothing.
void check_scenario(const SimulatePlan& plan, const simulate::ScenarioConfig& scenario) {
  if (scenario.straggler >= plan.ranks.front())
    refuse_key("straggler",
               text("there is no rank ", scenario.straggler, " among ", plan.ranks.front(),
                    " (nobody would be slow there). Name a rank below ", plan.ranks.front(),
                    ", or leave out ", plan.ranks.front(), " ranks."));
  if (scenario.pause_s > 0 && scenario.pause_every == 0)
    refuse_key("pause_s", "is set and pause_every is not (there would be no pause). Set both.");
  if (scenario.pause_every > 0 && scenario.pause_s <= 0)
    refuse_key("pause_every", "is set and pause_s is not (pauses would take no time). Set both.");
  if (scenario.data_bytes > 0 && plan.platform.gpu_copy.bandwidth <= 0)
    refuse_key(
        "data_bytes",
        "costs nothing on this platform (its gpu_copy has no bandwidth). Copy the platform's "
        "file and set gpu_copy there.");
}

/// Makes a plan's ways.
class Planner {
 public:
  Planner(const run::Job& job, SimulatePlan& plan)
      : job_(job), config_(job.of<SimulateConfig>()), plan_(plan) {
    for (const std::string& name : config_.unfused) {
      check_name(name, "simulate.unfused");
      unfused_.insert(plain_name(name));
    }
    for (const std::string& name : config_.exchanges) {
      check_name(name, "--exchanges");
      if (is_late() && !can_be_late(name))
        throw ConfigError("--exchanges", text("'", name, "' ", why_never_late, ". Leave it out."));
    }
    check_named_once(config_.exchanges, "--exchanges");
    names_ = config_.exchanges.empty() ? all_names() : config_.exchanges;
  }

  void plan() {
    for (const std::string& name : names_) {
      plan_exchange(name);
      if (!is_late() && !can_be_late(name))
        plan_.left_out.push_back(
            text(name, " is not simulated one update late: it ", why_never_late));
    }
    plan_stragglers();
  }

 private:
  static constexpr const char* why_never_late =
      "waits in MPI_Allreduce when it is simulated (it would hide nothing behind computation)";

  void plan_stragglers() {
    const std::int64_t ranks =
        std::min({config_.straggler_ranks, plan_.ranks.back(), plan_.platform.most_ranks()});
    if (!config_.stragglers || ranks < 3) return;  // the slow one, and others with a lowest rate
    for (const std::string& name : names_)
      if (const auto way = way_of(name, true, ranks)) plan_.with_stragglers.push_back(*way);
    const std::int64_t groups_of = job_.settings.exchanges.grouped.group_size;
    plan_.has_followers = (groups_of > 0 ? groups_of : plan_.platform.ranks_per_node) > 1;
    if (!plan_.has_followers)
      plan_.left_out.push_back("a slow follower is left out: every rank leads its group of one");
  }

  bool all() const { return config_.exchanges.empty(); }
  bool is_late() const {
    return config_.scenario.overlap == simulate::ScenarioConfig::Overlap::one_update_late;
  }

  std::vector<std::string> all_names() {
    const comm::Grouped::Config& grouped = job_.settings.exchanges.grouped;
    std::vector<std::string> names;
    for (const std::string& name : comm::known_exchanges().names()) {
      std::string why;
      if (name == "auto") why = "it chooses by measuring this machine";
      if (is_late() && !can_be_late(name)) why = text("it ", why_never_late);
      if (plain_name(name) != name) why = "it is " + plain_name(name);
      if (name == "grouped" && grouped.inner == "ring" && grouped.outer == "ring")
        why = "with these settings it is arar_arar";
      if (why.empty())
        names.push_back(name);
      else
        plan_.left_out.push_back(text(name, " is left out: ", why));
    }
    return names;
  }

  void plan_exchange(const std::string& name) {
    for (const bool fused : {false, true}) {
      if (!fused && unfused_.count(plain_name(name)) == 0) continue;
      std::vector<std::int64_t> too_many;
      for (const std::int64_t ranks : plan_.ranks) {
        const auto way = way_of(name, fused, ranks);
        if (!way) continue;
        if (all() && ranks >= very_many_ranks && grows(*way))
          too_many.push_back(ranks);
        else
          plan_.ways.push_back(*way);
      }
      if (!too_many.empty())
        plan_.left_out.push_back(text(
            name, fused ? "" : ", tensor by tensor", " is left out from ", too_many.front(),
            " ranks on: its messages grow like the ranks (--exchanges names it all the same)"));
    }
  }

  bool grows(const SimulatedWay& way) const {
    const ExchangeFacts half = exchange_facts(way.exchange, job_.settings.exchanges, plan_.platform,
                                              way.ranks / 2, plan_.floats());
    return way.facts.busiest > grows_like_the_ranks * half.busiest;
  }

  // What was named must run; of all, those that can.
  std::optional<SimulatedWay> way_of(const std::string& name, bool fused, std::int64_t ranks) {
    try {
      return SimulatedWay{
          name, fused, ranks,
          exchange_facts(name, job_.settings.exchanges, plan_.platform, ranks, plan_.floats())};
    } catch (const ConfigError& error) {
      if (!all()) throw;
      if (refused_.insert(name).second)
        plan_.left_out.push_back(text(name, " is left out at ", ranks, " ranks: ", error.what()));
      return std::nullopt;
    }
  }

  const run::Job& job_;
  const SimulateConfig& config_;
  SimulatePlan& plan_;
  std::vector<std::string> names_;
  std::set<std::string> unfused_, refused_;
};

}  // namespace

void SimulateConfig::fields(core::FieldList& list) {
  list.add(
      "exchanges", exchanges,
      "exchanges to simulate, also --exchanges; none: all that can run there, with --convergence "
      "rabenseifner and eight that wait less");
  list.add("unfused", unfused,
           "those of them that are simulated tensor by tensor, too, as the SAGIPS paper exchanges");
  list.add("ranks", ranks,
           "numbers of ranks, also --ranks; with --convergence 64 and 400 where none is named",
           core::Range::between(2, 1e6));
  list.add_path("platform", platform,
                "the cluster, also --platform: polaris, fat_tree, ethernet, one_node, or a file",
                simulate::known_platforms());
  list.add("epochs", epochs,
           "epochs of each simulation, rounded up to whole periods of its exchange; 0: as few as "
           "show it",
           core::Range::between(0, 1e6));
  list.add("at_once", at_once, "simulations side by side; 0: the cores",
           core::Range::between(0, 4096));
  list.group("scenario", scenario, "what a rank does beside its messages");
  list.add("paper_gain", paper_gain,
           "without scenario.compute_s and compute_from the computation of an epoch is set so that "
           "the ring, tensor by tensor, gains that from 4 to 400 ranks (SAGIPS paper, Sec. VI-C1: "
           "half of what grouping gains, which is some 80)",
           core::Range{1, 100, true, true});
  list.add_path("compute_from", compute_from,
                "a run folder whose measured epochs are the computation times; of networks that "
                "learn from rows one of a single rank, whose epochs are cut into steps");
  list.add("price_per_hour", price_per_hour,
           "of a rank's device, in any currency: what an epoch costs is told; 0: it is not",
           core::Range::at_least(0));
  list.add("late", late, "also simulate exact exchanges that are completed one update late");
  list.add("stragglers", stragglers,
           "also simulate one slow rank, as a leader and as a follower (scenario.slowdown)");
  list.add("straggler_ranks", straggler_ranks, "ranks of these simulations, at most",
           core::Range::between(2, 1e6));
  list.add("seeds", seeds, "with --convergence: of the trainings of each exchange",
           core::Range::between(0, 4294967295.0));
  list.add("as_floats", as_floats,
           "with --convergence: messages take the time of a network of so many shared numbers (the "
           "paper's: 51206); 0: their own",
           core::Range::between(0, 1e9));
}

std::string SimulatedWay::label() const {
  return fused ? exchange : exchange + ", tensor by tensor";
}

std::int64_t SimulatePlan::floats() const {
  return std::accumulate(step.tensors.begin(), step.tensors.end(), std::int64_t{0});
}

std::int64_t SimulatePlan::nodes(std::int64_t of_ranks) const {
  return (of_ranks + platform.ranks_per_node - 1) / platform.ranks_per_node;
}

SimulatePlan plan_simulations(const run::Job& job) {
  SimulatePlan plan;
  plan.ranks = ascending(job.of<SimulateConfig>().ranks);
  plan.platform = simulate::read_platform(job.of<SimulateConfig>().platform);
  plan.platform.check(plan.ranks.back());
  check_scenario(plan, job.of<SimulateConfig>().scenario);
  plan.step = job.problem->step_of_ranks(job);
  Planner(job, plan).plan();
  if (plan.ways.empty())
    throw ConfigError(
        "--ranks", text("no exchange is left at that many ranks (", core::join(plan.left_out, "; "),
                        "). Name some with --exchanges."));
  return plan;
}

}  // namespace sagips::study
