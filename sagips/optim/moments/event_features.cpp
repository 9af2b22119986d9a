#include "sagips/optim/moments/event_features.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::optim {

void EventFeaturesConfig::fields(core::FieldList& list) {
  list.add("degree", degree,
           "of the Legendre polynomials of each observable on its scale; 0: 14 for one observable, "
           "6 for several",
           core::Range::between(0, 64));
  list.add("cross_degree", cross_degree,
           "total degree of products of two observables' polynomials; below 2: none",
           core::Range::between(0, 64));
  list.add(
      "learned", learned,
      "beside them a small classifier for each parameter, trained on simulated events on either "
      "side of the answer: it learns what products of two observables do not tell");
  list.add(
      "grow", grow,
      "raise an automatic degree by a half, and cross_degree by 2, as long as an error shrinks "
      "by more than 2 %");
}

std::int64_t EventFeaturesConfig::degree_for(std::int64_t observables) const {
  std::int64_t grown = degree > 0 ? degree : observables == 1 ? 14 : 6;
  for (int i = 0; i < growth; ++i) grown = std::min<std::int64_t>(64, grown + (grown + 1) / 2);
  return grown;
}

std::int64_t EventFeaturesConfig::cross_degree_grown() const {
  return cross_degree < 2 ? cross_degree : cross_degree + std::int64_t{2} * growth;
}

