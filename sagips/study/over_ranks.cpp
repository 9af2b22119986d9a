#include "sagips/study/over_ranks.hpp"

#include <chrono>
#include <cstdint>
#include <span>
#include <thread>

#include "sagips/core/text.hpp"

namespace sagips::study {

namespace {

constexpr auto nap = std::chrono::milliseconds(10);

void wait(comm::Ranks& ranks, comm::Request request) {
  while (!request.ready()) {
    std::this_thread::sleep_for(nap);  // the others need the processors
    const int dead = ranks.status().dead_rank();
    if (dead >= 0)
      throw comm::CommError(core::text(ranks.status().name(dead),
                                       " has died (its process is gone). What it was to do is not "
                                       "done; the same command goes on."));
  }
}

}  // namespace

std::vector<std::string> collect_texts(comm::Ranks& ranks, const std::string& mine) {
  const int tag = comm::tag_of(comm::ControlTag::study);
  comm::Communicator& communicator = ranks.communicator();
  std::uint64_t length = mine.size();
  const auto as_length = std::as_writable_bytes(std::span(&length, 1));
  if (!ranks.is_first()) {
    wait(ranks, communicator.send(0, tag, as_length));
    wait(ranks, communicator.send(0, tag, std::as_bytes(std::span(mine))));
    return {};
  }
  std::vector<std::string> texts{mine};
  for (int from = 1; from < ranks.size(); ++from) {
    wait(ranks, communicator.receive(from, tag, as_length));
    texts.emplace_back(length, '\0');
    wait(ranks, communicator.receive(from, tag, std::as_writable_bytes(std::span(texts.back()))));
  }
  return texts;
}

}  // namespace sagips::study
