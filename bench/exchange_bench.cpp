#include <algorithm>
#include <cstdio>
#include <exception>
#include <string>

#include "bench/measuring.hpp"
#include "bench/round_robin.hpp"
#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

// Every exchange at every size against MPI_Allreduce called directly: `mpirun -n N exchange_bench`.
// bench/README.md says what is measured and how.

namespace {

using namespace sagips;
using bench::Times;

// One float to 64 MiB in powers of eight, and the generator of the SAGIPS paper.
constexpr const char* all_sizes = "1,8,64,512,4096,32768,51206,262144,2097152,16777216";

std::vector<std::size_t> sizes_from(const std::string& text) {
  std::vector<std::size_t> sizes;
  for (const auto& word : bench::comma_list(text)) {
    double value = 0;
    if (!core::parse_number(word, value) || value < 1)
      throw core::Error(core::text("option '--sizes': '", word, "' is no number of floats."));
    sizes.push_back(static_cast<std::size_t>(value));
  }
  return sizes;
}

std::vector<std::string> exchanges_from(const std::string& text) {
  if (text == "all") return comm::known_exchanges().names();
  return bench::comma_list(text);
}

void print(const std::vector<Times>& times) {
  const Times& peer = times.front();
  std::printf("\n%zu floats, %lld rounds\n%-20s %12s %12s %12s %14s\n", peer.floats,
              static_cast<long long>(peer.rounds), "", "call, us", "loop, us", "inside, us",
              "peer / call");
  for (const Times& row : times)
    std::printf("%-20s %12.2f %12.2f %12.2f %14.2f%s\n", row.name.c_str(), row.call_s * 1e6,
                row.loop_s * 1e6, row.inside_s * 1e6, peer.call_s / row.call_s,
                row.promise.waits ? "" : "  never waits");
  std::fflush(stdout);
}

std::string as_csv(int ranks, const std::vector<Times>& times) {
  std::string lines;
  for (const Times& row : times)
    lines += core::text(ranks, ",", row.name, ",", row.promise.exact ? "yes" : "no", ",",
                        row.promise.waits ? "yes" : "no", ",", row.floats, ",", row.rounds, ",",
                        core::fixed(row.call_s * 1e6, 3), ",", core::fixed(row.loop_s * 1e6, 3),
                        ",", core::fixed(row.inside_s * 1e6, 3), "\n");
  return lines;
}

void run(comm::Communicator& communicator, const bench::Options& options) {
  const bool speaks = communicator.rank() == 0;
  if (speaks)
    std::printf("%s, %d ranks on %zu nodes%s, %s\n", bench::processor().c_str(),
                communicator.size(),
                static_cast<std::size_t>(
                    *std::max_element(communicator.nodes().begin(), communicator.nodes().end())) +
                    1,
                communicator.oversubscribed() ? " (more ranks than processors)" : "",
                communicator.description().c_str());
  std::string csv = "ranks,exchange,exact,waits,floats,rounds,call_us,loop_us,inside_us\n";
  for (const std::size_t floats : sizes_from(options.text("sizes"))) {
    const auto times =
        bench::measure(communicator, exchanges_from(options.text("exchanges")), floats,
                       {.rounds = static_cast<std::int64_t>(options.number("rounds")),
                        .seconds = options.number("seconds")});
    if (speaks) print(times);
    csv += as_csv(communicator.size(), times);
  }
  if (speaks && !options.text("out").empty()) core::write_file(options.text("out"), csv);
}

}  // namespace

int main(int argc, char** argv) {
  const auto communicator = comm::make_mpi_communicator();
  try {
    run(*communicator, bench::Options({{"sizes", all_sizes},
                                       {"rounds", "100"},
                                       {"seconds", "5"},
                                       {"exchanges", "all"},
                                       {"out", ""}},
                                      argc, argv));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "exchange_bench: %s\n", error.what());
    communicator->abort(1);
  }
}
