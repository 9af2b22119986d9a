#include "sagips/comm/exchange_totals.hpp"

#include <type_traits>

namespace sagips::comm {

namespace {

// use: number. The order is that of checkpoints.
template <class Totals, class Use>
void each_number(Totals& totals, const Use& use) {
  use(totals.calls);
  use(totals.traffic.messages);
  use(totals.traffic.bytes);
  use(totals.exposed_s);
  use(totals.waiting_s);
  use(totals.hidden_s);
  use(totals.freshness.used);
  use(totals.freshness.dropped);
  use(totals.freshness.missing);
  use(totals.freshness.age_sum);
  use(totals.freshness.age_maximum);
  use(totals.copying_s);
}

}  // namespace

ExchangeTotals& ExchangeTotals::operator+=(const ExchangeTotals& other) {
  calls += other.calls;
  traffic += other.traffic;
  exposed_s += other.exposed_s;
  waiting_s += other.waiting_s;
  hidden_s += other.hidden_s;
  copying_s += other.copying_s;
  freshness += other.freshness;
  return *this;
}

ExchangeTotals& ExchangeTotals::operator-=(const ExchangeTotals& earlier) {
  const double age_maximum = freshness.age_maximum;
  const std::vector<double> taken_out = earlier.numbers();
  auto next = taken_out.begin();
  each_number(*this, [&next](auto& number) {
    number -= static_cast<std::remove_reference_t<decltype(number)>>(*next++);
  });
  freshness.age_maximum = age_maximum;
  return *this;
}

double ExchangeTotals::age_mean() const {
  return freshness.used > 0 ? freshness.age_sum / static_cast<double>(freshness.used) : 0;
}

std::vector<double> ExchangeTotals::numbers() const {
  std::vector<double> all;
  each_number(*this, [&all](auto number) { all.push_back(static_cast<double>(number)); });
  return all;
}

ExchangeTotals ExchangeTotals::of(const std::vector<double>& numbers) {
  ExchangeTotals totals;
  auto next = numbers.begin();
  each_number(totals, [&](auto& number) {
    if (next != numbers.end())
      number = static_cast<std::remove_reference_t<decltype(number)>>(*next++);
  });
  return totals;
}

}  // namespace sagips::comm
