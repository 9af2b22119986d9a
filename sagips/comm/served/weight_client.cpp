#include "sagips/comm/served/weight_client.hpp"

#include <algorithm>
#include <utility>

#include "sagips/comm/arithmetic.hpp"

namespace sagips::comm {

namespace {

std::span<const float> part(std::span<const float> values, Piece where) {
  return values.subspan(where.first, where.size);
}

}  // namespace

WeightClient::WeightClient(const Group& group, const std::vector<Owner>& owners, std::size_t floats,
                           Config config, WeightServer* own)
    : group_(group), config_(config), own_(own), floats_(floats) {
  const std::vector<int>& nodes = group.communicator().nodes();
  const auto node_of = [&](int place) {
    return nodes[static_cast<std::size_t>(group.rank_of(place))];
  };
  for (const Owner& owner : owners)
    links_.push_back(
        {owner, owner.place == group.index(), node_of(owner.place) != node_of(group.index())});
  for (Link& link : links_) link.sent_ns = group.communicator().now_ns();
}

// --- sending --------------------------------------------------------------------------------------

void WeightClient::ask(Link& link, ClientHead head, std::span<const float> values) {
  link.head = head;
  link.head.progress = progress_;
  link.head.taken = link.made_of;
  link.state = Link::State::sent;
  link.is_late = false;
  link.sent_ns = group_.communicator().now_ns();
  const bool answer_goes_aside = head.kind == ClientHead::Kind::share && !config_.waits;
  if (!link.is_own) {
    link.sending_head = group_.send(link.owner.place, link.head.as_floats(), 0);
    if (head.brings_values()) link.sending = group_.send(link.owner.place, values, 0);
  }
  if (answer_goes_aside) expect_aside(link);
  if (!link.is_own) return;
  link.is_waiting = !answer_goes_aside;
  if (link.is_waiting) link.own_answer.resize(link.owner.piece.size);
  own_->bring(link.head, values, link.is_waiting ? std::span(link.own_answer) : link.into);
}

void WeightClient::collect(Link& link, std::span<const float> gradients, std::uint64_t steps) {
  const std::span<const float> values = part(gradients, link.owner.piece);
  const auto weight = static_cast<float>(steps);
  if (link.steps == 0) {
    link.made_of = link.taken;
    link.collected.assign(values.begin(), values.end());
    if (steps > 1) scale(link.collected, weight);
  } else if (steps == 1) {
    add(link.collected, values);
  } else {
    for (std::size_t k = 0; k < values.size(); ++k) link.collected[k] += weight * values[k];
  }
  link.steps += steps;
}

// Who does not wait for the answer may change it before it is gone; the owner here takes gradients at once.
std::span<const float> WeightClient::to_be_sent(Link& link, std::span<const float> values) {
  if (config_.waits || (link.is_own && config_.sends_gradients)) return values;
  link.sent.assign(values.begin(), values.end());
  return link.sent;
}

void WeightClient::collect(std::span<const float> gradients, std::uint64_t steps, double progress) {
  progress_ = progress;
  for (Link& link : links_) collect(link, gradients, steps);
}

// It stays in its place until the next share is sent.
std::span<const float> WeightClient::mean_of_collected(Link& link) {
  const std::uint64_t steps = std::exchange(link.steps, 0);
  if (steps > 1) scale(link.collected, 1.0F / static_cast<float>(steps));
  std::swap(link.sent, link.collected);
  return link.sent;
}

void WeightClient::send_collected(Link& link) {
  if (link.steps == 0) return;
  if (!may_send(link)) return;
  const std::uint64_t steps = link.steps;
  ask(link, {.kind = ClientHead::Kind::share, .number = steps}, mean_of_collected(link));
}

void WeightClient::send_collected() {
  for (Link& link : links_) send_collected(link);
}

void WeightClient::send_gradients(std::span<const float> gradients, double progress) {
  progress_ = progress;
  for (Link& link : links_) {
    if (link.steps == 0 && has_answered(link)) {
      link.made_of = link.taken;
      ask(link, {.kind = ClientHead::Kind::share, .number = 1},
          to_be_sent(link, part(gradients, link.owner.piece)));
    } else {
      collect(link, gradients, 1);
      send_collected(link);
    }
  }
}

void WeightClient::send_weights(std::span<const float> weights, std::uint64_t steps) {
  for (Link& link : links_) {
    link.steps += steps;
    if (!may_send(link) || link.fresh) continue;  // what was sent is still needed
    link.made_of = link.taken;
    ask(link, {.kind = ClientHead::Kind::share, .number = std::exchange(link.steps, 0)},
        to_be_sent(link, part(weights, link.owner.piece)));
  }
}

void WeightClient::look(std::span<float> into, CentralWeights::Look which) {
  for (Link& link : links_) {
    ask(link, {.kind = ClientHead::Kind::look, .number = which.number, .readers = which.readers},
        {});
    expect(link, comm::part(into, link.owner.piece));
  }
}

void WeightClient::send_sign(std::int64_t period_ns) {
  const std::int64_t now = group_.communicator().now_ns();
  for (Link& link : links_) {
    if (!link.is_far || has_left_ || now < link.sent_ns + period_ns || !has_answered(link))
      continue;
    link.head = {.kind = ClientHead::Kind::alive};
    link.sent_ns = now;
    link.sending_head = group_.send(link.owner.place, link.head.as_floats(), 0);
  }
}

void WeightClient::expect_silence() {
  for (Link& link : links_)
    if (link.is_far && !has_left_ && link.sending_silence.ready())
      link.sending_silence = group_.send(link.owner.place, silence_.as_floats(), 0);
}

void WeightClient::leave(std::span<float> into) {
  has_left_ = true;
  for (Link& link : links_) {
    const std::uint64_t steps = config_.sends_gradients ? link.steps : 0;
    ask(link, {.kind = ClientHead::Kind::leave, .number = steps},
        steps > 0 ? mean_of_collected(link) : std::span<const float>());
    expect(link, comm::part(into, link.owner.piece));
  }
}

// --- answers --------------------------------------------------------------------------------------

void WeightClient::expect(Link& link, std::span<float> into) {
  link.state = Link::State::expects;
  link.into = into;
  if (!link.is_own) link.receiving = group_.receive(link.owner.place, into, 1);
}

// Two buffers in turn would take twice the cache, so the second is for an answer that nobody has taken.
void WeightClient::expect_aside(Link& link) {
  std::vector<float>& into = link.fresh ? link.answer : link.heard;
  into.resize(link.owner.piece.size);
  expect(link, into);
}

void WeightClient::expect(std::span<float> weights) {
  for (Link& link : links_)
    if (link.state == Link::State::sent) expect(link, comm::part(weights, link.owner.piece));
}

void WeightClient::arrived(Link& link) {
  link.state = Link::State::idle;
  if (std::exchange(link.is_waiting, false))
    std::copy(link.own_answer.begin(), link.own_answer.end(), link.into.begin());
  const bool is_second = link.into.data() == link.answer.data();
  if (is_second) std::swap(link.heard, link.answer);
  const bool goes_aside = is_second || link.into.data() == link.heard.data();
  link.fresh = link.fresh || goes_aside;
  if (link.head.kind != ClientHead::Kind::share) return;
  ++link.answers;
  if (!goes_aside) link.taken = link.answers;
}

bool WeightClient::has_answered(Link& link) {
  if (link.state == Link::State::sent) return false;
  if (link.state == Link::State::expects) {
    if (!(link.is_own ? own_->answered() : link.receiving.ready())) return false;
    arrived(link);
  }
  const bool head_is_sent = link.sending_head.ready();
  return link.sending.ready() && head_is_sent;
}

bool WeightClient::may_send(Link& link) {
  if (has_answered(link)) return true;
  link.is_late = true;
  ++postponed_;
  return false;
}

// What nobody has come for is taken aside.
bool WeightClient::all_answered() {
  bool all = true;
  for (Link& link : links_) {
    if (link.state == Link::State::sent) expect_aside(link);
    all = has_answered(link) && all;
  }
  return all;
}

bool WeightClient::all_in_time_answered() {
  bool all = true;
  for (Link& link : links_) all = (has_answered(link) || link.is_late) && all;
  return all;
}

void WeightClient::take_central(std::span<float> weights) {
  for (Link& link : links_) {
    has_answered(link);
    if (!std::exchange(link.fresh, false)) continue;
    link.taken = link.answers;
    std::copy(link.heard.begin(), link.heard.end(), comm::part(weights, link.owner.piece).begin());
  }
}

void WeightClient::take_elastically(std::span<float> weights, double alpha) {
  for (Link& link : links_) {
    has_answered(link);
    if (!std::exchange(link.fresh, false)) continue;
    link.taken = link.answers;
    const std::span<float> own = comm::part(weights, link.owner.piece);
    pull_elastically(own, config_.waits ? own : std::span(link.sent), link.heard, alpha);
  }
}

// --- state ----------------------------------------------------------------------------------------

void WeightClient::state(StateList& list) {
  std::vector<float> collected(config_.sends_gradients ? floats_ : 0);
  std::vector<double> steps;
  for (const Link& link : links_) {
    steps.push_back(static_cast<double>(link.steps));
    if (config_.sends_gradients && link.steps > 0)
      std::copy(link.collected.begin(), link.collected.end(),
                comm::part(collected, link.owner.piece).begin());
  }
  list.field("served.collected", collected);
  list.field("served.steps", steps);
  for (std::size_t k = 0; k < links_.size() && !list.gives(); ++k) {
    links_[k].steps = static_cast<std::uint64_t>(steps[k]);
    if (!config_.sends_gradients) continue;
    const std::span<float> values = comm::part(collected, links_[k].owner.piece);
    links_[k].collected.assign(values.begin(), values.end());
  }
}

}  // namespace sagips::comm
