#include "sagips/comm/clock_offset.hpp"

namespace sagips::comm {

namespace {

void answer(Ranks& ranks, int asking, int rounds) {
  const int tag = tag_of(ControlTag::clock);
  for (int round = 0; round < rounds; ++round) {
    std::byte question{};
    Request asked = ranks.communicator().receive(asking, tag, bytes_of(question));
    ranks.timeout().wait(asked, {.partners = {asking}, .what = "to compare clocks"});
    std::int64_t now = ranks.communicator().now_ns();
    Request told = ranks.communicator().send(asking, tag, bytes_of(now));
    ranks.timeout().wait(told, {.partners = {asking}, .what = "to compare clocks"});
  }
}

ClockOffset ask(Ranks& ranks, int rounds) {
  const int tag = tag_of(ControlTag::clock);
  ClockOffset best;
  for (int round = 0; round < rounds; ++round) {
    std::byte question{};
    std::int64_t there = 0;
    const std::int64_t before = ranks.communicator().now_ns();
    Request asked = ranks.communicator().send(0, tag, bytes_of(question));
    Request told = ranks.communicator().receive(0, tag, bytes_of(there));
    ranks.timeout().wait(told, {.partners = {0}, .what = "to compare clocks"});
    const std::int64_t half = (ranks.communicator().now_ns() - before + 1) / 2;
    ranks.timeout().wait(asked, {.partners = {0}, .what = "to compare clocks"});
    if (round == 0 || half < best.uncertainty_ns) best = {there - before - half, half};
  }
  return best;
}

}  // namespace

ClockOffset clock_offset(Ranks& ranks, int rounds) {
  const std::vector<int>& nodes = ranks.communicator().nodes();
  ClockOffset own;
  for (int rank = 1; rank < ranks.size(); ++rank) {
    if (nodes[static_cast<std::size_t>(rank)] == nodes.front()) continue;
    if (ranks.is_first()) answer(ranks, rank, rounds);
    if (ranks.rank() == rank) own = ask(ranks, rounds);
  }
  return own;
}

}  // namespace sagips::comm
