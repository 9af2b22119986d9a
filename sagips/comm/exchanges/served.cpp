#include "sagips/comm/exchanges/served.hpp"

#include <algorithm>
#include <set>
#include <utility>

#include "sagips/comm/arithmetic.hpp"
#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {

// Asynchronous workers wait for owners that compute for so small a part of a step.
constexpr std::int64_t computed_to_waited = 4;

}  // namespace

void Served::Config::fields(core::FieldList& list) {
  using Rule = CentralRuleConfig::Rule;
  list.choice("rule", rule.rule,
              {{"downpour", Rule::downpour}, {"easgd", Rule::easgd}, {"gem", Rule::gem}},
              "gradients for the optimizer of the central weights; weights that pull at them; "
              "steps that are "
              "scaled by how far they have gone");
  list.choice("owners", owners,
              {{"all", Owners::all}, {"nodes", Owners::nodes}, {"master", Owners::master}},
              "who owns a piece of the central weights: every rank, the first of each node, or "
              "ranks that do nothing else");
  list.add("masters", masters, "owners: master: how many ranks own a piece each",
           core::Range::between(1, 1000000));
  list.add("groups", groups,
           "owners: master: sub-masters, each with central weights and workers of its own; 0: none",
           core::Range::between(0, 1000000));
  list.add("parent_every", parent_every,
           "updates of a sub-master from one exchange with rank 0 to the next",
           core::Range::between(1, 4294967295.0));
  list.add("ranks_per_worker", ranks_per_worker, "ranks that work as one, on a batch each",
           core::Range::between(1, 1000000));
  list.add("inner", inner, "exact exchange between the ranks that work as one");
  list.add("every", every, "updates from one exchange to the next",
           core::Range::between(1, 4294967295.0));
  list.add("synchronous", synchronous, "all workers come before the central weights move");
  list.add("force", rule.force,
           "easgd: how strongly all workers together pull at the central weights",
           {0.0, 1.0, true, false});
  list.group("gem", rule.gem, "rule: gem");
  core::needs(list, rule.rule == Rule::easgd, "rule=easgd", {"force"});
  core::needs(list, rule.rule == Rule::gem, "rule=gem", {"gem"});
  core::needs(list, owners == Owners::master && groups > 0, "owners=master and groups",
              {"parent_every"});
  core::needs(list, ranks_per_worker > 1, "ranks_per_worker above 1", {"inner"});
}

namespace {

bool holds(const std::vector<int>& ranks, int rank) {
  return std::find(ranks.begin(), ranks.end(), rank) != ranks.end();
}

}  // namespace

// A rank that is alone computes.
std::vector<int> Served::Config::serving_ranks(const std::vector<int>& nodes) const {
  if (nodes.size() < 2 || owners != Owners::master) return {};
  const auto serving = static_cast<std::size_t>(masters + groups);
  if (nodes.size() <= serving)
    throw core::ConfigError("exchange", core::text("served: ", serving, " of ", nodes.size(),
                                                   " ranks would serve, and none compute. Start "
                                                   "more ranks, or set "
                                                   "exchanges.served.owners=all."));
  std::vector<int> chosen, taken(nodes.size(), 0);  // taken: of each node
  for (int round = 0; chosen.size() < serving; ++round)
    for (std::size_t rank = 0; rank < nodes.size() && chosen.size() < serving; ++rank) {
      int& of_node = taken[static_cast<std::size_t>(nodes[rank])];
      if (of_node > round || holds(chosen, static_cast<int>(rank))) continue;
      chosen.push_back(static_cast<int>(rank));
      ++of_node;
    }
  std::sort(chosen.begin(), chosen.end());
  return chosen;
}

