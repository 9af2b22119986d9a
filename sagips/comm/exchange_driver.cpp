#include "sagips/comm/exchange_driver.hpp"

#include <algorithm>

#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {
double seconds(std::int64_t ns) { return static_cast<double>(ns) * 1e-9; }
}  // namespace

ExchangeDriver::ExchangeDriver(std::unique_ptr<Exchange> exchange, const Site& site, int index,
                               const std::string& subject)
    : exchange_(std::move(exchange)), site_(site), index_(index) {
  if (index < 0 || index >= RankStatus::exchanges)
    throw core::Error(core::text("exchange number ", index, " of a run cannot be told apart; ",
                                 RankStatus::exchanges, " can."));
  whom_.exchange = index;
  whom_.what = core::text("to the exchange of ", subject);
}

void ExchangeDriver::start(ReplicaView replica, Step step) {
  if (replica.gradients.size() != site_.floats)
    throw core::Error(core::text("a replica of ", replica.gradients.size(), " floats came ",
                                 whom_.what, ", which was made for ", site_.floats, "."));
  const std::int64_t now = site_.communicator->now_ns();
  step_ = step;
  whom_.call = ++totals_.calls;
  site_.timeout->status().begin_call(index_, whom_.call, now);
  flow_.begin(exchange_->gradients(replica, step));
  started_ns_ = site_.communicator->now_ns();
  over_ns_ = flow_.over() ? started_ns_ : 0;
  progress_ns_ = 0;
  totals_.exposed_s += seconds(started_ns_ - now);
}

void ExchangeDriver::progress() {
  site_.timeout->look_after();
  CentralWeights* const central = exchange_->central_weights();
  if (flow_.over() && central == nullptr) return;
  const std::int64_t now = site_.communicator->now_ns();
  if (central != nullptr) central->poll();
  const bool was_over = flow_.over();
  flow_.ready();
  const std::int64_t end = site_.communicator->now_ns(), spent = end - now;
  if (flow_.over() && !was_over) over_ns_ = end;
  progress_ns_ += spent;
  totals_.exposed_s += seconds(spent);
}

void ExchangeDriver::finish() {
  const std::int64_t now = site_.communicator->now_ns();
  // what came between start and now was hidden behind this rank's own work
  const std::int64_t until = flow_.over() ? over_ns_ : now;
  totals_.hidden_s += seconds(std::max<std::int64_t>(0, until - started_ns_ - progress_ns_));
  wait(step_, now);
}

void ExchangeDriver::after_update(ReplicaView replica, Step step) {
  const std::int64_t now = site_.communicator->now_ns();
  flow_.begin(exchange_->mix_weights(replica, step));
  if (!flow_.over())
    wait(step, now);
  else
    totals_.exposed_s += seconds(site_.communicator->now_ns() - now);
}

void ExchangeDriver::serve(ReplicaView replica, Step step, const std::function<void()>& meanwhile) {
  CentralWeights& central = *exchange_->central_weights();
  run(central.serve(replica, step),
      {.what = "to be served by", .count = [&central] { return central.steps_applied(); }},
      meanwhile);
}

void ExchangeDriver::close() {
  if (CentralWeights* const central = exchange_->central_weights())
    run(central->close(), {.what = "to the end of", .however_long = true});
}

void ExchangeDriver::look(std::span<float> into, CentralWeights::Look which) {
  if (CentralWeights* const central = exchange_->central_weights())
    run(central->look(into, which), {.what = "with central weights of"});
}

// Waits beside the calls that a step makes. Who serves may never have to wait, and shows no life between.
void ExchangeDriver::run(Task task, Timeout::Whom whom, const std::function<void()>& meanwhile) {
  site_.timeout->look_after();
  Flow flow(std::move(task));
  if (flow.over()) return;
  whom.exchange = whom_.exchange;
  whom.call = whom_.call;
  whom.what += " the exchange";
  for (const int rank : site_.all_ranks())
    if (rank != site_.communicator->rank()) whom.partners.push_back(rank);
  Until over([&] {
    if (meanwhile) meanwhile();
    return flow.ready();
  });
  site_.timeout->wait(over, whom);
}

void ExchangeDriver::wait(Step step, std::int64_t entered_ns) {
  if (flow_.over()) {
    totals_.exposed_s += seconds(site_.communicator->now_ns() - entered_ns);
    return;
  }
  whom_.partners = exchange_->partners(step);
  site_.timeout->wait(flow_, whom_);
  const std::int64_t end = site_.communicator->now_ns();
  const std::int64_t last =
      site_.timeout->status().last_began(whom_.partners, index_, whom_.call, entered_ns);
  const std::int64_t waited = std::min(end, last) - entered_ns;
  totals_.waiting_s += seconds(waited);
  totals_.exposed_s += seconds(end - entered_ns - waited);
}

ExchangeTotals ExchangeDriver::totals() const {
  ExchangeTotals totals = totals_;
  totals.traffic = *site_.traffic;
  totals.freshness = exchange_->freshness();
  return totals;
}

}  // namespace sagips::comm
