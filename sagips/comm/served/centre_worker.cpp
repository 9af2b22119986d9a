#include "sagips/comm/served/centre_worker.hpp"

#include <algorithm>
#include <utility>

#include "sagips/comm/arithmetic.hpp"

namespace sagips::comm {

CentreWorker::CentreWorker(const Group& group, const std::vector<Owner>& owners, std::size_t floats,
                           bool sends_gradients, CentreOwner* own)
    : group_(group),
      sends_gradients_(sends_gradients),
      own_(own),
      collected_(sends_gradients ? floats : 0),
      centre_(floats) {
  for (const Owner& owner : owners)
    links_.push_back({owner, owner.place == group.index(), CentreMessage(owner.piece.size),
                      CentreMessage(owner.piece.size)});
}

bool CentreWorker::has_answered(Link& link) {
  if (!link.waits) return link.sending.ready();
  if (!(link.is_own ? own_->answered() : link.receiving.ready())) return false;
  if (link.is_own) link.answer = own_->answer();
  link.waits = false;
  const CentreMessage::Head head = link.answer.head();
  const std::span<const float> values = link.answer.values();
  std::copy(values.begin(), values.end(), piece_of(link, centre_).begin());
  if (head.kind == CentreMessage::Kind::share) {
    link.fresh = true;
    link.version = head.version;
  }
  return link.sending.ready();
}

bool CentreWorker::all_answered() {
  bool all = true;
  for (Link& link : links_) all = has_answered(link) && all;
  return all;
}

void CentreWorker::send(Link& link, CentreMessage::Kind kind, std::uint64_t steps) {
  link.sent.set_head({kind, steps, link.version});
  link.waits = true;
  if (link.is_own) {
    own_->bring(link.sent);
    has_answered(link);
    return;
  }
  link.receiving = group_.receive(link.owner.place, link.answer.whole(), 1);
  link.sending = group_.send(link.owner.place, link.sent.whole(), 0);
}

void CentreWorker::collect(std::span<const float> gradients, std::uint64_t steps) {
  if (steps == 1)
    add(collected_, gradients);
  else
    for (std::size_t k = 0; k < gradients.size(); ++k)
      collected_[k] += static_cast<float>(steps) * gradients[k];
  for (Link& link : links_) link.steps += steps;
}

void CentreWorker::fill_with_gradients(Link& link, std::uint64_t steps) {
  const std::span<float> collected = piece_of(link, collected_);
  std::copy(collected.begin(), collected.end(), link.sent.values().begin());
  if (steps > 1) scale(link.sent.values(), 1.0F / static_cast<float>(steps));
  std::fill(collected.begin(), collected.end(), 0.0F);
}

void CentreWorker::send_gradients() {
  for (Link& link : links_) {
    if (link.steps == 0) continue;
    if (!has_answered(link)) {
      ++postponed_;
      continue;
    }
    const std::uint64_t steps = std::exchange(link.steps, 0);
    fill_with_gradients(link, steps);
    send(link, CentreMessage::Kind::share, steps);
  }
}

void CentreWorker::send_weights(std::span<const float> weights, std::uint64_t steps) {
  for (Link& link : links_) {
    link.steps += steps;
    if (!has_answered(link)) ++postponed_;
    if (link.waits || link.fresh) continue;  // what was sent is still needed
    const auto mine = weights.subspan(link.owner.piece.first, link.owner.piece.size);
    std::copy(mine.begin(), mine.end(), link.sent.values().begin());
    send(link, CentreMessage::Kind::share, std::exchange(link.steps, 0));
  }
}

void CentreWorker::look() {
  for (Link& link : links_) send(link, CentreMessage::Kind::look, 0);
}

void CentreWorker::leave() {
  for (Link& link : links_) {
    const std::uint64_t steps = sends_gradients_ ? std::exchange(link.steps, 0) : 0;
    if (steps > 0) fill_with_gradients(link, steps);
    send(link, CentreMessage::Kind::leave, steps);
  }
}

void CentreWorker::take_centre(std::span<float> weights) {
  for (Link& link : links_) {
    has_answered(link);
    if (!std::exchange(link.fresh, false)) continue;
    const std::span<float> heard = piece_of(link, centre_);
    std::copy(heard.begin(), heard.end(), piece_of(link, weights).begin());
  }
}

void CentreWorker::take_elastically(std::span<float> weights, double alpha) {
  for (Link& link : links_) {
    has_answered(link);
    if (std::exchange(link.fresh, false))
      pull_elastically(piece_of(link, weights), link.sent.values(), piece_of(link, centre_), alpha);
  }
}

void CentreWorker::give_state(State& state) const {
  give_floats(state, "served.collected", collected_);
  std::vector<double>& numbers = state["served.links"];
  for (const Link& link : links_) {
    numbers.push_back(static_cast<double>(link.version));
    numbers.push_back(static_cast<double>(link.steps));
  }
}

void CentreWorker::take_state(const State& state) {
  take_floats(state, "served.collected", collected_);
  const std::vector<double>& numbers = numbers_of(state, "served.links", 2 * links_.size());
  for (std::size_t k = 0; k < links_.size(); ++k) {
    links_[k].version = static_cast<std::uint64_t>(numbers[2 * k]);
    links_[k].steps = static_cast<std::uint64_t>(numbers[2 * k + 1]);
  }
}

}  // namespace sagips::comm