namespace {

// Consecutive ones.
std::vector<std::vector<int>> teams_of(const std::vector<int>& ranks, std::int64_t size) {
  if (static_cast<std::int64_t>(ranks.size()) % size != 0)
    throw core::ConfigError("exchanges.served.ranks_per_worker",
                            core::text("is ", size, ", and ", ranks.size(),
                                       ranks.size() == 1 ? " rank computes" : " ranks compute",
                                       ", which cannot be divided by it. Change either."));
  std::vector<std::vector<int>> teams;
  for (std::size_t first = 0; first < ranks.size(); first += static_cast<std::size_t>(size))
    teams.emplace_back(ranks.begin() + static_cast<std::ptrdiff_t>(first),
                       ranks.begin() + static_cast<std::ptrdiff_t>(first) + size);
  return teams;
}

std::vector<int> first_ranks(const std::vector<std::vector<int>>& teams) {
  std::vector<int> first;
  for (const auto& team : teams) first.push_back(team.front());
  return first;
}

void check(const Served::Config& config) {
  const bool has_masters = config.owners == Served::Owners::master;
  if (!has_masters && config.groups > 0)
    throw core::ConfigError("exchanges.served.groups",
                            "are those of sub-masters. Set exchanges.served.owners=master.");
  if (!has_masters && config.masters > 1)
    throw core::ConfigError("exchanges.served.masters",
                            "do not compute. Set exchanges.served.owners=master.");
  if (config.groups > 0 && (config.synchronous || config.masters > 1))
    throw core::ConfigError(
        "exchanges.served.groups",
        "have one parent, which hears of sub-masters now and then. Leave masters at "
        "1 and synchronous at false.");
}

}  // namespace

Served::Plan Served::plan_of(const Config& config, const Site& site) {
  const std::vector<int>& nodes = site.communicator->nodes();
  const std::vector<int> all = site.all_ranks();
  Plan plan;
  check(config);
  plan.serving = config.serving_ranks(nodes);
  std::vector<int> computing;
  for (const int rank : all)
    if (!holds(plan.serving, rank)) computing.push_back(rank);
  plan.teams = teams_of(computing, config.ranks_per_worker);
  plan.workers = first_ranks(plan.teams);
  if (config.groups > 0 && !plan.serving.empty()) {
    take_group(plan, site.communicator->rank(), config.groups);
  } else if (!plan.serving.empty()) {
    plan.owners = plan.serving;
  } else {
    std::set<int> seen;
    for (const int rank : all)
      if (config.owners == Owners::all || seen.insert(nodes[static_cast<std::size_t>(rank)]).second)
        plan.owners.push_back(rank);
  }
  return plan;
}

// Neighbours have the same sub-master; this rank sees the workers of its own.
void Served::take_group(Plan& plan, int rank, std::int64_t groups) {
  const std::vector<int> workers = std::exchange(plan.workers, {});
  if (static_cast<std::int64_t>(workers.size()) < groups)
    throw core::ConfigError("exchanges.served.groups",
                            core::text("are ", groups, ", and there are ", workers.size(),
                                       " workers. Start more ranks, or make fewer groups."));
  plan.parents = {0};
  plan.children.assign(plan.serving.begin() + 1, plan.serving.end());
  for (int group = 0; group < static_cast<int>(groups); ++group) {
    const Piece own = piece(workers.size(), group, static_cast<int>(groups));
    const auto first = workers.begin() + static_cast<std::ptrdiff_t>(own.first);
    const std::vector<int> members(first, first + static_cast<std::ptrdiff_t>(own.size));
    const int master = plan.children[static_cast<std::size_t>(group)];
    if (rank != master && !holds(members, rank)) continue;
    plan.owners = {master};
    plan.workers = members;
  }
}

Served::Served(const Config& config, const Site& site, const MakeInner& make_inner)
    : config_(config),
      site_(site),
      plan_(plan_of(config, site)),
      group_(site, site.all_ranks(), 3),
      parents_(site, site.all_ranks(), 2) {
  const int rank = site.communicator->rank();
  for (const auto& team : plan_.teams) {
    std::unique_ptr<Exchange> inner;
    if (config.ranks_per_worker > 1) inner = make_inner(site, team);  // collective
    if (!holds(team, rank)) continue;
    team_ = team;
    inner_ = std::move(inner);
    if (inner_ && !inner_->promise().exact)
      throw core::ConfigError("exchanges.served.inner",
                              core::text("'", config.inner,
                                         "' is not exact (the ranks of a worker would not stay the "
                                         "same). Use rabenseifner or ring."));
  }
  make_ends(site, site.floats);
}

void Served::make_ends(const Site& site, std::size_t floats) {
  make_ends_of_pieces(site, floats);
  make_ends_of_parents(site, floats);
  if (own_ && site.timeout != nullptr)
    own_->came = [&status = site.timeout->status()](int from, bool is_last) {
      status.heard(from, is_last);
    };
}

