// Prints the generated tables of docs/exchanges.md: what each exchange is, from the registry and the
// tags of its header, and what it costs, from its own `cost()`.
//
// usage: exchange_table names|costs SOURCE-FOLDER
#include <fstream>
#include <iomanip>
#include <iostream>
#include <map>
#include <optional>
#include <set>
#include <sstream>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "tests/comm/lockstep.hpp"

namespace sagips::comm::testing {
namespace {

constexpr std::size_t floats = 51206;  // the generator of the SAGIPS paper

/// The exchange whose header describes this one.
std::string described_by(const std::string& name) {
  static const std::map<std::string, std::string> others{{"ensemble", "none"},
                                                         {"arar", "ring"},
                                                         {"arar_arar", "grouped"},
                                                         {"rma_arar_arar", "grouped"}};
  const auto found = others.find(name);
  return found == others.end() ? name : found->second;
}

/// What stands behind `/// tag:` in the header of an exchange, lines joined.
std::string tag_of(const std::string& folder, const std::string& name, const std::string& tag) {
  const std::string path = core::text(folder, "/sagips/comm/exchanges/", name, ".hpp");
  std::ifstream file(path);
  if (!file) throw core::Error(core::text("there is no ", path, "."));
  const std::string opening = core::text("/// ", tag, ":"), more = "///      ";
  std::string line, found;
  while (std::getline(file, line)) {
    const bool continues = !found.empty() && line.rfind(more, 0) == 0;
    if (!continues && !found.empty()) return found;
    if (!continues && line.rfind(opening, 0) != 0) continue;
    const std::string words = line.substr(continues ? more.size() : opening.size());
    found += core::text(found.empty() ? "" : " ", words.substr(words.find_first_not_of(' ')));
  }
  throw core::Error(core::text(path, " has no line '", opening, "'."));
}

/// "3.2 / 0.66": messages and megabytes of the busiest rank, mean over a period.
std::string cost_of(const Variant& variant, int ranks) {
  std::optional<LockstepExchange> made;
  try {
    made.emplace(variant.name, variant.config, nodes_of(ranks, 4), floats, true);
  } catch (const core::ConfigError&) {
    return "one node only";
  }
  double messages = 0, bytes = 0;
  for (const auto& exchange : made->ranks) {
    Cost sum;
    for (std::int64_t epoch = 1; epoch <= exchange->period(); ++epoch)
      sum += exchange->cost(floats, {epoch});
    const auto period = static_cast<double>(exchange->period());
    messages = std::max(messages, static_cast<double>(sum.messages) / period);
    bytes = std::max(bytes, static_cast<double>(sum.bytes) / period);
  }
  if (messages == 0) return "0";
  std::ostringstream cell;
  cell << std::setprecision(3) << messages << " / " << bytes / 1e6;
  return cell.str();
}

const char* word(bool holds) { return holds ? "yes" : "no"; }

/// "yes | no | yes | yes": exact (or "rounded"), waits, repeats, resumes.
std::string promise_of(const Variant& variant) {
  if (variant.name == "auto") return "yes | yes | no | yes";  // takes its time to be made
  const int per_node = variant.name == "shared_node" ? 16 : 4;
  const LockstepExchange made(variant.name, variant.config, nodes_of(16, per_node), 1, true);
  const Promise promise = made.ranks.front()->promise();
  return core::text(promise.rounds ? "rounded" : word(promise.exact), " | ", word(promise.waits),
                    " | ", word(promise.repeats), " | ", word(promise.resumes));
}

std::string source_of(const std::string& folder, const std::string& name) {
  const std::string header = described_by(name);
  if (name != "arar" && name != "ensemble" && header != name) return "as `grouped`";
  return name == "auto" || name == "shared_node" ? "" : tag_of(folder, header, "source");
}

void print_names(const std::string& folder) {
  std::cout << "| exchange | what it is | when | exact | waits | repeats | resumes | source |\n"
               "|---|---|---|---|---|---|---|---|\n";
  const auto known = known_exchanges();
  std::set<std::string> seen;
  auto all = variants();
  all.push_back({"auto", "", {}});
  for (const Variant& variant : all) {
    if (!seen.insert(variant.name).second) continue;
    const ExchangeEntry& entry = known.get(variant.name, "exchange");
    std::cout << "| `" << variant.name << "` | " << entry.composition << " | " << entry.summary
              << " | " << promise_of(variant) << " | " << source_of(folder, variant.name) << " |\n";
  }
  for (const std::string& name : known.names())
    if (seen.count(name) == 0)
      throw core::Error(core::text("exchange '", name, "' is missing from variants()."));
}

void print_costs(const std::string& folder) {
  std::cout << "| exchange | cost | 2 ranks | 4 | 16 | 64 |\n|---|---|--:|--:|--:|--:|\n";
  std::string last;
  for (const Variant& variant : variants()) {
    const std::string header = described_by(variant.name);
    std::string formula = tag_of(folder, header, "cost");
    if (header != variant.name) formula = core::text("as `", header, "`");
    if (variant.name == last) formula = "";
    last = variant.name;
    std::cout << "| `" << variant.name << "`"
              << (variant.settings.empty() ? "" : ", " + variant.settings) << " | " << formula;
    for (const int ranks : {2, 4, 16, 64}) std::cout << " | " << cost_of(variant, ranks);
    std::cout << " |\n";
  }
}

}  // namespace
}  // namespace sagips::comm::testing

int main(int argc, char** argv) {
  try {
    const std::string what = argc == 3 ? argv[1] : "";
    if (what == "names")
      sagips::comm::testing::print_names(argv[2]);
    else if (what == "costs")
      sagips::comm::testing::print_costs(argv[2]);
    else
      throw sagips::core::Error("usage: exchange_table names|costs SOURCE-FOLDER");
  } catch (const std::exception& error) {
    std::cerr << "exchange_table: " << error.what() << '\n';
    return 1;
  }
}
