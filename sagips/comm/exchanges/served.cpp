#include "sagips/comm/exchanges/served.hpp"

#include <algorithm>

#include "sagips/comm/arithmetic.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {

// Asynchronous workers wait for owners that compute for so small a part of a step.
constexpr std::int64_t computed_to_waited = 4;

}  // namespace

Served::Served(const Config& config, const Site& site, const MakeInner& make_inner)
    : config_(config),
      site_(site),
      plan_(config, site),
      group_(site, site.all_ranks(), 3),
      parents_(site, site.all_ranks(), 2) {
  for (const auto& ranks : plan_.teams) {
    std::unique_ptr<Exchange> inner;
    if (config.ranks_per_worker > 1) inner = make_inner(site, ranks);  // collective
    if (!contains(ranks, site.communicator->rank())) continue;
    if (inner && !inner->promise().exact)
      throw core::ConfigError("exchanges.served.inner",
                              core::text("'", config.inner,
                                         "' is not exact (the ranks of a worker would not stay the "
                                         "same). Use rabenseifner or ring."));
    team_.emplace(group_, 2, ranks, std::move(inner));
  }
  make_ends();
  make_ends_of_parents();
}

void Served::make_ends() {
  const int rank = site_.communicator->rank(), owners = static_cast<int>(plan_.owners.size());
  std::vector<int> clients = plan_.workers;
  for (const int owner : plan_.owners)
    if (owners > 1 && !contains(clients, owner)) clients.push_back(owner);  // who only looks
  std::vector<WeightClient::Owner> ends;
  for (int k = 0; k < owners; ++k)
    ends.push_back({plan_.owners[static_cast<std::size_t>(k)], piece(site_.floats, k, owners)});
  for (const WeightClient::Owner& end : ends)
    if (end.place == rank)
      own_.emplace(group_, clients, plan_.workers.size(), end.piece, config_, config_.synchronous,
                   site_);
  if (contains(clients, rank))
    worker_ = std::make_unique<WeightClient>(
        group_, ends, site_.floats,
        WeightClient::Config{config_.rule.sends_gradients(), config_.waits()}, server());
}

void Served::make_ends_of_parents() {
  if (plan_.parents.empty()) return;
  const std::size_t siblings = plan_.children.size();
  if (is_parent())
    own_.emplace(parents_, plan_.children, siblings, Piece{0, site_.floats}, config_, false, site_);
  if (contains(plan_.children, site_.communicator->rank()))
    sub_master_.emplace(parents_, site_.floats, config_, siblings, own_->server());
}

void Served::begin(std::span<const float> weights) {
  if (begun_) return;
  begun_ = true;
  resumed_ns_ = site_.communicator->now_ns();
  if (own_) own_->begin(weights);
}

template <class Work>
void Served::each_client(Work work) {
  if (worker_) work(*worker_);
  if (sub_master_) work(sub_master_->client());
}

// Whether more may have come.
bool Served::serve_clients() {
  if (site_.timeout != nullptr)
    each_client([period = site_.timeout->sign_period_ns()](WeightClient& client) {
      client.send_sign(period);
    });
  if (sub_master_ && begun_) sub_master_->report();
  return own_ && own_->server().poll();
}

void Served::pause() {
  each_client([](WeightClient& client) { client.expect_silence(); });
}

void Served::resume() { resumed_ns_ = site_.communicator->now_ns(); }

bool Served::is_idle() {
  return serves_until([this] {
    const bool has_heard = !worker_ || worker_->all_answered();
    return has_heard && (!own_ || !config_.synchronous || own_->server().has_sent());
  });
}

// Owners that compute answer between their layers, which is soon: who went on at once would have weights
// that are a step older. It does not depend on what becomes of an owner, neither that this rank goes on
// nor how much it loses: one that was late is not waited for until it is back.
bool Served::has_heard_enough(std::int64_t until_ns) {
  if (config_.rule.rule == CentralRuleConfig::Rule::newest)
    return true;  // takes nothing from answers
  if (serves_until([&] {
        return worker_->all_in_time_answered() || site_.communicator->now_ns() >= until_ns;
      }))
    return true;
  site_.communicator->wake_at(until_ns);
  return false;
}

Task Served::gradients(ReplicaView replica, Step step) {
  begin(replica.weights);
  poll();
  if (inner() != nullptr) co_await inner()->gradients(replica, step);
  if (!config_.rule.sends_gradients() || !leads()) co_return;
  if (config_.is_time(step))
    worker_->send_gradients(replica.gradients, step.progress);
  else
    worker_->collect(replica.gradients, 1, step.progress);
}

Task Served::mix_weights(ReplicaView replica, Step step) {
  if (has_team() && !config_.is_time(step))
    co_return;  // it stays the same on all ranks of the team
  const std::int64_t now = site_.communicator->now_ns();
  Until answered([this, until = now + (now - resumed_ns_) / computed_to_waited] {
    return config_.waits() ? is_idle() : has_heard_enough(until);
  });
  if (leads() && config_.rule.sends_gradients()) {
    if (config_.waits() && config_.is_time(step)) worker_->expect(replica.weights);
    if (config_.is_time(step)) co_await answered;
    worker_->take_central(replica.weights);
  }
  if (leads() && !config_.rule.sends_gradients()) {
    const double pull = config_.alpha(plan_.workers.size());
    worker_->take_elastically(replica.weights, pull);
    if (config_.is_time(step)) {
      worker_->send_weights(replica.weights, static_cast<std::uint64_t>(config_.every));
      co_await answered;
      worker_->take_elastically(replica.weights, pull);
    }
  }
  if (has_team() && config_.is_time(step)) co_await team_->share(replica.weights);
  resumed_ns_ = site_.communicator->now_ns();
}

