#include "sagips/comm/exchanges/auto.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

void Auto::Config::fields(core::FieldList& list) {
  list.add("repeats", repeats, "times that each candidate is measured",
           core::Range::between(1, 100000));
}

double Auto::median_time(const Site& site, Exchange& exchange) const {
  std::vector<float> weights(site.floats), gradients(site.floats, 1.0F);
  std::vector<double> times;
  for (std::int64_t k = 0; k < config_.repeats + 2; ++k) {
    const std::int64_t start = site.communicator->now_ns();
    Flow flow(exchange.gradients({weights, gradients}, {1}));
    site.timeout->wait(flow, {exchange.partners({1}), 0, 0, "while exchanges were measured"});
    const std::int64_t spent = site.communicator->now_ns() - start;
    if (k >= 2) times.push_back(static_cast<double>(spent) * 1e-9);  // two to warm up
  }
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  return *middle;
}

Auto::Auto(const Config& config, const Site& site, std::vector<Candidate> candidates)
    : config_(config), candidates_(std::move(candidates)) {
  std::vector<double> mine;
  for (const Candidate& candidate : candidates_)
    mine.push_back(median_time(site, *candidate.exchange));
  const auto ranks = static_cast<std::size_t>(site.communicator->size());
  std::vector<double> all(mine.size() * ranks);
  site.communicator->all_gather(std::as_bytes(std::span(mine)),
                                std::as_writable_bytes(std::span(all)));
  times_s_.assign(mine.size(), 0);
  for (std::size_t i = 0; i < all.size(); ++i)
    times_s_[i % mine.size()] = std::max(times_s_[i % mine.size()], all[i]);
  choice_ = static_cast<std::size_t>(std::min_element(times_s_.begin(), times_s_.end()) -
                                     times_s_.begin());
  *site.traffic = {};  // measuring is not part of the run
}

Task Auto::gradients(ReplicaView replica, Step step) { co_await chosen().gradients(replica, step); }

std::string Auto::description() const {
  std::string text = core::text("auto: ", chosen().description(), ", of");
  for (std::size_t i = 0; i < candidates_.size(); ++i)
    text += core::text(i > 0 ? ", " : " ", candidates_[i].name, " ",
                       std::llround(times_s_[i] * 1e6), " us");
  return text;
}

void Auto::state(StateList& list) {
  std::vector<double> choice{static_cast<double>(choice_)};
  const bool is_there = list.gives() || list.count("auto.choice") == 1;
  if (is_there) list.field("auto.choice", choice);
  if (!is_there || !(choice[0] >= 0) || !(choice[0] < static_cast<double>(candidates_.size())))
    throw core::StateError("the state of exchange 'auto' holds no choice that is known here.");
  choice_ = static_cast<std::size_t>(choice[0]);
}

}  // namespace sagips::comm
