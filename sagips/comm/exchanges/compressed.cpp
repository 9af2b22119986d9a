#include "sagips/comm/exchanges/compressed.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "sagips/comm/all_to_all.hpp"
#include "sagips/core/config/effects.hpp"
#include "sagips/core/text.hpp"

namespace sagips::comm {

namespace {

// The piece of rank k among as many pieces of one length.
template <class T>
std::span<T> of_rank(std::vector<T>& all, int k, std::size_t size) {
  return std::span(all).subspan(static_cast<std::size_t>(k) * size, size);
}

std::span<std::uint16_t> halves_of(std::span<std::uint16_t> all, Piece where) {
  return all.subspan(where.first, where.size);
}

}  // namespace

void Compressed::Config::fields(core::FieldList& list) {
  list.choice("form", form,
              {{"float16", Form::float16}, {"bfloat16", Form::bfloat16}, {"top_k", Form::top_k}},
              "what is sent: numbers of 16 bits (float16 is finer, bfloat16 has the range of "
              "float32), or the largest numbers alone");
  list.add("share", share, "top_k: share of the numbers that is sent",
           core::Range{0, 1, true, false});
  list.add("error_feedback", error_feedback,
           "what rounding and leaving out has cost is added to the next gradient");
  core::needs(list, form == Form::top_k, "form=top_k", {"share"});
}

Compressed::Compressed(const Config& config, const Site& site, std::vector<int> ranks)
    : config_(config), group_(site, std::move(ranks), 2) {
  if (config_.error_feedback && !is_alone()) unsent_.assign(site.floats, 0);
}

HalfFormat Compressed::format() const {
  return config_.form == Form::float16 ? HalfFormat::float16 : HalfFormat::bfloat16;
}

std::size_t Compressed::kept_of(std::size_t floats) const {
  return static_cast<std::size_t>(std::ceil(config_.share * static_cast<double>(floats)));
}

Task Compressed::gradients(ReplicaView replica, Step) {
  if (is_alone()) co_return;
  if (config_.error_feedback) {
    add(replica.gradients, unsent_);
    std::copy(replica.gradients.begin(), replica.gradients.end(), unsent_.begin());
  }
  if (config_.form == Form::top_k)
    co_await mean_of_largest(replica.gradients);
  else
    co_await mean_of_halves(replica.gradients);
}

Task Compressed::mean_of_halves(std::span<float> values) {
  const Piece mine = piece(values.size(), group_.index(), group_.size());
  const auto of_piece = [&](int k) {
    return std::as_writable_bytes(halves_of(own_, piece(values.size(), k, group_.size())));
  };
  own_.resize(values.size());
  to_halves(format(), values, own_);
  from_halves(format(), own_, values);
  for (std::size_t k = 0; k < unsent_.size(); ++k) unsent_[k] -= values[k];
  pieces_.resize(static_cast<std::size_t>(group_.size()) * mine.size);
  const auto to_add_up = [&](int k) {
    return std::as_writable_bytes(of_rank(pieces_, k, mine.size));
  };
  co_await all_to_all(group_, of_piece, to_add_up, 0);
  add_up_own_piece(values);
  const auto own_piece = [&](int) { return of_piece(group_.index()); };
  co_await all_to_all(group_, own_piece, of_piece, 1);
  from_halves(format(), own_, values);
}

// What rounding the mean costs is missing n times in the sum.
void Compressed::add_up_own_piece(std::span<float> values) {
  const int n = group_.size();
  const Piece mine = piece(values.size(), group_.index(), n);
  std::copy_n(own_.begin() + static_cast<std::ptrdiff_t>(mine.first), mine.size,
              of_rank(pieces_, group_.index(), mine.size).begin());
  const std::span<float> sum = part(values, mine);
  from_halves(format(), of_rank(pieces_, 0, mine.size), sum);
  wide_.resize(mine.size);
  for (int k = 1; k < n; ++k) {
    from_halves(format(), of_rank(pieces_, k, mine.size), wide_);
    add(sum, wide_);
    group_.communicator().touched(mine.size * sizeof(std::uint16_t));
  }
  scale(sum, 1.0F / static_cast<float>(n));
  to_halves(format(), sum, halves_of(own_, mine));
  from_halves(format(), halves_of(own_, mine), wide_);
  if (unsent_.empty()) return;
  for (std::size_t k = 0; k < mine.size; ++k)
    unsent_[mine.first + k] += static_cast<float>(n) * (sum[k] - wide_[k]);
}

Task Compressed::mean_of_largest(std::span<float> values) {
  const std::size_t kept = kept_of(values.size());
  entries_.resize(static_cast<std::size_t>(group_.size()) * kept);
  choose_largest(values);
  const auto of = [&](int k) { return std::as_writable_bytes(of_rank(entries_, k, kept)); };
  const auto own = [&](int) { return of(group_.index()); };
  co_await all_to_all(group_, own, of);
  std::fill(values.begin(), values.end(), 0.0F);
  for (const Entry& entry : entries_) values[entry.place] += entry.value;
  scale(values, 1.0F / static_cast<float>(group_.size()));
  group_.communicator().touched(entries_.size() * sizeof(Entry));
}

void Compressed::choose_largest(std::span<const float> values) {
  const std::span<Entry> own = of_rank(entries_, group_.index(), kept_of(values.size()));
  places_.resize(values.size());
  std::iota(places_.begin(), places_.end(), 0U);
  const auto last = places_.begin() + static_cast<std::ptrdiff_t>(own.size());
  const auto is_larger = [values](std::uint32_t a, std::uint32_t b) {
    const float one = std::abs(values[a]), other = std::abs(values[b]);
    return one > other || (one == other && a < b);  // so that a run repeats
  };
  if (last != places_.end()) std::nth_element(places_.begin(), last, places_.end(), is_larger);
  for (std::size_t k = 0; k < own.size(); ++k) {
    own[k] = {places_[k], values[places_[k]]};
    if (!unsent_.empty()) unsent_[places_[k]] = 0;
  }
}

Cost Compressed::cost(std::size_t floats, Step) const {
  if (is_alone()) return {};
  const auto others = static_cast<std::uint64_t>(group_.size() - 1);
  if (config_.form == Form::top_k) return {others, others * kept_of(floats) * sizeof(Entry)};
  const std::size_t mine = piece(floats, group_.index(), group_.size()).size;
  return {2 * others, (floats - mine + others * mine) * sizeof(std::uint16_t)};
}

std::string Compressed::description() const {
  std::string sent = config_.form == Form::float16 ? "float16" : "bfloat16";
  if (config_.form == Form::top_k)
    sent = core::text("the largest ", core::significant(100 * config_.share, 3), " %");
  return core::text(sent, " over ", group_.size(), " ranks",
                    config_.error_feedback ? "" : ", without error feedback");
}

void Compressed::state(StateList& list) {
  if (!unsent_.empty()) list.field("compressed.unsent", unsent_);
}

}  // namespace sagips::comm
