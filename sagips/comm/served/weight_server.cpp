#include "sagips/comm/served/weight_server.hpp"

#include <algorithm>
#include <utility>

namespace sagips::comm {

WeightServer::WeightServer(const Group& group, std::vector<int> clients, std::size_t workers,
                           std::size_t floats, const CentralRuleConfig& config,
                           const MakeUpdate& update, bool synchronous)
    : group_(group),
      places_(std::move(clients)),
      workers_(workers),
      weights_(floats),
      rule_(make_central_rule(config, workers, weights_, update)),
      synchronous_(synchronous),
      clients_(places_.size()) {
  for (std::size_t worker = 0; worker < places_.size(); ++worker) {
    if (places_[worker] == group.index())
      own_ = worker;
    else
      expect(worker);
  }
}

void WeightServer::begin(std::span<const float> weights) {
  std::copy(weights.begin(), weights.end(), weights_.begin());
  rule_->begin(weights_);
  begun_ = true;
}

void WeightServer::expect(std::size_t worker) {
  Client& client = clients_[worker];
  client.place = Client::Place::away;
  client.request = group_.receive(places_[worker], client.head.as_floats(), 0);
}

// A buffer is there from its coming to its answer: a master has many clients, and few at a time.
void WeightServer::receive(std::size_t worker) {
  Client& client = clients_[worker];
  client.place = Client::Place::brings;
  if (!spare_.empty()) {
    client.buffer = std::move(spare_.back());
    spare_.pop_back();
  }
  client.buffer.resize(weights_.size());
  client.values = client.answer = client.buffer;
  client.request = group_.receive(places_[worker], client.buffer, 0);
}

// Whether anything has come of it. What was sent or is expected now is asked for at once, but what a client
// brings after it was served: who waits for any of what it has asked for must know of all.
bool WeightServer::look_at(std::size_t worker) {
  Client& client = clients_[worker];
  const bool is_next_time = client.was_served && client.place == Client::Place::away;
  if (worker == own_ || is_next_time || client.place == Client::Place::here ||
      !client.request.ready())
    return false;
  if (client.place == Client::Place::answered) {
    release(worker);
    if (!client.has_left) expect(worker);
    return !client.has_left;
  }
  const bool has_come = client.place == Client::Place::away;
  if (has_come && came)
    came(group_.rank_of(places_[worker]), client.head.kind == ClientHead::Kind::leave ||
                                              client.head.kind == ClientHead::Kind::silent);
  if (has_come && client.head.is_sign())
    expect(worker);
  else if (has_come && client.head.brings_values())
    receive(worker);
  else
    serve(worker);
  return true;
}

void WeightServer::release(std::size_t worker) {
  Client& client = clients_[worker];
  if (!client.buffer.empty()) spare_.push_back(std::exchange(client.buffer, {}));
  if (client.head.kind != ClientHead::Kind::look) return;
  const auto kept = kept_.find(client.head.number);
  if (++kept->second.answered == client.head.readers) kept_.erase(kept);
}

// Who was looked at first is looked at last the next time: a fixed order would starve the others of
// an owner that has much to do.
bool WeightServer::poll() {
  if (!begun_) return false;
  for (Client& client : clients_) client.was_served = false;
  bool has_moved = true;
  while (std::exchange(has_moved, false))
    for (std::size_t k = 0; k < clients_.size(); ++k)
      has_moved = look_at((first_ + k) % clients_.size()) || has_moved;
  first_ = (first_ + 1) % clients_.size();
  if (is_over() && !parted_ && (!may_part || may_part())) {
    parted_ = true;
    answer_those_who_left();
  }
  return std::any_of(clients_.begin(), clients_.end(), [](const Client& client) {
    return client.was_served && client.place == Client::Place::away;
  });
}

void WeightServer::bring(ClientHead head, std::span<const float> values, std::span<float> answer) {
  Client& client = clients_[own_];
  client.head = head;
  client.values = values;
  client.answer = answer;
  own_answered_ = false;
  serve(own_);
}

void WeightServer::serve(std::size_t worker) {
  Client& client = clients_[worker];
  client.place = Client::Place::here;
  client.was_served = true;
  switch (client.head.kind) {
    case ClientHead::Kind::look:
      return show(worker);
    case ClientHead::Kind::leave:
      client.has_left = true;
      ++left_;
      if (!synchronous_ && client.head.brings_values()) apply({&worker, 1});
      if (synchronous_ && is_over()) serve_round();
      return;
    case ClientHead::Kind::alive:
    case ClientHead::Kind::silent:  // never come so far
      return;
    case ClientHead::Kind::share:
      return synchronous_ ? serve_round() : apply({&worker, 1});
  }
}

// The first to come finds the weights as they are, the others find the same.
void WeightServer::show(std::size_t worker) {
  Kept& kept = kept_[clients_[worker].head.number];
  if (kept.asked++ == 0) kept.weights = weights_;
  answer_to(worker, kept.weights);
  if (worker == own_) release(worker);
}

// When all workers have come; those who leave bring what they had collected, or nothing.
void WeightServer::serve_round() {
  std::vector<std::size_t> round;
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    if (clients_[worker].place != Client::Place::here) return;
    if (clients_[worker].head.brings_values()) round.push_back(worker);
  }
  if (!round.empty()) apply(round);
}