Task Served::serve(ReplicaView replica, Step step) {
  begin(replica.weights);
  const std::size_t workers = is_parent() ? plan_.teams.size() : plan_.workers.size();
  auto until = static_cast<std::uint64_t>(
      std::max<std::int64_t>(0, own_->due(step, workers, config_.every)));
  if (is_parent())  // what sub-masters have not told yet they may tell when all else is over
    until -= std::min(until, static_cast<std::uint64_t>(config_.parent_every * config_.every) *
                                 plan_.children.size());
  Until served([this, until, &server = own_->server()] {
    return serves_until([&] { return server.workers_have_left() || server.steps() >= until; });
  });
  co_await served;
  const std::span<float> central = own_->server().weights();
  std::copy(central.begin(), central.end(), own_->piece_of(replica.weights).begin());
}

Task Served::close() {
  Until idle([this] { return is_idle(); });
  co_await idle;
  last_.resize(site_.floats);
  if (worker_) {
    worker_->leave(last_);
    co_await idle;
  }
  Until parted(
      [this] { return serves_until([this] { return !own_ || own_->server().is_idle(); }); });
  co_await parted;
  if (!worker_ && own_) std::copy_n(own_->server().weights().begin(), own_->size(), last_.begin());
  if (has_team()) co_await team_->share(last_);
  closed_ = true;
}

// Masters do not compute, and rank 0 is one of them: it looks for all.
std::vector<int> Served::readers() const {
  return plan_.serving.empty() ? plan_.workers : std::vector<int>{0};
}

Task Served::look(std::span<float> into, Look which) {
  begin(into);
  if (closed_) {
    std::copy(last_.begin(), last_.end(), into.begin());
  } else if (worker_) {
    Until idle([this] { return is_idle(); });
    co_await idle;
    worker_->look(into, which);
    co_await idle;
  } else if (own_ && own_->size() == into.size()) {
    std::copy_n(own_->server().weights().begin(), into.size(), into.begin());
  }
}

Cost Served::cost(std::size_t floats, Step step) const {
  Cost cost;
  if (inner() != nullptr) cost += inner()->cost(floats, step);
  if (!config_.is_time(step)) return cost;
  const int rank = group_.communicator().rank(), owners = static_cast<int>(plan_.owners.size());
  if (leads())
    for (int k = 0; k < owners; ++k)
      if (plan_.owners[static_cast<std::size_t>(k)] != rank)
        cost += {2, sizeof(ClientHead) + piece(floats, k, owners).size * sizeof(float)};
  for (int k = 0; k < owners; ++k) {
    if (plan_.owners[static_cast<std::size_t>(k)] != rank) continue;
    for (const int worker : plan_.workers)
      if (worker != rank) cost += {1, piece(floats, k, owners).size * sizeof(float)};
  }
  if (has_team()) cost += team_->cost(floats);
  return cost;
}

Promise Served::promise() const {
  return {.exact = false,
          .waits = config_.waits(),
          .repeats = config_.synchronous,
          // a stop brings what is collected before its period is over
          .resumes = config_.synchronous && (config_.every == 1 || !config_.rule.sends_gradients()),
          .uses_weights = true};
}

std::vector<int> Served::partners(Step step) const {
  std::vector<int> all;
  if (inner() != nullptr) all = inner()->partners(step);
  if (!config_.is_time(step) || !config_.waits()) return all;
  all.insert(all.end(), plan_.owners.begin(), plan_.owners.end());
  if (config_.synchronous) all.insert(all.end(), plan_.workers.begin(), plan_.workers.end());
  return all;
}

// Masters come to whoever asks, so who waits for them alone may stop when it likes.
bool Served::ever_waits(int) const {
  return site_.communicator->size() > 1 && (config_.synchronous || config_.ranks_per_worker > 1);
}

Freshness Served::freshness() const {
  Freshness fresh;
  if (own_) fresh = own_->server().staleness();
  if (leads()) fresh.missing = worker_->postponed();
  return fresh;
}

std::string Served::description() const {
  const bool has_masters = config_.owners == Owners::master;
  std::string text =
      core::text(config_.synchronous ? "synchronous " : "",
                 config_.rule.rule == CentralRuleConfig::Rule::easgd ? "easgd"
                 : config_.rule.rule == CentralRuleConfig::Rule::gem ? "gem"
                                                                     : "downpour",
                 ", ", plan_.teams.size(), plan_.teams.size() == 1 ? " worker" : " workers");
  if (config_.ranks_per_worker > 1) text += core::text(" of ", config_.ranks_per_worker, " ranks");
  if (has_masters && config_.groups > 0)
    return core::text(text, ", ", config_.groups, " sub-masters, 1 master");
  if (has_masters)
    return core::text(text, ", ", config_.masters, config_.masters == 1 ? " master" : " masters");
  return core::text(text, ", which own the centre (",
                    config_.owners == Owners::all ? "all" : "one a node", ")");
}

void Served::state(StateList& list) {
  if (own_) own_->server().state(list);
  if (worker_) worker_->state(list);
  if (sub_master_) sub_master_->state(list);
  if (inner() != nullptr) list.part("inner", *inner());
}

}  // namespace sagips::comm
