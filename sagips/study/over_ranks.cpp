#include "sagips/study/over_ranks.hpp"

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <span>

namespace sagips::study {

SignsOfLife::SignsOfLife(comm::Ranks& ranks)
    : thread_([&status = ranks.status(),
               period = std::chrono::nanoseconds(ranks.timeout().sign_period_ns())](
                  const std::stop_token& stop) {
        std::mutex mutex;
        std::unique_lock lock(mutex);
        std::condition_variable_any stopped;
        while (!stopped.wait_for(lock, stop, period, [&] { return stop.stop_requested(); }))
          status.beat();
      }) {}

std::vector<std::string> collect_texts(comm::Ranks& ranks, const std::string& mine) {
  const int tag = comm::tag_of(comm::ControlTag::study);
  comm::Communicator& communicator = ranks.communicator();
  const auto wait = [&](comm::Request request, int partner) {
    ranks.timeout().wait(request,
                         {.partners = {partner}, .what = "with its share", .however_long = true});
  };
  std::uint64_t length = mine.size();
  const auto as_length = std::as_writable_bytes(std::span(&length, 1));
  if (!ranks.is_first()) {
    wait(communicator.send(0, tag, as_length), 0);
    wait(communicator.send(0, tag, std::as_bytes(std::span(mine))), 0);
    return {};
  }
  std::vector<std::string> texts{mine};
  for (int from = 1; from < ranks.size(); ++from) {
    wait(communicator.receive(from, tag, as_length), from);
    texts.emplace_back(length, '\0');
    wait(communicator.receive(from, tag, std::as_writable_bytes(std::span(texts.back()))), from);
  }
  return texts;
}

}  // namespace sagips::study
