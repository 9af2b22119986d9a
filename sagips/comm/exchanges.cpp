#include "sagips/comm/exchanges.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/comm/exchanges/adasum.hpp"
#include "sagips/comm/exchanges/all_reduce.hpp"
#include "sagips/comm/exchanges/chunked_ring.hpp"
#include "sagips/comm/exchanges/lanes.hpp"
#include "sagips/comm/exchanges/none.hpp"
#include "sagips/comm/exchanges/rabenseifner.hpp"
#include "sagips/comm/exchanges/recursive_doubling.hpp"
#include "sagips/comm/exchanges/ring.hpp"
#include "sagips/comm/exchanges/shared_node.hpp"
#include "sagips/comm/topology.hpp"
#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

void ExchangesConfig::fields(core::FieldList& list) {
  list.choice(
      "learning_rate_scaling", learning_rate_scaling,
      {{"none", RateScaling::none},
       {"linear", RateScaling::linear},
       {"square_root", RateScaling::square_root}},
      "with an exact exchange: factor of the generator's or the network's learning rate, 1, "
      "the number of ranks, or its square root");
  list.choice("running_statistics", running_statistics,
              {{"kept", RunningStatistics::kept}, {"averaged", RunningStatistics::averaged}},
              "with an exact exchange: batch norm's means and variances are each rank's own (the "
              "first rank's are judged and saved), or are averaged over ranks at each update of "
              "their network");
  list.choice(
      "batch_norm", batch_norm,
      {{"each_rank", BatchNorm::each_rank}, {"over_ranks", BatchNorm::over_ranks}},
      "with exact exchanges: batch norms take means and variances over a rank's own rows of "
      "a batch, or over those of all ranks, which then meet in each such layer");
  core::needs(list, batch_norm == BatchNorm::each_rank, "batch_norm=each_rank",
              {"running_statistics"});
  list.choice("memory", memory, {{"host", Memory::host}, {"gpu", Memory::gpu}},
              "where gradients of GPUs are exchanged: host, in their machine's memory, for every "
              "exchange; gpu: they stay there, with exchange=all_reduce by NCCL, or by an MPI "
              "that reaches GPUs");
  list.group("compressed", compressed, "the mean with fewer bytes");
  list.group("double_tree", double_tree, "two trees");
  list.group("rma_ring", rma_ring, "one-sided ring");
  list.group("gossip", gossip, "weights mixed with one peer an epoch");
  list.group("grouped", grouped,
             "inner and outer exchange; arar_arar and rma_arar_arar set inner and outer");
  list.group("averaged", averaged, "an exchange with weights averaged now and then");
  list.group("served", served, "workers and central weights: Downpour, EASGD, GEM");
  list.group("auto", automatic, "the fastest exact exchange, measured at the start");
}

double ExchangesConfig::learning_rate_factor(int ranks) const {
  if (learning_rate_scaling == RateScaling::linear) return ranks;
  return learning_rate_scaling == RateScaling::square_root ? std::sqrt(ranks) : 1;
}