void WeightServer::apply(std::span<const std::size_t> workers) {
  std::vector<Arrival> round;
  std::uint64_t steps = 0;
  for (const std::size_t worker : workers) {
    Client& client = clients_[worker];
    const auto age = static_cast<double>(version_ - client.version_in(client.head.taken));
    ++staleness_.used;
    staleness_.age_sum += age;
    staleness_.age_maximum = std::max(staleness_.age_maximum, age);
    steps += client.head.number;
    round.push_back({worker, client.values, client.answer, client.head.progress});
  }
  if (before_round) before_round(round, steps);
  rule_->apply(weights_, round);
  group_.communicator().touched(weights_.size() * sizeof(float) * round.size());
  ++version_;
  steps_ += steps;
  for (const std::size_t worker : workers) {
    Client& client = clients_[worker];
    client.version_in(++client.answers) = version_;
    if (!client.has_left) answer_to(worker, client.answer);  // else when all have
  }
}

void WeightServer::answer_to(std::size_t worker, std::span<const float> values) {
  Client& client = clients_[worker];
  client.place = Client::Place::answered;
  if (worker != own_) {
    client.request = group_.send(places_[worker], values, 1);
    return;
  }
  if (values.data() != client.answer.data())
    std::copy(values.begin(), values.end(), client.answer.begin());
  own_answered_ = true;
}

void WeightServer::answer_those_who_left() {
  for (std::size_t worker = 0; worker < clients_.size(); ++worker) answer_to(worker, weights_);
}

bool WeightServer::workers_have_left() const {
  return std::all_of(clients_.begin(), clients_.begin() + static_cast<std::ptrdiff_t>(workers_),
                     [](const Client& client) { return client.has_left; });
}

bool WeightServer::has_sent() {
  return std::all_of(clients_.begin(), clients_.end(), [](Client& client) {
    return client.place != Client::Place::answered || client.request.ready();
  });
}

bool WeightServer::is_idle() { return parted_ && has_sent(); }

void WeightServer::state(StateList& list) {
  list.field("served.centre", weights_);
  std::vector<double> counts{begun_ ? 1.0 : 0.0, static_cast<double>(version_),
                             static_cast<double>(steps_)};
  for (const Client& client : clients_)
    counts.push_back(static_cast<double>(client.last_version()));
  list.field("served.counts", counts);
  rule_->state(list);
  if (list.gives()) return;
  begun_ = counts[0] != 0;
  version_ = static_cast<std::uint64_t>(counts[1]);
  steps_ = static_cast<std::uint64_t>(counts[2]);
  for (std::size_t worker = 0; worker < clients_.size(); ++worker)
    clients_[worker].versions.fill(static_cast<std::uint64_t>(counts[3 + worker]));
}

}  // namespace sagips::comm
