#include "sagips/simulate/exchanged_arrays.hpp"

#include <algorithm>
#include <numeric>

#include "sagips/comm/exchanges.hpp"

namespace sagips::simulate {

namespace {

comm::Cost times(std::uint64_t count, const comm::Cost& one) {
  return {count * one.messages, count * one.bytes};
}

}  // namespace

ExchangedArrays::ExchangedArrays(const ReplayConfig& config, comm::Ranks& ranks) {
  if (config.fused)
    add_part(config, ranks,
             static_cast<std::size_t>(
                 std::accumulate(config.tensors.begin(), config.tensors.end(), std::int64_t{0})));
  else
    for (const std::int64_t size : config.tensors)
      add_tensor(config, ranks, static_cast<std::size_t>(size));
  gradients_.resize(parts_.back().first + parts_.back().size);
  weights_.resize(gradients_.size());
}

void ExchangedArrays::add_tensor(const ReplayConfig& config, comm::Ranks& ranks, std::size_t size) {
  const auto same = std::find_if(parts_.begin(), parts_.end(),
                                 [&](const Part& part) { return part.size == size; });
  if (config.each_length_once && same != parts_.end())
    ++same->times;
  else
    add_part(config, ranks, size);
}

void ExchangedArrays::add_part(const ReplayConfig& config, comm::Ranks& ranks, std::size_t size) {
  const std::size_t first = parts_.empty() ? 0 : parts_.back().first + parts_.back().size;
  const comm::Site site = ranks.site(size, 1);
  parts_.push_back({first, size,
                    std::make_unique<comm::ExchangeDriver>(
                        comm::make_exchange(config.exchange, config.exchanges, site), site, 0,
                        "simulated gradients")});
}

comm::ReplicaView ExchangedArrays::view(const Part& part) {
  return {std::span(weights_).subspan(part.first, part.size),
          std::span(gradients_).subspan(part.first, part.size)};
}

void ExchangedArrays::progress() {
  for (const Part& part : parts_) part.driver->progress();
}

void ExchangedArrays::complete(const Part& part, comm::Step step) {
  part.driver->finish();
  const bool has_central = part.driver->exchange().central_weights() != nullptr;
  if (has_central || part.driver->exchange().updates(step))
    part.driver->after_update(view(part), step);
}

bool ExchangedArrays::computes() const {
  comm::CentralWeights* const central = parts_.front().driver->exchange().central_weights();
  return central == nullptr || central->computes();
}

void ExchangedArrays::serve(comm::Step step) {
  for (const Part& part : parts_) part.driver->serve(view(part), step);
}

void ExchangedArrays::close() {
  for (const Part& part : parts_) part.driver->close();
}

comm::Cost ExchangedArrays::cost(comm::Step step) const {
  comm::Cost cost;
  for (const Part& part : parts_)
    cost += times(part.times, part.driver->exchange().cost(part.size, step));
  return cost;
}

comm::Cost ExchangedArrays::sent() const {
  comm::Cost cost;
  for (const Part& part : parts_) cost += times(part.times, part.driver->totals().traffic);
  return cost;
}

// All parts of a rank have the same workers: the first one tells of each.
comm::Freshness ExchangedArrays::served() {
  comm::ExchangeDriver& driver = *parts_.front().driver;
  return driver.exchange().central_weights() ? driver.totals().freshness : comm::Freshness{};
}

std::uint64_t ExchangedArrays::updates_served() {
  comm::CentralWeights* const central = parts_.front().driver->exchange().central_weights();
  return central != nullptr ? central->updates_applied() : 0;
}

double ExchangedArrays::in_exchange_s() const {
  double seconds = 0;
  for (const Part& part : parts_) {
    const comm::ExchangeTotals totals = part.driver->totals();
    seconds += totals.exposed_s + totals.waiting_s;
  }
  return seconds;
}

}  // namespace sagips::simulate
