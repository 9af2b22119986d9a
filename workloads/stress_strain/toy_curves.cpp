#include "workloads/stress_strain/toy_curves.hpp"

#include <algorithm>

#include "sagips/core/error.hpp"
#include "sagips/core/random_numbers.hpp"
#include "sagips/core/text.hpp"

namespace sagips::workloads {

namespace {

/// What is drawn of some curves, before the law makes stresses of it.
struct Drawn {
  torch::Tensor strength, exponent, failure;  ///< [count, 1]
  torch::Tensor strain, noise;                ///< [count, points]; noise of deviation 1

  Drawn(std::int64_t count, std::int64_t points)
      : strength(torch::empty({count, 1}, torch::kFloat64)),
        exponent(torch::empty_like(strength)),
        failure(torch::empty_like(strength)),
        strain(torch::empty({count, points}, torch::kFloat64)),
        noise(torch::empty_like(strain)) {}
};

void draw(const ToyCurves& toy, const core::RandomStream& random, std::int64_t number,
          std::int64_t row, Drawn& drawn) {
  core::RandomNumbers numbers(random, number);
  const auto set = [row](torch::Tensor& to, double value) { to.data_ptr<double>()[row] = value; };
  set(drawn.strength, numbers.between(toy.lowest_strength, toy.highest_strength));
  set(drawn.exponent, numbers.between(toy.lowest_exponent, toy.highest_exponent));
  set(drawn.failure, toy.largest_strain * numbers.between(toy.earliest_failure, 1));
  const std::int64_t points = drawn.strain.size(1);
  double* const strain = drawn.strain.data_ptr<double>() + row * points;
  double* const noise = drawn.noise.data_ptr<double>() + row * points;
  for (std::int64_t i = 0; i < points; ++i) {
    const bool is_even = toy.strains == ToyCurves::Strains::even;
    const double share =
        is_even ? static_cast<double>(i + 1) / static_cast<double>(points) : numbers.between(0, 1);
    strain[i] = toy.largest_strain * share;
    noise[i] = numbers.normal();
  }
  std::sort(strain, strain + points);
}

}  // namespace

void ToyCurves::fields(core::FieldList& list) {
  law.fields(list);
  list.add("lowest_strength", lowest_strength, "drawn curves: evenly from this strength [MPa]",
           core::Range::positive());
  list.add("highest_strength", highest_strength, "to this", core::Range::positive());
  list.add("lowest_exponent", lowest_exponent, "evenly from this exponent",
           core::Range::positive());
  list.add("highest_exponent", highest_exponent, "to this", core::Range::positive());
  list.add("largest_strain", largest_strain, "of the last point of a curve without failure",
           core::Range::positive());
  list.add("earliest_failure", earliest_failure,
           "curves fail evenly from this share of the largest strain to all of it",
           core::Range::between(0, 1));
  list.add("noise", noise, "standard deviation of a stress [MPa]", core::Range::at_least(0));
  list.choice("strains", strains, {{"even", Strains::even}, {"random", Strains::random}},
              "at equal distances, or drawn evenly and sorted");
}

void ToyCurves::check(const std::string& group) const {
  const auto in_order = [&](const char* name, double low, double high) {
    if (low > high)
      throw core::ConfigError(
          core::text(group, ".lowest_", name),
          core::text("is ", low, ", above highest_", name, "=", high, ". Lower it."));
  };
  in_order("strength", lowest_strength, highest_strength);
  in_order("exponent", lowest_exponent, highest_exponent);
}

data::Examples ToyCurves::make(std::int64_t first, std::int64_t count, std::int64_t points,
                               std::uint64_t seed) const {
  constexpr std::int64_t at_once = 5000;
  const core::RandomStream random(seed, "toy curves");
  data::Examples examples{torch::empty({count, points, numbers_of_point}),
                          torch::empty({count, material_parameters})};
  for (std::int64_t begin = 0; begin < count; begin += at_once) {
    const std::int64_t end = std::min(begin + at_once, count);
    Drawn drawn(end - begin, points);
    for (std::int64_t row = begin; row < end; ++row)
      draw(*this, random, first + row, row - begin, drawn);
    const torch::Tensor stress =
        law.stress(drawn.strength, drawn.exponent, drawn.strain) + drawn.noise * noise;
    const torch::Tensor flag = (drawn.strain <= drawn.failure).to(torch::kFloat64);
    examples.inputs.slice(0, begin, end)
        .copy_(torch::stack({drawn.strain * flag, stress * flag, flag}, 2));
    examples.targets.slice(0, begin, end).copy_(torch::cat({drawn.strength, drawn.exponent}, 1));
  }
  return examples;
}

}  // namespace sagips::workloads
