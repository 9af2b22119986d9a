#include "sagips/comm/served/centre_owner.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sagips::comm {

CentreMessage::Head CentreMessage::head() const {
  Head head;
  std::memcpy(static_cast<void*>(&head), buffer_.data(), sizeof(head));
  return head;
}

void CentreMessage::set_head(Head head) { std::memcpy(buffer_.data(), &head, sizeof(head)); }

CentreOwner::CentreOwner(const Group& group, std::vector<int> guests, std::size_t workers,
                         std::size_t floats, const CentreRuleConfig& config,
                         const MakeUpdate& update, bool synchronous)
    : group_(group),
      places_(std::move(guests)),
      workers_(workers),
      centre_(floats),
      rule_(make_centre_rule(config, workers, centre_, update)),
      synchronous_(synchronous) {
  guests_.reserve(places_.size());
  for (std::size_t worker = 0; worker < places_.size(); ++worker) {
    guests_.push_back({CentreMessage(floats)});
    if (places_[worker] == group.index())
      own_ = worker;
    else
      expect(worker);
  }
}

void CentreOwner::begin(std::span<const float> weights) {
  std::copy(weights.begin(), weights.end(), centre_.begin());
  rule_->begin(centre_);
  begun_ = true;
}

void CentreOwner::expect(std::size_t worker) {
  Guest& guest = guests_[worker];
  guest.place = Guest::Place::away;
  guest.request = group_.receive(places_[worker], guest.message.whole(), 0);
}

// Whether anything has come of it. What was sent or is expected now is asked for at once: who waits for any
// of what it has asked for must know of all.
bool CentreOwner::look_at(std::size_t worker) {
  Guest& guest = guests_[worker];
  if (worker == own_ || guest.place == Guest::Place::here || !guest.request.ready()) return false;
  if (guest.place == Guest::Place::away) {
    welcome(worker);
    return true;
  }
  if (!guest.has_left) expect(worker);
  return !guest.has_left;
}

// Who was looked at first is looked at last the next time: a fixed order would starve the others of
// an owner that has much to do.
void CentreOwner::poll() {
  if (!begun_) return;
  bool has_moved = true;
  while (std::exchange(has_moved, false))
    for (std::size_t k = 0; k < guests_.size(); ++k)
      has_moved = look_at((first_ + k) % guests_.size()) || has_moved;
  first_ = (first_ + 1) % guests_.size();
  if (is_over() && !parted_ && (!may_part || may_part())) {
    parted_ = true;
    answer_those_who_left();
  }
}

void CentreOwner::bring(const CentreMessage& message) {
  Guest& guest = guests_[own_];
  guest.message = message;
  own_answered_ = false;
  welcome(own_);
}

void CentreOwner::welcome(std::size_t worker) {
  Guest& guest = guests_[worker];
  const CentreMessage::Head head = guest.message.head();
  guest.place = Guest::Place::here;
  if (head.kind == CentreMessage::Kind::look) {
    std::copy(centre_.begin(), centre_.end(), guest.message.values().begin());
    return answer_to(worker);
  }
  if (head.kind == CentreMessage::Kind::leave) {
    guest.has_left = true;
    ++left_;
    if (!synchronous_ && head.steps > 0) serve({&worker, 1});
    if (synchronous_ && is_over()) serve_round();
    return;
  }
  if (synchronous_)
    serve_round();
  else
    serve({&worker, 1});
}

// When all workers have come; those who leave bring what they had collected, or nothing.
void CentreOwner::serve_round() {
  std::vector<std::size_t> round;
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    if (guests_[worker].place != Guest::Place::here) return;
    if (guests_[worker].message.head().steps > 0) round.push_back(worker);
  }
  if (!round.empty()) serve(round);
}

void CentreOwner::serve(std::span<const std::size_t> workers) {
  std::vector<Arrival> round;
  std::uint64_t steps = 0;
  for (const std::size_t worker : workers) {
    const CentreMessage::Head head = guests_[worker].message.head();
    const auto age = static_cast<double>(version_ - head.version);
    ++staleness_.used;
    staleness_.age_sum += age;
    staleness_.age_maximum = std::max(staleness_.age_maximum, age);
    steps += head.steps;
    round.push_back({worker, guests_[worker].message.values()});
  }
  if (before_round) before_round(round, steps);
  rule_->apply(centre_, round);
  group_.communicator().touched(centre_.size() * sizeof(float) * round.size());
  ++version_;
  steps_ += steps;
  for (const std::size_t worker : workers)
    if (!guests_[worker].has_left) answer_to(worker);  // else when all have left
}

void CentreOwner::answer_to(std::size_t worker) {
  Guest& guest = guests_[worker];
  CentreMessage::Head head = guest.message.head();
  head.version = version_;
  guest.message.set_head(head);
  guest.place = Guest::Place::answered;
  if (worker == own_)
    own_answered_ = true;
  else
    guest.request = group_.send(places_[worker], guest.message.whole(), 1);
}

void CentreOwner::answer_those_who_left() {
  for (std::size_t worker = 0; worker < guests_.size(); ++worker) {
    std::copy(centre_.begin(), centre_.end(), guests_[worker].message.values().begin());
    answer_to(worker);
  }
}

bool CentreOwner::workers_have_left() const {
  return std::all_of(guests_.begin(), guests_.begin() + static_cast<std::ptrdiff_t>(workers_),
                     [](const Guest& guest) { return guest.has_left; });
}

bool CentreOwner::has_sent() {
  return std::all_of(guests_.begin(), guests_.end(), [](Guest& guest) {
    return guest.place != Guest::Place::answered || guest.request.ready();
  });
}

bool CentreOwner::is_idle() { return parted_ && has_sent(); }

void CentreOwner::give_state(State& state) const {
  give_floats(state, "served.centre", centre_);
  state["served.counts"] = {begun_ ? 1.0 : 0.0, static_cast<double>(version_),
                            static_cast<double>(steps_)};
  rule_->give_state(state);
}

void CentreOwner::take_state(const State& state) {
  take_floats(state, "served.centre", centre_);
  const std::vector<double>& counts = numbers_of(state, "served.counts", 3);
  begun_ = counts[0] != 0;
  version_ = static_cast<std::uint64_t>(counts[1]);
  steps_ = static_cast<std::uint64_t>(counts[2]);
  rule_->take_state(state);
}

}  // namespace sagips::comm
