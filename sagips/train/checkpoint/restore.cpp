#include "sagips/train/checkpoint/restore.hpp"

#include <algorithm>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/train/checkpoint/checkpoint_file.hpp"

namespace sagips::train {

namespace {

/// One rank's attempt at one checkpoint.
struct Attempt {
  std::optional<Restored> restored;
  std::string problem;
};

Attempt attempt(const record::CheckpointStore& store, const std::string& name, int rank,
                int kinds) {
  try {
    const record::CheckpointManifest manifest = store.manifest(name);
    const int ranks = static_cast<int>(manifest.parts.size());
    const int source = source_rank(rank, ranks, kinds);
    return {Restored{to_state(store.part(name, manifest, source)), manifest.epoch, manifest.time_s,
                     ranks},
            {}};
  } catch (const core::DataError& failure) {
    return {{}, failure.what()};
  }
}

}  // namespace

int source_rank(int rank, int ranks, int kinds) {
  const int kind = rank % kinds;
  const int alike = (ranks - kind + kinds - 1) / kinds;
  return kind + kinds * (rank / kinds % alike);
}

std::optional<Restored> restore(comm::Ranks& ranks, const record::CheckpointStore& store,
                                const std::function<void(const std::string&)>& warn, int kinds) {
  if (ranks.is_first()) store.clean();
  const std::string all_names =
      ranks.broadcast(ranks.is_first() ? core::join(store.names(), "\n") : std::string());
  std::vector<std::string> names;
  if (!all_names.empty()) names = core::split(all_names, '\n');
  std::string problem;
  for (std::size_t i = 0; i < names.size(); ++i) {
    Attempt own = attempt(store, names[i], ranks.rank(), kinds);
    const auto all = ranks.gather(own.restored ? 1 : 0);
    const auto bad = std::find(all.begin(), all.end(), 0U);
    if (bad == all.end()) {
      if (ranks.is_first())
        for (std::size_t damaged = 0; damaged < i; ++damaged) store.set_aside(names[damaged]);
      return std::move(own.restored);
    }
    problem = !own.problem.empty() ? own.problem
                                   : core::text(store.folder(), "/", names[i], ": rank ",
                                                bad - all.begin(), " cannot read its part.");
    if (ranks.is_first()) warn(core::text("a checkpoint cannot be used: ", problem));
  }
  if (names.empty()) return {};
  throw core::DataError(store.folder(),
                        core::text("none of the ", names.size(),
                                   " checkpoints can be used (the run cannot go on; the last "
                                   "reason: ",
                                   problem, "). Put copies back, or begin anew with --fresh."));
}

void forget(nn::State& state, const std::string& prefix) {
  std::erase_if(state, [&](const auto& entry) { return entry.first.rfind(prefix, 0) == 0; });
}

}  // namespace sagips::train
