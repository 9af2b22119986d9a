#include "sagips/train/row_shares.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

#include "sagips/train/collectives.hpp"

namespace sagips::train {

namespace {

constexpr auto last = std::numeric_limits<std::int64_t>::max();  // number of who has left

std::size_t bytes_of_rows(const torch::Tensor& tensor, std::size_t rows) {
  return rows * tensor.nbytes() / static_cast<std::size_t>(tensor.size(0));
}

bool is_whole(const std::vector<std::vector<std::byte>>& shares) {
  return std::none_of(shares.begin(), shares.end(),
                      [](const auto& share) { return share.empty(); });
}

}  // namespace

RowShares::RowShares(comm::Ranks& ranks, std::vector<int> sharers, std::int64_t rows)
    : ranks_(ranks),
      sharers_(std::move(sharers)),
      rows_(static_cast<std::size_t>(rows)),
      newest_(sharers_.size()),
      outbox_(
          ranks, comm::ControlTag::share,
          [this](std::size_t place, comm::Outbox::Message message) {
            keep(place, message.is_last ? last : message.number, std::move(message.content));
          },
          sharers_) {
  const auto found = std::find(sharers_.begin(), sharers_.end(), ranks.rank());
  if (found != sharers_.end()) place_ = static_cast<int>(found - sharers_.begin());
}

comm::Piece RowShares::piece(std::size_t place) const {
  return comm::piece(rows_, static_cast<int>(place), static_cast<int>(sharers_.size()));
}

void RowShares::bring(std::int64_t number, const Tensors& share) {
  like_ = share;
  if (ranks_.is_first())
    keep(0, number, bytes_of(share));
  else
    outbox_.send({.number = number, .content = bytes_of(share)});
}

void RowShares::keep(std::size_t place, std::int64_t number, Bytes share) {
  newest_[place] = number;
  if (number == last) return;
  std::vector<Bytes>& shares = pending_[number];
  shares.resize(sharers_.size());
  shares[place] = std::move(share);
}

void RowShares::take_all() {
  for (std::size_t place = 1; place < sharers_.size(); ++place) outbox_.take(place);
}

// Rank 0 had that before a restart, and somebody who was behind it had not.
void RowShares::drop_what_was_judged() {
  while (!pending_.empty() && pending_.begin()->first < newest_.front() &&
         pending_.begin()->second.front().empty())
    pending_.erase(pending_.begin());
}

// Numbers rise, so of who is further nothing older follows: before a restart, somebody was ahead of rank 0.
bool RowShares::has_next() {
  take_all();
  drop_what_was_judged();
  const auto& [number, oldest] = *pending_.begin();
  for (std::size_t place = 0; place < oldest.size(); ++place)
    if (oldest[place].empty() && newest_[place] <= number) return false;
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
  const std::string what = "with its share of the validation";
  if (!ranks_.is_first()) {
    outbox_.send({.is_last = true});
    return outbox_.wait_until_empty(what);
  }
  for (std::size_t place = 1; place < newest_.size(); ++place)
    while (newest_[place] != last) outbox_.wait_for(place, what);
}

}  // namespace sagips::train