namespace {

using Ranks = std::vector<int>;
using Made = std::unique_ptr<Exchange>;
using Part = ExchangeEntry::Part;

ExchangeEntry part_of_another(const std::string& name, const std::string& where) {
  const auto known = known_exchanges();
  const ExchangeEntry& entry = known.get(name, where);
  if (entry.part == Part::no)
    throw core::ConfigError(where, core::text("exchange '", name,
                                              "' cannot be part of another (only those that move "
                                              "gradients, once a call, can). Use e.g. ring."));
  return entry;
}

Made make_part(const std::string& name, const ExchangesConfig& config, const Site& site,
               Ranks ranks, const std::string& where) {
  return part_of_another(name, where).make(config, site, std::move(ranks));
}

ExchangeEntry exact(ExchangeEntry entry) {
  entry.is_exact = true;
  return entry;
}

template <class Plain>
ExchangeEntry plain(std::string composition, std::string summary) {
  return {std::move(composition), std::move(summary), Part::yes,
          [](const ExchangesConfig&, const Site& site, Ranks ranks) -> Made {
            return std::make_unique<Plain>(site, std::move(ranks));
          }};
}

ExchangeEntry scheduled(const std::string& name, Schedule (*plan)(const Group&, std::size_t),
                        std::string composition, std::string summary) {
  return {std::move(composition), std::move(summary), Part::yes,
          [name, plan](const ExchangesConfig&, const Site& site, Ranks ranks) -> Made {
            const std::string description = core::text(name, " over ", ranks.size(), " ranks");
            return std::make_unique<ScheduledExchange>(Group(site, std::move(ranks)), description,
                                                       plan);
          }};
}

template <class Chosen, class Config>
ExchangeEntry configured(std::string composition, std::string summary,
                         Config ExchangesConfig::*member) {
  return {std::move(composition), std::move(summary), Part::yes,
          [member](const ExchangesConfig& config, const Site& site, Ranks ranks) -> Made {
            return std::make_unique<Chosen>(config.*member, site, std::move(ranks));
          }};
}

Made make_grouped(const Grouped::Config& grouped, const ExchangesConfig& config, const Site& site) {
  return std::make_unique<Grouped>(
      grouped, site, [&](const std::string& name, const Site& inner, Ranks ranks) {
        return make_part(name, config, inner, std::move(ranks), "exchanges.grouped");
      });
}

// The paper's modes name their parts; what remains comes from exchanges.grouped.
ExchangeEntry mode(const std::string& inner, std::string summary) {
  const std::string composition =
      core::text("grouped{inner: ", inner, " in each node, outer: ring of the leaders}");
  return {composition, std::move(summary), Part::no,
          [inner](const ExchangesConfig& config, const Site& site, const Ranks&) {
            Grouped::Config grouped = config.grouped;
            grouped.inner = inner;
            grouped.outer = "ring";
            return make_grouped(grouped, config, site);
          }};
}

Made make_averaged(const ExchangesConfig& config, const Site& site, const Ranks& ranks) {
  const auto known = known_exchanges();
  const std::string& name = config.averaged.inner;
  if (name == "averaged" || name == "auto" || name == "served")
    throw core::ConfigError("exchanges.averaged.inner",
                            core::text("'", name, "' cannot be averaged. Use e.g. arar_arar."));
  Made inner = known.get(name, "exchanges.averaged.inner").make(config, site, ranks);
  return std::make_unique<Averaged>(
      config.averaged, std::move(inner),
      make_part(config.averaged.mean, config, site, ranks, "exchanges.averaged.mean"));
}

Made make_served(const ExchangesConfig& config, const Site& site, const Ranks&) {
  const ExchangeEntry inner = part_of_another(config.served.inner, "exchanges.served.inner");
  return std::make_unique<Served>(config.served, site, [&](const Site& team, Ranks ranks) {
    return inner.make(config, team, std::move(ranks));
  });
}

Made make_auto(const ExchangesConfig& config, const Site& site, const Ranks& ranks) {
  const bool one_node = site.communicator->ranks_on_node() == site.communicator->size();
  std::vector<std::string> names{"recursive_doubling", "rabenseifner", "chunked_ring", "ring",
                                 "double_tree",        "all_reduce",   "lanes"};
  if (one_node) names.push_back("shared_node");  // last: a saved choice is a place in this list
  std::vector<Auto::Candidate> candidates;
  for (const auto& name : names)
    candidates.push_back({name, make_part(name, config, site, ranks, "exchange")});
  return std::make_unique<Auto>(config.automatic, site, std::move(candidates));
}

// Lanes over the given ranks: those of a node together.
Made make_lanes(const ExchangesConfig& config, const Site& site, const Ranks& ranks) {
  std::vector<std::vector<int>> groups;
  for (auto& group : make_groups(site.communicator->nodes(), config.grouped.group_size)) {
    std::erase_if(group, [&](int rank) {
      return std::find(ranks.begin(), ranks.end(), rank) == ranks.end();
    });
    if (!group.empty()) groups.push_back(std::move(group));
  }
  return lanes_over(site, std::move(groups));
}

void add_plain(core::Registry<ExchangeEntry>& known) {
  known.add("none", {"nothing", "every rank for itself", Part::yes,
                     [](const ExchangesConfig&, const Site&, const Ranks&) -> Made {
                       return std::make_unique<None>();
                     }});
  ExchangeEntry all_reduce =
      exact(plain<AllReduce>("the library's all-reduce over all ranks",
                             "the synchronous baseline (Horovod); every rank sees all events"));
  all_reduce.data_fraction = 1;
  all_reduce.is_of_library = true;
  known.add("all_reduce", std::move(all_reduce));
  known.add("ring",
            exact(plain<Ring>("whole arrays around a ring", "the paper's ring; up to four ranks")));
  known.add("chunked_ring",
            exact(scheduled("chunked_ring", chunked_ring, "pieces around a ring, twice",
                            "long arrays, few ranks, shared links")));
  known.add("rabenseifner",
            exact(scheduled("rabenseifner", rabenseifner, "recursive halving, then doubling",
                            "arrays of 0.1 to 10s of MB over many ranks: the usual choice")));
  known.add("recursive_doubling",
            exact(scheduled("recursive_doubling", recursive_doubling, "whole arrays between pairs",
                            "arrays below some 100 KB")));
  known.add("double_tree", exact(configured<DoubleTree>("half the array over each of two trees",
                                                        "long arrays over very many ranks",
                                                        &ExchangesConfig::double_tree)));
  known.add("shared_node", exact(plain<SharedNode>("through shared memory",
                                                   "all ranks on one node: the fastest there")));
  known.add("lanes",
            exact({"reduce-scatter in the node, all-reduces across, all-gather in the node",
                   "many ranks a node and many nodes", Part::yes, make_lanes}));
  known.add("rma_ring",
            configured<RmaRing>("one-sided reads around a ring",
                                "ranks of unequal speed in one node", &ExchangesConfig::rma_ring));
  ExchangeEntry gossip =
      configured<Gossip>("weights mixed with one peer an epoch",
                         "very many ranks; one-sided: of unequal speed", &ExchangesConfig::gossip);
  gossip.part = Part::no;  // moves no gradients
  known.add("gossip", std::move(gossip));
}

// What ranks end with is not the plain mean of all numbers.
void add_other_sums(core::Registry<ExchangeEntry>& known) {
  ExchangeEntry compressed =
      exact(configured<Compressed>("gradients with 16 bits a number, or the largest of them",
                                   "a slow network, long arrays", &ExchangesConfig::compressed));
  compressed.data_fraction = 1;
  known.add("compressed", std::move(compressed));
  ExchangeEntry adasum =
      plain<Adasum>("changes of weights, added where they differ and averaged where they agree",
                    "large batches, with one rank's learning rate");
  adasum.part = Part::no;  // moves no gradients
  adasum.data_fraction = 1;
  known.add("adasum", std::move(adasum));
}

void add_compositions(core::Registry<ExchangeEntry>& known) {
  known.add("grouped", {"grouped{inner, outer} of your choice",
                        "groups that talk often, leaders that talk now and then", Part::no,
                        [](const ExchangesConfig& config, const Site& site, const Ranks&) {
                          return make_grouped(config.grouped, config, site);
                        }});
  ExchangeEntry averaged{"averaged{inner, mean}", "any exchange, with drift between ranks bounded",
                         Part::no, make_averaged};
  averaged.inner = [](const ExchangesConfig& config) { return config.averaged.inner; };
  known.add("averaged", std::move(averaged));
  ExchangeEntry served{"workers and owners of central weights",
                       "Downpour, EASGD and GEM; masters, or every rank owns a piece", Part::no,
                       make_served};
  served.data_fraction = 1;
  served.serving_ranks = [](const ExchangesConfig& config, const std::vector<int>& nodes) {
    return config.served.serving_ranks(nodes);
  };
  known.add("served", std::move(served));
  known.add("auto", exact({"the fastest exact one", "when in doubt, and no rank is much slower",
                           Part::no, make_auto}));
  known.add("ensemble", {"none", "the paper's ensemble: independent runs, averaged at the end",
                         Part::no, known.get("none", "").make});
  known.add("arar", exact({"ring over all ranks", "the paper's conventional ARAR", Part::no,
                           known.get("ring", "").make}));
  known.add("arar_arar", mode("ring", "the paper's grouped mode"));
  known.add("rma_arar_arar", mode("rma_ring", "the paper's grouped mode with one-sided groups"));
}

}  // namespace

core::Registry<ExchangeEntry> known_exchanges() {
  core::Registry<ExchangeEntry> known("exchange");
  add_plain(known);
  add_other_sums(known);
  add_compositions(known);
  for (const std::string rule : {"downpour", "easgd", "gem"})
    known.add_foreign_name(rule, "served with exchanges.served.rule=" + rule);
  for (const char* name : {"allreduce", "horovod", "hvd", "ddp"})
    known.add_foreign_name(name, "all_reduce");
  for (const std::string form : {"float16", "bfloat16", "top_k"})
    known.add_foreign_name(form, "compressed with exchanges.compressed.form=" + form);
  known.add_foreign_name("fp16", "compressed");
  return known;
}

bool keeps_central_weights(const std::string& exchange) {
  const auto known = known_exchanges();
  return known.has(exchange) && known.get(exchange, "exchange").is_central();
}

std::unique_ptr<Exchange> make_exchange(const std::string& name, const ExchangesConfig& config,
                                        const Site& site, const std::string& where) {
  return known_exchanges().get(name, where).make(config, site, site.all_ranks());
}

}  // namespace sagips::comm