namespace {

// Beyond this ratio of a sample's range to the distance of its quartiles a table of equal cells
// would not see the bulk.
constexpr double heavy_tails = 100;

// Beyond these shares of the events positions do not count: covariances of features that a few
// outliers dominate would not be known. At least some 20 events lie there.
double tail_share(double events) { return std::clamp(20 / events, 1e-3, 0.05); }

// A number's bits as a whole number that rises with it, and back.
std::uint32_t rising(float number) {
  const auto bits = std::bit_cast<std::uint32_t>(number);
  return bits >> 31 != 0 ? ~bits : bits | 0x8000'0000U;
}
float number_of(std::uint32_t rising) {
  return std::bit_cast<float>(rising >> 31 != 0 ? rising & 0x7fff'ffffU : ~rising);
}

/// A quantile of which the first digits are known.
struct Quantile {
  double share;              ///< of the events, that lie up to it
  std::uint32_t digits = 0;  ///< the first bits of its rising number
  double below = 0;          ///< weight of the events whose first digits are lower
};

// weights: of the events that begin with the quantile's digits, by their next one
std::size_t next_digit(Quantile& quantile, const std::vector<double>& weights, double total) {
  double sum = quantile.below;
  std::size_t found = 0;
  for (std::size_t digit = 0; digit < weights.size(); ++digit) {
    if (!(weights[digit] > 0)) continue;
    found = digit;
    quantile.below = sum;
    sum += weights[digit];
    if (sum / total >= quantile.share - 1e-12) break;
  }
  return found;
}

// The positions below which equal shares of the events lie, both ends of the data among them; then
// those of the tails. Three passes over the events find one digit of all quantiles each: sorted
// copies of many events would take several times the memory of the events themselves.
std::vector<double> quantiles_of(const torch::Tensor& values, const torch::Tensor& weights) {
  const torch::Tensor numbers = values.to(torch::kFloat32);
  const torch::Tensor counts =
      weights.defined() ? weights.to(torch::kFloat32).contiguous() : weights;
  const auto each = [&, x = numbers.data_ptr<float>(), stride = numbers.stride(0),
                     size = numbers.size(0),
                     w = counts.defined() ? counts.data_ptr<float>() : nullptr](const auto& take) {
    // an event that counts nothing has a place nevertheless
    for (std::int64_t i = 0; i < size; ++i)
      take(std::uint64_t{rising(x[i * stride])},
           w ? std::max<double>(std::abs(w[i]), 1e-300) : 1.0);
  };
  double total = 0, squares = 0;
  each([&](std::uint64_t, double weight) {
    total += weight;
    squares += weight * weight;
  });
  const double tail = tail_share(total * total / squares);
  std::vector<Quantile> quantiles;
  for (std::int64_t i = 0; i <= ObservableScale::knots; ++i)
    quantiles.push_back({static_cast<double>(i) / static_cast<double>(ObservableScale::knots)});
  quantiles.push_back({tail});
  quantiles.push_back({1 - tail});
  int unknown = 32;  // bits
  for (const int width : {11, 11, 10}) {
    // weight of the events by their next digit, for each beginning that is some quantile's
    std::vector<std::vector<double>> tables;
    std::vector<std::int8_t> table_of(std::size_t{1} << (32 - unknown), -1);
    for (const Quantile& quantile : quantiles)
      if (table_of[quantile.digits] < 0) {
        table_of[quantile.digits] = static_cast<std::int8_t>(tables.size());
        tables.emplace_back(std::size_t{1} << width);
      }
    const int rest = unknown - width;
    const std::uint64_t digit_mask = (std::uint64_t{1} << width) - 1;
    each([&](std::uint64_t number, double weight) {
      const std::int8_t table = table_of[number >> unknown];
      if (table >= 0)
        tables[static_cast<std::size_t>(table)][(number >> rest) & digit_mask] += weight;
    });
    for (Quantile& quantile : quantiles) {
      const auto& table = tables[static_cast<std::size_t>(table_of[quantile.digits])];
      const std::size_t digit = next_digit(quantile, table, total);
      quantile.digits = (quantile.digits << width) | static_cast<std::uint32_t>(digit);
    }
    unknown = rest;
  }
  std::vector<double> found;
  for (const Quantile& quantile : quantiles)
    found.push_back(static_cast<double>(number_of(quantile.digits)));
  return found;
}

}  // namespace

ObservableScale::ObservableScale(const torch::Tensor& values, const torch::Tensor& weights)
    : ObservableScale(quantiles_of(values, weights)) {}

ObservableScale::ObservableScale(const std::vector<double>& numbers) : quantiles_(numbers) {
  constexpr auto last = static_cast<std::size_t>(knots);
  const double range = quantiles_[last] - quantiles_[0];
  const double quartiles = quantiles_[last * 3 / 4] - quantiles_[last / 4];
  std::vector<double> positions = quantiles_;
  if (quartiles > 0 && range > heavy_tails * quartiles) {
    centre_ = quantiles_[last / 2];
    scale_ = quartiles;
    for (double& position : positions) position = std::asinh((position - centre_) / scale_);
  }
  const double smallest = 1e-30 + 1e-12 * std::abs(positions[last]);
  low_ = positions[0];
  step_ = std::max((positions[last] - positions[0]) / static_cast<double>(cells), smallest);
  const double from = positions[last + 1], width = std::max(positions[last + 2] - from, smallest);
  table_ = torch::empty({cells + 1}, torch::kFloat32);
  float* entry = table_.data_ptr<float>();
  std::size_t knot = 0;
  for (std::int64_t i = 0; i <= cells; ++i) {
    const double x = low_ + static_cast<double>(i) * step_;
    while (knot + 1 < last && positions[knot + 1] <= x) ++knot;
    const double stretch = positions[knot + 1] - positions[knot];
    const double share = stretch > 0 ? std::clamp((x - positions[knot]) / stretch, 0.0, 1.0) : 1.0;
    const double rank = (static_cast<double>(knot) + share) / static_cast<double>(last);
    const double place = std::clamp((x - from) / width, 0.0, 1.0);
    entry[i] = static_cast<float>(rank + place - 1);
  }
}

torch::Tensor ObservableScale::operator()(const torch::Tensor& values) const {
  const torch::Tensor x = scale_ > 0 ? torch::asinh((values - centre_) / scale_) : values;
  const torch::Tensor place = ((x - low_) / step_).clamp(0, static_cast<double>(cells));
  // NaN stays in `place`, so that it is seen in the end; as a cell it would be no index
  const torch::Tensor cell =
      torch::nan_to_num(place.detach(), 0.0).floor_().clamp_max_(static_cast<double>(cells - 1));
  const torch::Tensor index = cell.to(torch::kInt32).flatten();
  const torch::Tensor table = table_.to(values.device(), values.scalar_type());
  const torch::Tensor left = table.index_select(0, index).view_as(cell);
  const torch::Tensor right = table.narrow(0, 1, cells).index_select(0, index).view_as(cell);
  return torch::addcmul(left, place - cell, right - left);
}

std::vector<double> category_counts(const torch::Tensor& values) {
  const torch::Tensor numbers = values.to(torch::kFloat32);
  const float* number = numbers.data_ptr<float>();
  std::vector<double> counts(category_places + 1, 0);
  for (std::int64_t i = 0; i < numbers.size(0); ++i, number += numbers.stride(0)) {
    const double place = double{*number} - static_cast<double>(lowest_category);
    const bool fits =
        place == std::round(place) && place >= 0 && place < static_cast<double>(category_places);
    counts[fits ? static_cast<std::size_t>(place) : category_places] += 1;
  }
  return counts;
}

namespace {

// The categories of labels without an order. The rest is a category as well, by what the others lack.
Categories labels_of(std::vector<std::pair<double, double>> values) {
  double rest = 0;
  while (values.size() > 1) {
    const auto rarest = std::min_element(
        values.begin(), values.end(),
        [](const auto& one, const auto& other) { return one.second < other.second; });
    const bool has_enough = rest == 0 || rest >= least_of_label;
    if (has_enough && rarest->second >= least_of_label) break;
    rest += rarest->second;
    values.erase(rarest);
  }
  // products leave the last out, as what follows from the others: features of few events are seen as such then
  const auto most = std::max_element(
      values.begin(), values.end(),
      [](const auto& one, const auto& other) { return one.second < other.second; });
  std::rotate(most, most + 1, values.end());
  Categories found;
  for (const auto& [value, count] : values)
    if (count >= least_of_label) found.push_back({value, value});
  return found;
}

// The categories of counts: neighbours together until they are not rare.
Categories stretches_of(const std::vector<std::pair<double, double>>& values, std::size_t least) {
  Categories found;
  double low = -std::numeric_limits<double>::infinity(), sum = 0;
  for (const auto& [value, count] : values) {
    sum += count;
    if (sum < least_of_category) continue;
    found.push_back({low, value});
    low = value + 1;
    sum = 0;
  }
  if (found.size() < least) return {};
  found.back().high = std::numeric_limits<double>::infinity();
  return found;
}

}  // namespace

Categories categories_of(const std::vector<double>& counts, bool is_alone) {
  constexpr std::size_t least_alone = 2, least_beside_others = 4;

  std::vector<std::pair<double, double>> values;  // and how many events have them
  if (counts.back() > 0) return {};
  for (std::size_t i = 0; i + 1 < counts.size(); ++i)
    if (counts[i] > 0)
      values.emplace_back(static_cast<double>(static_cast<std::int64_t>(i) + lowest_category),
                          counts[i]);
  if (values.size() == 1 && !is_alone)  // a polynomial has no scale where all are equal
    return {{values[0].first, values[0].first}};
  if (values.size() < 2 || values.size() > most_categories) return {};
  if (values.size() <= most_crossed) return labels_of(std::move(values));
  return stretches_of(values, is_alone ? least_alone : least_beside_others);
}

EventFeatures::EventFeatures(const EventFeaturesConfig& config, std::vector<ObservableScale> scales,
                             std::vector<env::Feature> added, std::vector<Categories> categories)
    : config_(config),
      scales_(std::move(scales)),
      categories_(std::move(categories)),
      added_(std::move(added)) {
  categories_.resize(scales_.size());
  config_.degree = config.degree_for(static_cast<std::int64_t>(scales_.size()));
  config_.cross_degree = config.cross_degree_grown();
  const auto add = [&](std::string name, double events = 0, std::int64_t counted_by = -1) {
    needs_.push_back({events, counted_by < 0 ? size() : counted_by});
    names_.push_back(std::move(name));
  };
  std::vector<std::int64_t> first_of(scales_.size());  // feature of each observable
  // what products of an observable are made of, by degree: all categories but one count as of degree 1, that
  // one's products follow from the others'
  const auto label = [&](std::size_t i, std::int64_t k) {
    const Category& one = categories_[i][static_cast<std::size_t>(k - 1)];
    if (one.low == one.high) return core::text("(", i, "=", one.low, ")");
    if (std::isinf(one.low)) return core::text("(", i, "<=", one.high, ")");
    if (std::isinf(one.high)) return core::text("(", i, ">=", one.low, ")");
    return core::text("(", i, "=", one.low, "..", one.high, ")");
  };
  const auto name = [&](std::size_t i, std::int64_t k) {
    return has_polynomials(i) ? core::text("P", k, "(", i, ")") : label(i, k);
  };
  for (std::size_t i = 0; i < scales_.size(); ++i) {
    first_of[i] = size();
    for (std::size_t k = 1; k <= categories_[i].size(); ++k)
      add(label(i, static_cast<std::int64_t>(k)), least_of_label);
    // beside categories they would tell apart the few events of a rare value
    for (std::int64_t k = 1; k <= config_.degree && categories_[i].empty(); ++k) add(name(i, k));
  }
  const auto last = [&](std::size_t i) {
    return has_polynomials(i) ? config_.degree
                              : static_cast<std::int64_t>(categories_[i].size()) - 1;
  };
  const auto degree = [&](std::size_t i, std::int64_t k) { return has_polynomials(i) ? k : 1; };
  for (std::size_t i = 0; i < scales_.size(); ++i)
    for (std::size_t j = i + 1; j < scales_.size(); ++j)
      for (std::int64_t total = 2; total <= config_.cross_degree; ++total)
        for (std::int64_t k = 1; k <= last(i); ++k)
          for (std::int64_t l = 1; l <= last(j); ++l)
            if (degree(i, k) + degree(j, l) == total) {
              products_.push_back({i, j, k, l});
              const std::string both = name(i, k) + " " + name(j, l);
              if (!has_polynomials(i) && !has_polynomials(j))
                add(both, least_of_category);
              else if (!has_polynomials(i))  // as many polynomials of the events with a label
                add(both, least_of_category * static_cast<double>(l), first_of[i] + k - 1);
              else if (!has_polynomials(j))
                add(both, least_of_category * static_cast<double>(k), first_of[j] + l - 1);
              else
                add(both);
            }
  for (const env::Feature& feature : added_) add(feature.name);
}

void EventFeatures::each(const torch::Tensor& values,
                         const std::function<void(const torch::Tensor&)>& take) const {
  const std::int64_t kept_degree =
      scales_.size() > 1 ? std::min(config_.cross_degree - 1, config_.degree) : 0;
  std::vector<std::vector<torch::Tensor>> kept(scales_.size());  // polynomials that products need
  for (std::size_t i = 0; i < scales_.size(); ++i) {
    for (const Category& category : categories_[i]) {
      const torch::Tensor x = values.select(-1, static_cast<std::int64_t>(i));
      // 1 in the category, and sloping to its neighbours, so that it can be differentiated
      const torch::Tensor hat =
          (1 - torch::maximum(category.low - x, x - category.high).clamp_min(0)).clamp_min(0);
      if (!has_polynomials(i)) kept[i].push_back(hat);
      take(hat);
    }
    const std::int64_t highest = categories_[i].empty() ? config_.degree : kept_degree;
    if (!has_polynomials(i) || highest == 0) continue;
    const torch::Tensor t =
        scales_[i](values.select(-1, static_cast<std::int64_t>(i)).contiguous());
    torch::Tensor before, now = t;
    // Bonnet: (k + 1) P_{k+1} = (2 k + 1) t P_k - k P_{k-1}
    for (std::int64_t k = 1; k <= highest; ++k) {
      if (categories_[i].empty()) take(now);
      if (k <= kept_degree) kept[i].push_back(now);
      if (k == highest) break;
      const double n = static_cast<double>(k);
      torch::Tensor next = t * now * ((2 * n + 1) / (n + 1));
      next = k == 1 ? next - 0.5 : torch::sub(next, before, n / (n + 1));
      before = now;
      now = next;
    }
  }
  for (const Product& product : products_)
    take(kept[product.first][static_cast<std::size_t>(product.first_degree - 1)] *
         kept[product.second][static_cast<std::size_t>(product.second_degree - 1)]);
  for (const env::Feature& feature : added_) {
    const torch::Tensor found = feature.of(values);
    if (found.dim() != values.dim() - 1 || found.numel() * values.size(-1) != values.numel())
      throw core::ShapeError("feature '" + feature.name + "'",
                             core::text("returns shape ", found.sizes(), " for events of shape ",
                                        values.sizes(), ", expected one number an event."));
    take(found);
  }
}

torch::Tensor EventFeatures::sums(const torch::Tensor& values, const torch::Tensor& weights) const {
  const std::vector<torch::Tensor> parts = values.split(events_at_once);
  std::vector<torch::Tensor> weights_of(parts.size());
  if (weights.defined()) weights_of = weights.split(events_at_once);
  torch::Tensor found = torch::zeros({1 + size(), 1 + size()}, torch::kFloat64);
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const torch::Tensor all = torch::empty({1 + size(), parts[i].size(0)}, torch::kFloat64);
    std::int64_t row = 0;
    all[row++].fill_(1);
    each(parts[i], [&](const torch::Tensor& feature) { all[row++].copy_(feature); });
    found +=
        torch::matmul(weights.defined() ? all * weights_of[i].to(torch::kFloat64) : all, all.t());
  }
  return found;
}

}  // namespace sagips::optim
