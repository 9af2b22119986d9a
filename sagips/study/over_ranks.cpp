#include "sagips/study/over_ranks.hpp"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <span>

#include "sagips/comm/outbox.hpp"

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
  const auto letters = std::as_bytes(std::span(mine));
  std::vector<std::string> texts;
  for (const auto& text : comm::gather(ranks, comm::ControlTag::study,
                                       {letters.begin(), letters.end()}, "with its share"))
    texts.emplace_back(reinterpret_cast<const char*>(text.data()), text.size());
  return texts;
}

}  // namespace sagips::study
