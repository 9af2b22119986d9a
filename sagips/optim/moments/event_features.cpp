#include "sagips/optim/moments/event_features.hpp"

#include <algorithm>
#include <cmath>

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

// The positions below which equal shares of the events lie, both ends of the data among them; then
// those of the tails.
std::vector<double> quantiles_of(const torch::Tensor& values, const torch::Tensor& weights) {
  const auto [sorted, order] = values.to(torch::kFloat64).sort();
  torch::Tensor below;  // share of the events up to and including each
  if (weights.defined())
    below = weights.to(torch::kFloat64).index_select(0, order).cumsum(0);
  else
    below = torch::arange(1, sorted.size(0) + 1, torch::kFloat64);
  const double total = below[-1].item<double>();
  const double tail = tail_share(
      weights.defined() ? total * total / weights.to(torch::kFloat64).square().sum().item<double>()
                        : total);
  const torch::Tensor shares =
      torch::cat({torch::linspace(0, 1, ObservableScale::knots + 1, torch::kFloat64),
                  torch::tensor({tail, 1 - tail}, torch::kFloat64)});
  const torch::Tensor rows = torch::searchsorted((below / total).contiguous(), shares - 1e-12)
                                 .clamp(0, sorted.size(0) - 1);
  const torch::Tensor found = sorted.index_select(0, rows).contiguous();
  return {found.data_ptr<double>(), found.data_ptr<double>() + found.numel()};
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
  const torch::Tensor places = values.to(torch::kFloat64) - static_cast<double>(lowest_category);
  const torch::Tensor fits = (places == places.round())
                                 .logical_and(places >= 0)
                                 .logical_and(places < static_cast<double>(category_places));
  const torch::Tensor counts = torch::bincount(
      torch::where(fits, places, torch::full_like(places, category_places)).to(torch::kInt64), {},
      category_places + 1);
  const torch::Tensor dense = counts.to(torch::kFloat64).contiguous();
  return {dense.data_ptr<double>(), dense.data_ptr<double>() + dense.numel()};
}

Categories categories_of(const std::vector<double>& counts) {
  Categories found;
  if (counts.back() > 0) return found;
  for (std::size_t i = 0; i + 1 < counts.size(); ++i)
    if (counts[i] > 0)
      found.push_back(static_cast<double>(static_cast<std::int64_t>(i) + lowest_category));
  if (found.size() < 2 || found.size() > most_categories) found.clear();
  return found;
}

EventFeatures::EventFeatures(const EventFeaturesConfig& config, std::vector<ObservableScale> scales,
                             std::vector<env::Feature> added, std::vector<Categories> categories)
    : config_(config),
      scales_(std::move(scales)),
      categories_(std::move(categories)),
      added_(std::move(added)) {
  const auto observables = static_cast<std::int64_t>(scales_.size());
  categories_.resize(scales_.size());
  config_.degree = config.degree_for(observables);
  config_.cross_degree = config.cross_degree_grown();
  const auto of = [&](std::int64_t i) { return categories_[static_cast<std::size_t>(i)]; };
  const auto count = [&](std::int64_t i) {
    return of(i).empty() ? config_.degree : static_cast<std::int64_t>(of(i).size());
  };
  const auto name = [&](std::int64_t i, std::int64_t k) {
    return of(i).empty() ? core::text("P", k, "(", i, ")")
                         : core::text("(", i, "=", of(i)[static_cast<std::size_t>(k - 1)], ")");
  };
  for (std::int64_t i = 0; i < observables; ++i)
    for (std::int64_t k = 1; k <= count(i); ++k) names_.push_back(name(i, k));
  // all categories but one count as of degree 1: that one's products follow from the others'
  const auto last = [&](std::int64_t i) { return of(i).empty() ? count(i) : count(i) - 1; };
  const auto degree = [&](std::int64_t i, std::int64_t k) { return of(i).empty() ? k : 1; };
  for (std::int64_t i = 0; i < observables; ++i)
    for (std::int64_t j = i + 1; j < observables; ++j)
      for (std::int64_t total = 2; total <= config_.cross_degree; ++total)
        for (std::int64_t k = 1; k <= last(i); ++k)
          for (std::int64_t l = 1; l <= last(j); ++l)
            if (degree(i, k) + degree(j, l) == total) {
              products_.push_back({i, j, k, l});
              names_.push_back(name(i, k) + " " + name(j, l));
            }
  for (const env::Feature& feature : added_) names_.push_back(feature.name);
}

void EventFeatures::each(const torch::Tensor& values,
                         const std::function<void(const torch::Tensor&)>& take) const {
  const std::int64_t kept_degree =
      scales_.size() > 1 ? std::min(config_.cross_degree - 1, config_.degree) : 0;
  std::vector<std::vector<torch::Tensor>> kept(scales_.size());  // polynomials that products need
  for (std::size_t i = 0; i < scales_.size(); ++i) {
    if (!categories_[i].empty()) {
      const torch::Tensor x = values.select(-1, static_cast<std::int64_t>(i));
      for (const double category : categories_[i]) {
        // 1 at the category, and sloping to its neighbours, so that it can be differentiated
        kept[i].push_back((1 - (x - category).abs()).clamp_min(0));
        take(kept[i].back());
      }
      continue;
    }
    const torch::Tensor t =
        scales_[i](values.select(-1, static_cast<std::int64_t>(i)).contiguous());
    torch::Tensor before, now = t;
    // Bonnet: (k + 1) P_{k+1} = (2 k + 1) t P_k - k P_{k-1}
    for (std::int64_t k = 1; k <= config_.degree; ++k) {
      take(now);
      if (k <= kept_degree) kept[i].push_back(now);
      if (k == config_.degree) break;
      const double n = static_cast<double>(k);
      torch::Tensor next = t * now * ((2 * n + 1) / (n + 1));
      next = k == 1 ? next - 0.5 : torch::sub(next, before, n / (n + 1));
      before = now;
      now = next;
    }
  }
  for (const Product& product : products_)
    take(kept[static_cast<std::size_t>(product.first)]
             [static_cast<std::size_t>(product.first_degree - 1)] *
         kept[static_cast<std::size_t>(product.second)]
             [static_cast<std::size_t>(product.second_degree - 1)]);
  for (const env::Feature& feature : added_) {
    const torch::Tensor found = feature.of(values);
    if (found.dim() != values.dim() - 1 || found.numel() * values.size(-1) != values.numel())
      throw core::ShapeError("feature '" + feature.name + "'",
                             core::text("returns shape ", found.sizes(), " for events of shape ",
                                        values.sizes(), ", expected one number an event."));
    take(found);
  }
}

}  // namespace sagips::optim
