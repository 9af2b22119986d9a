#include "sagips/run/rank_agreement.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <sstream>

#include "sagips/core/error.hpp"
#include "sagips/core/hash.hpp"
#include "sagips/core/process/child_process.hpp"
#include "sagips/core/processors.hpp"
#include "sagips/core/text.hpp"
#include "sagips/core/version.hpp"

namespace sagips::run {

namespace {

std::uint64_t program_hash() {
  std::ifstream file(core::own_image(), std::ios::binary);
  std::string bytes(1 << 16, '\0');
  std::uint64_t hash = core::fnv1a(core::git_hash());
  while (file.read(bytes.data(), static_cast<std::streamsize>(bytes.size())) || file.gcount() > 0)
    hash = core::fnv1a({bytes.data(), static_cast<std::size_t>(file.gcount())}, hash);
  return hash;
}

// "train.epochs: 5" inside its groups, for the first line that differs.
std::string first_difference(const std::string& mine, const std::string& first) {
  std::istringstream left(mine), right(first);
  std::string a, b;
  std::vector<std::string> groups;
  while (true) {
    const bool more_a = static_cast<bool>(std::getline(left, a));
    const bool more_b = static_cast<bool>(std::getline(right, b));
    if (!more_a && !more_b) return "nothing that shows";
    const auto indent = a.find_first_not_of(' ');
    if (more_a && more_b && a == b) {
      if (indent != std::string::npos && !a.empty() && a.back() == ':') {
        groups.resize(indent / 2);
        groups.push_back(a.substr(indent, a.size() - indent - 1) + ".");
      }
      continue;
    }
    std::string prefix;
    if (indent != std::string::npos) groups.resize(std::min(groups.size(), indent / 2));
    for (const auto& group : groups) prefix += group;
    const auto trimmed = [](const std::string& line) {
      const auto start = line.find_first_not_of(' ');
      return start == std::string::npos ? std::string("nothing") : line.substr(start);
    };
    return core::text("'", prefix, trimmed(a), "' against '", prefix, trimmed(b), "'");
  }
}

}  // namespace

void check_agreement(comm::Ranks& ranks, const std::string& effective_config) {
  if (ranks.size() == 1) return;
  const auto programs = ranks.gather(program_hash());
  const auto rank = static_cast<std::size_t>(ranks.rank());
  if (programs[rank] != programs[0])
    throw core::ConfigError("command line",
                            "this rank runs another program than rank 0 (results would mix two "
                            "versions). Start all ranks from the same installation.");
  const std::string of_first = ranks.broadcast(effective_config);
  if (of_first != effective_config)
    throw core::ConfigError("command line",
                            core::text("this rank has another config than rank 0: ",
                                       first_difference(effective_config, of_first),
                                       ". Start all ranks with the same arguments and files."));
  ranks.gather(0);  // nobody goes on before all agree
}

void check_equal_start(comm::Ranks& ranks, const nn::Replica& replica) {
  const torch::Tensor weights = replica.weights().narrow(0, 0, replica.shared_size()).cpu();
  const auto all = ranks.gather(
      core::fnv1a({static_cast<const char*>(weights.const_data_ptr()), weights.nbytes()}));
  if (all[static_cast<std::size_t>(ranks.rank())] != all[0])
    throw core::Error(
        "this rank's networks begin with other weights than rank 0's (another LibTorch, or "
        "another kind of processor). Run all ranks on machines that are alike.");
}

// Ranks of a study are several jobs of one, which its launcher alone counts through.
int place_on_node(const comm::Ranks& ranks) {
  for (const char* const name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "PALS_LOCAL_RANKID"}) {
    double number = 0;
    if (const char* const given = std::getenv(name); given && core::parse_number(given, number))
      return static_cast<int>(number);
  }
  const auto& nodes = ranks.communicator().nodes();
  const auto own = nodes.begin() + ranks.rank();
  return static_cast<int>(std::count(nodes.begin(), own, *own));
}

int ranks_on_these_processors(comm::Ranks& ranks) {
  const cpu_set_t mine = core::allowed_processors();
  const auto hashes =
      ranks.gather(core::fnv1a({reinterpret_cast<const char*>(&mine), sizeof(mine)}));
  const auto& nodes = ranks.communicator().nodes();
  const auto own = static_cast<std::size_t>(ranks.rank());
  int sharing = 0;
  for (std::size_t rank = 0; rank < hashes.size(); ++rank)
    if (nodes[rank] == nodes[own] && hashes[rank] == hashes[own]) ++sharing;
  return sharing;
}

}  // namespace sagips::run
