#pragma once
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/env/feature.hpp"

namespace sagips::optim {

struct EventFeaturesConfig {
  std::int64_t degree = 0;        ///< of each observable's Legendre polynomials; 0: automatic
  std::int64_t cross_degree = 3;  ///< total degree of products of two observables' polynomials
  bool grow = true;               ///< automatic degrees, until errors stop shrinking
  bool learned = false;           ///< a classifier a parameter beside the polynomials
  /// How often degrees were raised by a half, and the degree of products by 2. No key.
  int growth = 0;
  /// Whether scales reach over events from all over the ranges, too. No key.
  bool wide = false;
  /// 14 for one observable, 6 for several, where `degree` is automatic; then as `growth` says.
  std::int64_t degree_for(std::int64_t observables) const;
  std::int64_t cross_degree_grown() const;
  void fields(core::FieldList& list);
};

/// An observable on a scale from -1 to 1: half its rank among the data, half its position between
/// their 0.1 and 99.9 % quantiles. Monotone, linear between 64 quantiles, tabulated so that it
/// costs a look-up; what lies beyond the data is at -1 or 1.
///
/// Bounded and without units, so no event dominates a mean and no observable needs a range. Ranks
/// alone would press the tails together, where densities like (1 - x)^b tell b. Observables with
/// heavy tails go through asinh first.
class ObservableScale {
 public:
  static constexpr std::int64_t knots = 64, cells = 4096;
  /// shape: values [events], weights [events] or undefined
  ObservableScale(const torch::Tensor& values, const torch::Tensor& weights);
  /// Makes a scale from its numbers (see `numbers`), e.g. their mean over ranks.
  explicit ObservableScale(const std::vector<double>& numbers);

  /// The observable on its scale, differentiable.
  /// shape: [...] -> [...]
  torch::Tensor operator()(const torch::Tensor& values) const;
  /// Positions of the quantiles, then those of the tails: everything that defines it.
  /// shape: [knots + 3]
  const std::vector<double>& numbers() const { return quantiles_; }

 private:
  std::vector<double> quantiles_;
  double centre_ = 0, scale_ = 0;  ///< of asinh((x - centre) / scale); scale 0: x itself
  double low_ = 0, step_ = 1;      ///< of the table
  torch::Tensor table_;            ///< [cells + 1], float32
};

/// Whole numbers from `low` to `high`, both ends among them.
struct Category {
  double low = 0, high = 0;
  bool operator==(const Category&) const = default;
};
/// What the whole numbers of an observable, at most `most_categories` values from `lowest_category` on, are
/// told apart by; empty: it is a number. Up to `most_crossed` values may be labels: each is a category, but
/// rare ones, which are one without a feature, and as many more as that one needs not to be rare. More are
/// counts: neighbours are together until they are not rare.
using Categories = std::vector<Category>;
inline constexpr std::int64_t lowest_category = -16, category_places = 64, most_categories = 16;
/// Products take an observable of more categories than these as a number: few products of labels tell
/// anything, and cells of two counts are mostly empty.
inline constexpr std::size_t most_crossed = 4;
/// Events that a count, or a product of two categories, needs to have a feature, and a label.
inline constexpr double least_of_category = 20, least_of_label = 5;

/// How many events have each integer from `lowest_category` on, and last, how many have none of them.
/// shape: values [events] -> [category_places + 1]
std::vector<double> category_counts(const torch::Tensor& values);
/// The categories that the counts of all ranks show, of labels the most frequent last; empty: the observable is a
/// number. Beside others a count of
/// few stretches is one: its mean tells more.
Categories categories_of(const std::vector<double>& counts, bool is_alone = true);

/// Numbers computed from events, whose means tell the parameters: Legendre polynomials of each
/// observable on its scale, or for a categorical one whether it has each of its values; products of two
/// observables' numbers, of one with many values its polynomials; and what the user adds.
class EventFeatures {
 public:
  /// categories: of each observable; none at all: all are numbers
  EventFeatures(const EventFeaturesConfig& config, std::vector<ObservableScale> scales,
                std::vector<env::Feature> added, std::vector<Categories> categories = {});

  std::int64_t size() const { return static_cast<std::int64_t>(names_.size()); }
  const std::vector<std::string>& names() const { return names_; }
  /// How many events must have the value, or the values, that a feature is about, so that its mean is known; and
  /// the feature that is 1 for these and else 0. None are needed by features that all events count in.
  struct Need {
    double events = 0;
    std::int64_t counted_by = 0;
  };
  const Need& need(std::int64_t feature) const { return needs_[static_cast<std::size_t>(feature)]; }
  /// Hands over one feature after the other.
  /// shape: values [..., observables] -> each [...]
  void each(const torch::Tensor& values,
            const std::function<void(const torch::Tensor& feature)>& take) const;
  /// Sum w phi phi' over events in double precision, phi beginning with 1. Blocks of events follow
  /// each other, since the features of all would take many times the memory of the events.
  /// shape: values [events, observables], weights [events] or undefined -> [1 + size(), 1 + size()]
  torch::Tensor sums(const torch::Tensor& values, const torch::Tensor& weights) const;
  static constexpr std::int64_t events_at_once = 65536;

 private:
  struct Product {
    std::size_t first, second;
    std::int64_t first_degree, second_degree;
  };
  bool has_polynomials(std::size_t observable) const {
    return categories_[observable].empty() || categories_[observable].size() > most_crossed;
  }

  EventFeaturesConfig config_;
  std::vector<ObservableScale> scales_;
  std::vector<Categories> categories_;  ///< of each observable
  std::vector<Product> products_;
  std::vector<env::Feature> added_;
  std::vector<std::string> names_;
  std::vector<Need> needs_;  ///< by feature
};

}  // namespace sagips::optim
