#include "sagips/train/row_shares.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

namespace sagips::train {

namespace {

constexpr std::int64_t last = -1;  // stands in place of a number
const int share_tag = comm::tag_of(comm::ControlTag::share);

std::size_t bytes_of_rows(const torch::Tensor& tensor, std::size_t rows) {
  return rows * tensor.nbytes() / static_cast<std::size_t>(tensor.size(0));
}

std::vector<std::byte> bytes_of(const RowShares::Tensors& share) {
  std::vector<std::byte> all;
  for (const torch::Tensor& tensor : share) {
    const torch::Tensor dense = tensor.contiguous();
    const auto* bytes = static_cast<const std::byte*>(dense.const_data_ptr());
    all.insert(all.end(), bytes, bytes + dense.nbytes());
  }
  return all;
}

bool is_whole(const std::vector<std::vector<std::byte>>& shares) {
  return std::none_of(shares.begin(), shares.end(),
                      [](const auto& share) { return share.empty(); });
}

}  // namespace

RowShares::RowShares(comm::Ranks& ranks, std::vector<int> sharers, std::int64_t rows)
    : ranks_(ranks), sharers_(std::move(sharers)), rows_(static_cast<std::size_t>(rows)) {
  const auto found = std::find(sharers_.begin(), sharers_.end(), ranks.rank());
  if (found != sharers_.end()) place_ = static_cast<int>(found - sharers_.begin());
  if (!ranks.is_first()) return;
  incoming_.resize(sharers_.size());
  for (std::size_t place = 1; place < incoming_.size(); ++place) expect(place);
}

comm::Piece RowShares::piece(std::size_t place) const {
  return comm::piece(rows_, static_cast<int>(place), static_cast<int>(sharers_.size()));
}

void RowShares::bring(std::int64_t number, const Tensors& share) {
  like_ = share;
  if (!ranks_.is_first()) return send(number, bytes_of(share));
  incoming_.front().newest = number;
  pending_[number].resize(sharers_.size());
  pending_[number][0] = bytes_of(share);
}

void RowShares::send(std::int64_t number, Bytes share) {
  while (!outgoing_.empty() && outgoing_.front().gone()) outgoing_.pop_front();
  Outgoing& one = outgoing_.emplace_back(Outgoing{{number, share.size()}, std::move(share)});
  one.head_sent = ranks_.communicator().send(0, share_tag, comm::bytes_of(one.head));
  if (number != last) one.share_sent = ranks_.communicator().send(0, share_tag, one.share);
}

void RowShares::expect(std::size_t place) {
  Incoming& from = incoming_[place];
  from.comes = false;
  from.request =
      ranks_.communicator().receive(sharers_[place], share_tag, comm::bytes_of(from.head));
}

void RowShares::take(std::size_t place) {
  Incoming& from = incoming_[place];
  if (from.has_left || !from.request.ready()) return;
  if (from.comes) {
    std::vector<Bytes>& shares = pending_[from.head.number];
    shares.resize(sharers_.size());
    shares[place] = std::exchange(from.share, {});
    from.newest = from.head.number;
    return expect(place);
  }
  from.has_left = from.head.number == last;
  if (from.has_left) return;
  from.comes = true;
  from.share.resize(from.head.bytes);
  from.request = ranks_.communicator().receive(sharers_[place], share_tag, from.share);
}

void RowShares::take_all() {
  for (std::size_t place = 1; place < incoming_.size(); ++place) take(place);
}

// Rank 0 had that before a restart, and somebody who was behind it had not.
void RowShares::drop_what_was_judged() {
  while (!pending_.empty() && pending_.begin()->first < incoming_.front().newest &&
         pending_.begin()->second.front().empty())
    pending_.erase(pending_.begin());
}

// Numbers rise, so nothing older follows: before a restart, somebody was ahead of rank 0.
bool RowShares::is_coming(std::size_t place, std::int64_t number) const {
  return !incoming_[place].has_left && incoming_[place].newest <= number;
}

bool RowShares::has_next() {
  take_all();
  drop_what_was_judged();
  const auto& [number, oldest] = *pending_.begin();
  for (std::size_t place = 0; place < oldest.size(); ++place)
    if (oldest[place].empty() && is_coming(place, number)) return false;
  return true;
}

// What somebody goes on without is let go. Others may be ahead of rank 0, which has a share in all it
// asks for.
std::optional<RowShares::Found> RowShares::next(bool wait) {
  drop_what_was_judged();
  while (!pending_.empty() && !pending_.begin()->second.front().empty()) {
    comm::Until there([this] { return has_next(); });
    if (wait)
      ranks_.timeout().wait(
          there,
          {.partners = sharers_, .what = "with its share of the validation", .however_long = true});
    else if (!there.ready())
      return std::nullopt;
    const auto oldest = pending_.extract(pending_.begin());
    if (is_whole(oldest.mapped())) return Found{oldest.key(), joined(oldest.mapped())};
  }
  return std::nullopt;
}

RowShares::Tensors RowShares::joined(const std::vector<Bytes>& shares) const {
  Tensors all;
  std::vector<std::size_t> places(shares.size(), 0);
  for (const torch::Tensor& like : like_) {
    auto sizes = like.sizes().vec();
    sizes[0] = static_cast<std::int64_t>(rows_);
    torch::Tensor& whole = all.emplace_back(torch::empty(sizes, like.options()));
    auto* to = static_cast<std::byte*>(whole.mutable_data_ptr());
    for (std::size_t place = 0; place < shares.size(); ++place) {
      const std::size_t bytes = bytes_of_rows(like, piece(place).size);
      std::memcpy(to, shares[place].data() + places[place], bytes);
      places[place] += bytes;
      to += bytes;
    }
  }
  return all;
}

void RowShares::close() {
  if (!takes_part()) return;
  comm::Timeout::Whom whom{
      .partners = sharers_, .what = "with its share of the validation", .however_long = true};
  if (ranks_.is_first()) {
    comm::Until left([this] {
      take_all();
      return std::all_of(incoming_.begin() + 1, incoming_.end(),
                         [](const Incoming& from) { return from.has_left; });
    });
    return ranks_.timeout().wait(left, whom);
  }
  send(last, {});
  whom.partners = {0};
  comm::Until gone([this] {
    return std::all_of(outgoing_.begin(), outgoing_.end(),
                       [](Outgoing& one) { return one.gone(); });
  });
  ranks_.timeout().wait(gone, whom);
}

}  // namespace sagips::train