void Served::make_ends_of_pieces(const Site& site, std::size_t floats) {
  const int rank = site.communicator->rank(), owners = static_cast<int>(plan_.owners.size());
  std::vector<int> clients = plan_.workers;
  for (const int owner : plan_.owners)
    if (owners > 1 && !holds(clients, owner)) clients.push_back(owner);  // who only looks
  std::vector<WeightClient::Owner> ends;
  for (int k = 0; k < owners; ++k)
    ends.push_back({plan_.owners[static_cast<std::size_t>(k)], piece(floats, k, owners)});
  for (const WeightClient::Owner& end : ends) {
    if (end.place != rank) continue;
    own_piece_ = end.piece;
    own_ = std::make_unique<WeightServer>(group_, clients, plan_.workers.size(), end.piece.size,
                                          config_.rule, site.update, config_.synchronous);
  }
  if (holds(clients, rank))
    worker_ = std::make_unique<WeightClient>(
        group_, ends, floats, WeightClient::Config{config_.rule.sends_gradients(), waits()},
        own_.get());
}

void Served::make_ends_of_parents(const Site& site, std::size_t floats) {
  const int rank = site.communicator->rank();
  if (plan_.parents.empty()) return;
  if (rank == 0) {
    own_piece_ = {0, floats};
    own_ = std::make_unique<WeightServer>(parents_, plan_.children, plan_.children.size(), floats,
                                          config_.rule, site.update, false);
  }
  if (!holds(plan_.children, rank)) return;
  child_ = std::make_unique<WeightClient>(
      parents_, std::vector<WeightClient::Owner>{{0, {0, floats}}}, floats,
      WeightClient::Config{config_.rule.sends_gradients(), false}, nullptr);
  if (config_.rule.sends_gradients())
    own_->before_round = [this](std::span<const Arrival> round, std::uint64_t steps) {
      const Arrival& one = round.front();  // asynchronous: there are no more
      child_->collect(one.values, steps, one.progress);
    };
  own_->may_part = [this] { return parted_; };
}

void Served::begin(std::span<const float> weights) {
  if (begun_) return;
  begun_ = true;
  resumed_ns_ = site_.communicator->now_ns();
  if (own_ && !own_->has_begun()) own_->begin(weights.subspan(own_piece_.first, own_piece_.size));
  steps_at_begin_ = steps_applied();
}

// A sub-master is a worker of its parent: what its weights have gone through is what it brings.
void Served::report_to_parent() {
  const std::span<float> central = own_->weights();
  const bool has_heard = child_->all_answered();  // first: what comes later is taken the next time
  if (config_.rule.sends_gradients())
    child_->take_central(central);
  else
    child_->take_elastically(central, alpha(plan_.children.size()));
  if (own_->is_over()) {
    if (parted_ || !has_heard) return;
    if (std::exchange(left_parent_, true))
      parted_ = true;
    else
      child_->leave(central);
    return;
  }
  const auto every = static_cast<std::uint64_t>(config_.parent_every);
  if (!has_heard || own_->version() < reported_version_ + every) return;
  reported_version_ = own_->version();
  if (config_.rule.sends_gradients())
    child_->send_collected();
  else
    child_->send_weights(central, own_->steps() - std::exchange(reported_steps_, own_->steps()));
}

// Whether more may have come.
bool Served::serve_clients() {
  if (site_.timeout != nullptr)
    for (WeightClient* const end : {worker_.get(), child_.get()})
      if (end != nullptr) end->send_sign(site_.timeout->sign_period_ns());
  if (!own_) return false;
  if (child_ && begun_) report_to_parent();
  return own_->poll();
}

void Served::pause() {
  for (WeightClient* const end : {worker_.get(), child_.get()})
    if (end != nullptr) end->expect_silence();
}

void Served::resume() { resumed_ns_ = site_.communicator->now_ns(); }

