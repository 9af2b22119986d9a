#include "sagips/train/rank_exchange.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::train {

RankExchange::RankExchange(comm::Ranks& ranks, optim::Optimizer& optimizer,
                           const ExchangeChoice& choice, std::uint64_t seed)
    : ranks_(ranks) {
  for (optim::UpdateStep& step : optimizer.steps()) {
    const bool generator = step.name == "generator";
    const std::string& name = generator ? choice.generator : choice.discriminator;
    if (name == "none" && !generator) continue;
    const int index = static_cast<int>(links_.size());
    if (index >= comm::Board::exchanges)
      throw core::ConfigError("discriminator.exchange",
                              core::text("more than ", comm::Board::exchanges - 1,
                                         " discriminators cannot be exchanged. Set it to none."));
    const comm::Site site = ranks.site(static_cast<std::size_t>(step.replica->shared_size()), seed);
    auto exchange = comm::make_exchange(name, choice.config, site,
                                        generator ? "exchange" : "discriminator.exchange");
    links_[step.name] = {
        std::make_unique<comm::ExchangeDriver>(std::move(exchange), site, index,
                                               core::text("the ", step.name, "'s gradients")),
        name,
        {}};
  }
}

comm::ReplicaView RankExchange::view(optim::UpdateStep& step) {
  return {step.replica->shared_weights(), step.replica->shared_gradients()};
}

ExchangeHooks RankExchange::hooks() {
  ExchangeHooks hooks;
  hooks.gradients_ready = [this](optim::UpdateStep& step, std::int64_t epoch) {
    const auto link = links_.find(step.name);
    if (link == links_.end()) return;
    link->second.step = {epoch};
    link->second.driver->start(view(step), link->second.step);
  };
  hooks.before_update = [this](optim::UpdateStep& step) {
    const auto link = links_.find(step.name);
    if (link == links_.end()) return true;
    link->second.driver->finish();
    return link->second.driver->exchange().updates(link->second.step);
  };
  hooks.after_update = [this](optim::UpdateStep& step) {
    const auto link = links_.find(step.name);
    if (link != links_.end()) link->second.driver->after_update(view(step), link->second.step);
  };
  hooks.poll = [this] {
    for (auto& link : links_) link.second.driver->progress();
  };
  return hooks;
}

std::vector<record::Exchanged> RankExchange::reports(std::int64_t epoch) const {
  std::vector<record::Exchanged> reports;
  for (const auto& [subject, link] : links_) {
    const comm::ExchangeReport now = link.driver->report();
    record::Exchanged report;
    report.epoch = epoch;
    report.subject = subject;
    report.exchange = link.name;
    report.calls = static_cast<std::int64_t>(now.calls);
    report.messages = static_cast<std::int64_t>(now.traffic.messages);
    report.bytes = static_cast<std::int64_t>(now.traffic.bytes);
    report.exposed_s = now.exposed_s;
    report.waiting_s = now.waiting_s;
    report.hidden_s = now.hidden_s;
    report.used = static_cast<std::int64_t>(now.freshness.used);
    report.dropped = static_cast<std::int64_t>(now.freshness.dropped);
    report.missing = static_cast<std::int64_t>(now.freshness.missing);
    report.age_mean = now.freshness.used > 0
                          ? now.freshness.age_sum / static_cast<double>(now.freshness.used)
                          : 0;
    report.age_maximum = now.freshness.age_maximum;
    reports.push_back(report);
  }
  return reports;
}

bool RankExchange::waits() const {
  return std::any_of(links_.begin(), links_.end(), [this](const auto& link) {
    return link.second.driver->exchange().ever_waits(ranks_.rank());
  });
}

std::string RankExchange::description() const {
  std::vector<std::string> parts;
  for (const auto& [subject, link] : links_)
    parts.push_back(core::text(subject, ": ", link.driver->exchange().description()));
  return core::join(parts, "; ");
}

void RankExchange::state(nn::StateList& list) {
  for (auto& [subject, link] : links_) {
    comm::Exchange& exchange = link.driver->exchange();
    comm::State known;
    exchange.give_state(known);  // names and lengths; taking overwrites the values
    for (auto& [name, values] : known) list.field("exchange." + subject + "." + name, values);
    exchange.take_state(known);
  }
}

ExchangeTraits traits_of(const ExchangeChoice& choice, int ranks) {
  comm::known_exchanges().get(choice.generator, "exchange");
  comm::known_exchanges().get(choice.discriminator, "discriminator.exchange");
  if (ranks == 1) return {};
  const std::string inner =
      choice.generator == "averaged" ? choice.config.averaged.inner : choice.generator;
  if (inner != "all_reduce") return {.learning_rate_factor = 1, .data_fraction = 0.5};
  return {choice.config.all_reduce.learning_rate_factor(ranks), 1};
}

}  // namespace sagips::train
