#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "bench/measuring.hpp"
#include "bench/straggler.hpp"
#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

// One rank computes five times slower: at what rate do the others go on?
// `mpirun -n 4 straggler_bench`; bench/README.md says what is measured and how.

namespace {

using namespace sagips;
using bench::Composition;
using bench::Ratios;
using Rule = comm::Grouped::Rule;

comm::ExchangesConfig pairs(Rule rule) {
  comm::ExchangesConfig config;
  config.grouped.group_size = 2;
  config.grouped.rule = rule;
  return config;
}

const std::vector<std::pair<Rule, std::string>> rules{
    {Rule::inner_then_outer_then_broadcast, "inner_then_outer_then_broadcast"},
    {Rule::inner_then_outer, "inner_then_outer"},
    {Rule::outer_only, "outer_only"}};

// Four ranks in groups {0, 1} and {2, 3}: 0 and 2 lead.
std::vector<Composition> compositions() {
  std::vector<Composition> all;
  all.push_back({"arar", "arar", pairs(rules.front().first), {1}});
  all.push_back({"arar_arar", "arar_arar", pairs(rules.front().first), {1}});
  for (const auto& rule : rules)
    all.push_back({"rma_arar_arar, " + rule.second, "rma_arar_arar", pairs(rule.first), {1, 3, 0}});
  comm::ExchangesConfig gossip;
  gossip.gossip.form = comm::Gossip::Form::one_sided;
  all.push_back({"gossip, one_sided", "gossip", gossip, {0, 1, 2, 3}});
  comm::ExchangesConfig one_sided = pairs(Rule::inner_then_outer);
  one_sided.grouped.inner = one_sided.grouped.outer = "rma_ring";
  all.push_back(
      {"grouped{rma_ring, rma_ring}, inner_then_outer", "grouped", one_sided, {0, 1, 2, 3}});
  return all;
}

void print(const std::vector<Ratios>& rows) {
  std::printf("%-48s %9s %5s %8s %8s %8s %8s\n", "", "epochs/s", "slow", "others", "to", "slow one",
              "fresh");
  for (const Ratios& row : rows)
    std::printf("%-48s %9.1f %5d %8.2f %8.2f %8.2f %8s\n", row.composition.c_str(), row.undisturbed,
                row.slow, row.others_minimum, row.others_maximum, row.slow_rank,
                row.fresh < 0 ? "-" : core::fixed(row.fresh, 2).c_str());
}

std::string as_csv(const std::vector<Ratios>& rows) {
  std::string lines =
      "composition,undisturbed_per_s,slow_rank,others_minimum,others_maximum,slow_ratio,fresh\n";
  for (const Ratios& row : rows)
    lines +=
        core::text('"', row.composition, "\",", core::fixed(row.undisturbed, 2), ",", row.slow, ",",
                   core::fixed(row.others_minimum, 4), ",", core::fixed(row.others_maximum, 4), ",",
                   core::fixed(row.slow_rank, 4), ",", core::fixed(row.fresh, 4), "\n");
  return lines;
}

void run(comm::Communicator& communicator, const bench::Options& options) {
  if (communicator.size() != 4)
    throw core::Error("straggler_bench wants 4 ranks (two groups of two). Use mpirun -n 4.",
                      core::ExitCode::bad_input);
  const bench::StragglerSettings settings{
      .floats = static_cast<std::size_t>(options.number("floats")),
      .compute_s = options.number("compute-ms") * 1e-3,
      .slowdown = options.number("slowdown"),
      .epochs = static_cast<std::int64_t>(options.number("epochs")),
      .repeats = static_cast<std::int64_t>(options.number("repeats"))};
  const bool speaks = communicator.rank() == 0;
  if (speaks)
    std::printf(
        "%s, %s\ngroups {0, 1} and {2, 3}, led by 0 and 2; %zu floats; %g ms of computing an "
        "epoch, one "
        "rank %g times slower\nepoch rates, disturbed / undisturbed: the least and the greatest of "
        "the "
        "other ranks, and the slow one's; medians of %lld repeats\n\n",
        bench::processor().c_str(), communicator.description().c_str(), settings.floats,
        settings.compute_s * 1e3, settings.slowdown, static_cast<long long>(settings.repeats));
  const std::vector<Ratios> rows = bench::straggle(communicator, compositions(), settings);
  if (!speaks) return;
  print(rows);
  if (!options.text("out").empty()) core::write_file(options.text("out"), as_csv(rows));
}

}  // namespace

int main(int argc, char** argv) {
  const auto communicator = comm::make_mpi_communicator();
  try {
    run(*communicator, bench::Options({{"floats", "51206"},
                                       {"compute-ms", "4"},
                                       {"slowdown", "5"},
                                       {"epochs", "60"},
                                       {"repeats", "3"},
                                       {"out", ""}},
                                      argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "straggler_bench: %s\n", error.what());
    communicator->abort(1);
  }
}