bool Served::is_idle() {
  return serves_until([this] {
    const bool has_heard = !worker_ || worker_->all_answered();
    return has_heard && (!own_ || !config_.synchronous || own_->has_sent());
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
  if (inner_) co_await inner_->gradients(replica, step);
  if (!config_.rule.sends_gradients() || !leads()) co_return;
  if (is_time(step))
    worker_->send_gradients(replica.gradients, step.progress);
  else
    worker_->collect(replica.gradients, 1, step.progress);
}

Task Served::mix_weights(ReplicaView replica, Step step) {
  if (team_.size() > 1 && !is_time(step)) co_return;  // it stays the same on all ranks of the team
  const std::int64_t now = site_.communicator->now_ns();
  Until answered([this, until = now + (now - resumed_ns_) / computed_to_waited] {
    return waits() ? is_idle() : has_heard_enough(until);
  });
  if (leads() && config_.rule.sends_gradients()) {
    if (waits() && is_time(step)) worker_->expect(replica.weights);
    if (is_time(step)) co_await answered;
    worker_->take_central(replica.weights);
  }
  if (leads() && !config_.rule.sends_gradients()) {
    const double pull = alpha(plan_.workers.size());
    worker_->take_elastically(replica.weights, pull);
    if (is_time(step)) {
      worker_->send_weights(replica.weights, static_cast<std::uint64_t>(config_.every));
      co_await answered;
      worker_->take_elastically(replica.weights, pull);
    }
  }
  if (team_.size() > 1 && is_time(step)) co_await send_to_team(replica.weights);
  resumed_ns_ = site_.communicator->now_ns();
}

Task Served::send_to_team(std::span<float> weights) {
  const int rank = group_.communicator().rank();
  if (rank != team_.front()) {
    Request received = group_.receive(team_.front(), weights, 2);
    co_await received;
    co_return;
  }
  std::vector<Request> sent;
  for (std::size_t k = 1; k < team_.size(); ++k) sent.push_back(group_.send(team_[k], weights, 2));
  for (Request& request : sent) co_await request;
}

Task Served::serve(ReplicaView replica, Step step) {
  begin(replica.weights);
  const bool is_parent = !plan_.parents.empty() && group_.index() == 0;
  const std::size_t workers = is_parent ? plan_.teams.size() : plan_.workers.size();
  const auto count = static_cast<std::int64_t>(workers);
  if (!earlier_steps_)
    earlier_steps_ = (step.update - 1) * count - static_cast<std::int64_t>(steps_at_begin_);
  // what is collected within a period comes at its end
  const std::int64_t due = step.update / config_.every * config_.every * count - *earlier_steps_;
  auto until = static_cast<std::uint64_t>(std::max<std::int64_t>(0, due));
  if (is_parent)  // what sub-masters have not told yet they may tell when all else is over
    until -= std::min(until, static_cast<std::uint64_t>(config_.parent_every * config_.every) *
                                 plan_.children.size());
  Until served([this, until] {
    return serves_until([&] { return own_->workers_have_left() || own_->steps() >= until; });
  });
  co_await served;
  const std::span<float> central = own_->weights();
  std::copy(central.begin(), central.end(), part(replica.weights, own_piece_).begin());
}

Task Served::close() {
  Until idle([this] { return is_idle(); });
  co_await idle;
  last_.resize(site_.floats);
  if (worker_) {
    worker_->leave(last_);
    co_await idle;
  }
  Until parted([this] { return serves_until([this] { return !own_ || own_->is_idle(); }); });
  co_await parted;
  if (!worker_ && own_) std::copy(own_->weights().begin(), own_->weights().end(), last_.begin());
  if (team_.size() > 1) co_await send_to_team(last_);
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
  } else if (own_ && own_piece_.size == into.size()) {
    const std::span<float> central = own_->weights();
    std::copy(central.begin(), central.end(), into.begin());
  }
}

Cost Served::cost(std::size_t floats, Step step) const {
  Cost cost;
  if (inner_) cost += inner_->cost(floats, step);
  if (!is_time(step)) return cost;
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
  if (team_.size() > 1 && leads()) {
    const auto others = static_cast<std::uint64_t>(team_.size() - 1);
    cost += {others, others * floats * sizeof(float)};
  }
  return cost;
}

Promise Served::promise() const {
  return {
      .exact = false,
      .waits = waits(),
      .repeats = config_.synchronous,
      // a stop brings what is collected before its period is over
      .resumes = config_.synchronous && (config_.every == 1 || !config_.rule.sends_gradients())};
}

std::vector<int> Served::partners(Step step) const {
  std::vector<int> all;
  if (inner_) all = inner_->partners(step);
  if (!is_time(step) || !waits()) return all;
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
  if (own_) fresh = own_->staleness();
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
  if (own_) own_->state(list);
  if (worker_) worker_->state(list);
  if (child_) list.part("child", *child_);
  if (inner_) list.part("inner", *inner_);
  std::vector<double> reported{static_cast<double>(reported_version_),
                               static_cast<double>(reported_steps_)};
  list.field("served.reported", reported);
  reported_version_ = static_cast<std::uint64_t>(reported[0]);
  reported_steps_ = static_cast<std::uint64_t>(reported[1]);
}

}  // namespace sagips::comm
