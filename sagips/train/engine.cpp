#include "sagips/train/engine.hpp"

#include <algorithm>
#include <chrono>

#include "sagips/core/poll.hpp"
#include "sagips/core/text.hpp"
#include "sagips/train/operation_threads.hpp"

namespace sagips::train {

namespace {

// Events of a tile: enough that what LibTorch spends on starting its operations (about a millisecond
// a tile) is small beside the products, few enough that a stage's tensors stay in the cache.
constexpr std::int64_t tile_events = 12800, tile_events_of_several_threads = 6400;
constexpr std::int64_t end_pieces = 4;  // of each tile in the last round: threads end together
constexpr std::size_t usual_groups = 32;
constexpr std::int64_t accumulator_bytes = 64 << 20;  // all groups together, where threads allow

// Multiply-adds (forward) that a tile of its own is worth whatever the machine: below, to start its
// operations and to add up its gradients (0.3 to 0.8 ms) weighs more than 3 % where one thread takes
// all tiles. The number of tiles must not depend on how busy the machine is, or results would.
constexpr std::int64_t least_operations = 130'000'000;

using Clock = std::chrono::steady_clock;

std::int64_t ceil_divide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

}  // namespace

void EngineConfig::fields(core::FieldList& list) {
  list.add(
      "tile_samples", tile_samples,
      "parameter samples, or rows, evaluated at a time; results differ only by summation order; "
      "0: some ten thousand events or rows, cut so that threads end together",
      core::Range::between(0, 1e8));
}

std::vector<optim::Tile> Engine::tiles(const optim::Pass& pass, const optim::Batch& batch) const {
  std::vector<optim::Tile> tiles;
  const auto cut = [&](std::int64_t first, std::int64_t end, std::int64_t samples) {
    for (; first < end; first += samples)
      tiles.push_back({.index = static_cast<std::int64_t>(tiles.size()),
                       .first = first,
                       .samples = std::min(samples, end - first)});
  };
  if (batch.samples == 0) return tiles;  // a rank may have no row of a short batch
  const std::int64_t given = config_.tile_samples > 0 ? config_.tile_samples : pass.tile_samples;
  if (!pass.separable || given > 0 || config_.takes_whole_batches) {
    cut(0, batch.samples, pass.separable && given > 0 ? given : batch.samples);
    return tiles;
  }
  const std::int64_t threads = threads_worth(pass, batch);
  const std::int64_t events = threads > 1 ? tile_events_of_several_threads : tile_events;
  const std::int64_t most =
      std::max<std::int64_t>(1, events / std::max<std::int64_t>(1, batch.events));
  const std::int64_t rounds = ceil_divide(ceil_divide(batch.samples, most), threads);
  const std::int64_t samples = ceil_divide(batch.samples, rounds * threads);
  const std::int64_t whole =
      threads > 1 && rounds > 1 ? (rounds - 1) * threads * samples : batch.samples;
  cut(0, std::min(whole, batch.samples), samples);
  cut(whole, batch.samples, ceil_divide(samples, end_pieces));
  return tiles;
}

std::int64_t Engine::threads_worth(const optim::Pass& pass, const optim::Batch& batch) const {
  if (pass.operations == 0) return config_.threads;
  return std::clamp<std::int64_t>(pass.operations * batch.samples / least_operations, 1,
                                  config_.threads);
}

ThreadChoice* Engine::choice_for(const optim::Pass& pass, std::size_t groups) {
  const int most = static_cast<int>(std::min(groups, static_cast<std::size_t>(config_.threads)));
  if (!config_.chooses_threads || most < 2) return nullptr;
  ThreadChoice& choice = choices_.try_emplace(&pass, most).first->second;
  if (choice.most() < most) choice = ThreadChoice(most);
  return &choice;
}

std::string Engine::threads_that_pay() const {
  if (!config_.chooses_threads || config_.threads < 2) return {};
  std::string in_use;
  bool all = !choices_.empty();
  for (const auto& [pass, choice] : choices_) {
    all = all && choice.in_use() == config_.threads;
    in_use += core::text(in_use.empty() ? "" : ", ", choices_.size() > 1 ? pass->name + " " : "",
                         choice.in_use());
  }
  if (all) return {};
  return core::text(in_use.empty() ? "1" : in_use, " of ", config_.threads);
}

std::size_t Engine::group_count(std::span<nn::Replica* const> replicas, std::size_t tiles) const {
  std::int64_t bytes = 1;
  for (const nn::Replica* replica : replicas)
    bytes += replica->size() * static_cast<std::int64_t>(sizeof(float));
  const auto threads = static_cast<std::size_t>(config_.threads);
  const auto affordable = static_cast<std::size_t>(accumulator_bytes / bytes);
  return std::min(tiles, std::max(threads, std::min(std::max(usual_groups, threads), affordable)));
}

std::vector<nn::Leaves*> Engine::leaves_of(std::span<nn::Replica* const> replicas,
                                           std::size_t group) {
  std::vector<nn::Leaves*> leaves;
  for (nn::Replica* replica : replicas)
    leaves.push_back(group == 0 ? &replica->leaves() : &accumulators_[replica][group - 1]);
  return leaves;
}

torch::Tensor Engine::gradients(const optim::Pass& pass, std::span<optim::UpdateStep> steps,
                                optim::Batch& batch, const std::function<void()>& poll) {
  const std::vector<optim::Tile> tiles = this->tiles(pass, batch);
  std::vector<nn::Replica*> replicas;
  for (const std::size_t step : pass.steps) replicas.push_back(steps[step].replica);
  const std::size_t groups = group_count(replicas, tiles.size());
  for (nn::Replica* replica : replicas) {
    replica->zero_gradients();
    auto& others = accumulators_[replica];
    while (others.size() + 1 < groups) others.push_back(replica->make_leaves());
  }
  if (pass.prepare) pass.prepare(batch, static_cast<std::int64_t>(tiles.size()));

  std::vector<torch::Tensor> contributions(tiles.size());
  const std::function<void()> nothing;
  {
    const OperationThreads inside(tiles.size() == 1 ? static_cast<int>(threads_worth(pass, batch))
                                                    : 1);
    ThreadChoice* const choice = choice_for(pass, groups);
    const auto start = Clock::now();
    workers_.run(
        groups,
        [&](std::size_t group, const std::function<void()>& between) {
          const std::vector<nn::Leaves*> leaves = leaves_of(replicas, group);
          const std::size_t end = (group + 1) * tiles.size() / groups;
          const core::PollScope polled(config_.polls_within_tiles ? between : nothing);
          for (std::size_t i = group * tiles.size() / groups; i < end; ++i) {
            contributions[i] = pass.gradients(batch, tiles[i], leaves);
            polled.rethrow();
            if (between) between();
          }
        },
        poll, choice ? choice->next() : config_.threads);
    if (choice)
      choice->took(std::chrono::duration<double>(Clock::now() - start).count(), batch.samples);
  }

  for (nn::Replica* replica : replicas)
    for (std::size_t group = 1; group < groups; ++group)
      replica->collect(accumulators_[replica][group - 1]);
  const auto named = static_cast<std::int64_t>(pass.loss_names.size());
  torch::Tensor losses = torch::zeros(
      {named}, torch::dtype(torch::kFloat64).device(replicas.front()->weights().device()));
  if (named > 0 && !tiles.empty()) {
    losses = contributions[0].narrow(0, 0, named).clone();
    for (std::size_t i = 1; i < tiles.size(); ++i)
      losses.add_(contributions[i].narrow(0, 0, named));
  }
#ifndef NDEBUG
  for (nn::Replica* replica : replicas) {
    replica->check_views();
    for (const nn::Leaves& leaves : accumulators_[replica]) replica->check_views(leaves);
  }
#endif
  return losses;
}

}  // namespace sagips::train
