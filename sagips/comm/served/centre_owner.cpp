#include "sagips/comm/served/centre_owner.hpp"

#include <algorithm>
#include <utility>

namespace sagips::comm {

CentreOwner::CentreOwner(const Group& group, std::vector<int> guests, std::size_t workers,
                         std::size_t floats, const CentreRuleConfig& config,
                         const MakeUpdate& update, bool synchronous)
    : group_(group),
      places_(std::move(guests)),
      workers_(workers),
      centre_(floats),
      rule_(make_centre_rule(config, workers, centre_, update)),
      synchronous_(synchronous),
      guests_(places_.size()) {
  for (std::size_t worker = 0; worker < places_.size(); ++worker) {
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
  guest.request = group_.receive(places_[worker], guest.head.as_floats(), 0);
}

// A buffer is there from its coming to its answer: a master has many guests, and few at a time.
void CentreOwner::take_in(std::size_t worker) {
  Guest& guest = guests_[worker];
  guest.place = Guest::Place::brings;
  if (!spare_.empty()) {
    guest.buffer = std::move(spare_.back());
    spare_.pop_back();
  }
  guest.buffer.resize(centre_.size());
  guest.values = guest.answer = guest.buffer;
  guest.request = group_.receive(places_[worker], guest.buffer, 0);
}

// Whether anything has come of it. What was sent or is expected now is asked for at once, but what a guest
// brings after it was served: who waits for any of what it has asked for must know of all.
bool CentreOwner::look_at(std::size_t worker) {
  Guest& guest = guests_[worker];
  const bool is_next_time = guest.was_served && guest.place == Guest::Place::away;
  if (worker == own_ || is_next_time || guest.place == Guest::Place::here || !guest.request.ready())
    return false;
  if (guest.place == Guest::Place::answered) {
    let_go(worker);
    if (!guest.has_left) expect(worker);
    return !guest.has_left;
  }
  const bool has_come = guest.place == Guest::Place::away;
  if (has_come && came)
    came(group_.rank_of(places_[worker]),
         guest.head.kind == CentreHead::Kind::leave || guest.head.kind == CentreHead::Kind::silent);
  if (has_come && guest.head.is_sign())
    expect(worker);
  else if (has_come && guest.head.brings_values())
    take_in(worker);
  else
    welcome(worker);
  return true;
}

void CentreOwner::let_go(std::size_t worker) {
  Guest& guest = guests_[worker];
  if (!guest.buffer.empty()) spare_.push_back(std::exchange(guest.buffer, {}));
  if (guest.head.kind != CentreHead::Kind::look) return;
  const auto kept = kept_.find(guest.head.number);
  if (++kept->second.answered == guest.head.readers) kept_.erase(kept);
}

// Who was looked at first is looked at last the next time: a fixed order would starve the others of
// an owner that has much to do.
bool CentreOwner::poll() {
  if (!begun_) return false;
  for (Guest& guest : guests_) guest.was_served = false;
  bool has_moved = true;
  while (std::exchange(has_moved, false))
    for (std::size_t k = 0; k < guests_.size(); ++k)
      has_moved = look_at((first_ + k) % guests_.size()) || has_moved;
  first_ = (first_ + 1) % guests_.size();
  if (is_over() && !parted_ && (!may_part || may_part())) {
    parted_ = true;
    answer_those_who_left();
  }
  return std::any_of(guests_.begin(), guests_.end(), [](const Guest& guest) {
    return guest.was_served && guest.place == Guest::Place::away;
  });
}

void CentreOwner::bring(CentreHead head, std::span<const float> values, std::span<float> answer) {
  Guest& guest = guests_[own_];
  guest.head = head;
  guest.values = values;
  guest.answer = answer;
  own_answered_ = false;
  welcome(own_);
}

void CentreOwner::welcome(std::size_t worker) {
  Guest& guest = guests_[worker];
  guest.place = Guest::Place::here;
  guest.was_served = true;
  switch (guest.head.kind) {
    case CentreHead::Kind::look:
      return show(worker);
    case CentreHead::Kind::leave:
      guest.has_left = true;
      ++left_;
      if (!synchronous_ && guest.head.brings_values()) serve({&worker, 1});
      if (synchronous_ && is_over()) serve_round();
      return;
    case CentreHead::Kind::alive:
    case CentreHead::Kind::silent:  // never come so far
      return;
    case CentreHead::Kind::share:
      return synchronous_ ? serve_round() : serve({&worker, 1});
  }
}

// The first to come finds the centre as it is, the others find the same.
void CentreOwner::show(std::size_t worker) {
  Kept& kept = kept_[guests_[worker].head.number];
  if (kept.asked++ == 0) kept.centre = centre_;
  answer_to(worker, kept.centre);
  if (worker == own_) let_go(worker);
}

// When all workers have come; those who leave bring what they had collected, or nothing.
void CentreOwner::serve_round() {
  std::vector<std::size_t> round;
  for (std::size_t worker = 0; worker < workers_; ++worker) {
    if (guests_[worker].place != Guest::Place::here) return;
    if (guests_[worker].head.brings_values()) round.push_back(worker);
  }
  if (!round.empty()) serve(round);
}

void CentreOwner::serve(std::span<const std::size_t> workers) {
  std::vector<Arrival> round;
  std::uint64_t steps = 0;
  for (const std::size_t worker : workers) {
    Guest& guest = guests_[worker];
    const auto age = static_cast<double>(version_ - guest.version_in(guest.head.taken));
    ++staleness_.used;
    staleness_.age_sum += age;
    staleness_.age_maximum = std::max(staleness_.age_maximum, age);
    steps += guest.head.number;
    round.push_back({worker, guest.values, guest.answer, guest.head.progress});
  }
  if (before_round) before_round(round, steps);
  rule_->apply(centre_, round);
  group_.communicator().touched(centre_.size() * sizeof(float) * round.size());
  ++version_;
  steps_ += steps;
  for (const std::size_t worker : workers) {
    Guest& guest = guests_[worker];
    guest.version_in(++guest.answers) = version_;
    if (!guest.has_left) answer_to(worker, guest.answer);  // else when all have
  }
}

void CentreOwner::answer_to(std::size_t worker, std::span<const float> values) {
  Guest& guest = guests_[worker];
  guest.place = Guest::Place::answered;
  if (worker != own_) {
    guest.request = group_.send(places_[worker], values, 1);
    return;
  }
  if (values.data() != guest.answer.data())
    std::copy(values.begin(), values.end(), guest.answer.begin());
  own_answered_ = true;
}

void CentreOwner::answer_those_who_left() {
  for (std::size_t worker = 0; worker < guests_.size(); ++worker) answer_to(worker, centre_);
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

void CentreOwner::state(StateList& list) {
  list.field("served.centre", centre_);
  std::vector<double> counts{begun_ ? 1.0 : 0.0, static_cast<double>(version_),
                             static_cast<double>(steps_)};
  for (const Guest& guest : guests_) counts.push_back(static_cast<double>(guest.last_version()));
  list.field("served.counts", counts);
  rule_->state(list);
  if (list.gives()) return;
  begun_ = counts[0] != 0;
  version_ = static_cast<std::uint64_t>(counts[1]);
  steps_ = static_cast<std::uint64_t>(counts[2]);
  for (std::size_t worker = 0; worker < guests_.size(); ++worker)
    guests_[worker].versions.fill(static_cast<std::uint64_t>(counts[3 + worker]));
}

}  // namespace sagips::comm
