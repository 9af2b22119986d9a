#include "sagips/analysis/drawing/ticks.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/text.hpp"

namespace sagips::analysis::drawing {
namespace {

/// Numbers from here on get a power of ten instead of zeros.
constexpr double largest_plain = 1e6;
constexpr double smallest_plain = 1e-3;

int exponent_of(double value) { return static_cast<int>(std::floor(std::log10(value) + 1e-9)); }

std::string with_true_minus(const std::string& number) {
  return number.front() == '-' ? "−" + number.substr(1) : number;
}

std::string superscript(int exponent) {
  static const char* const digits[] = {"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "⁻" : "";
  for (const char digit : std::to_string(std::abs(exponent))) text += digits[digit - '0'];
  return text;
}

std::string power_of_ten(double mantissa, int exponent, int decimals) {
  std::string power = "10" + superscript(exponent);
  if (mantissa == 1) return power;
  return with_true_minus(core::fixed(mantissa, decimals)) + "×" + power;
}

/// The smallest step of 1, 2, 5 times a power of ten that is no smaller than `least`.
double round_step(double least) {
  const double power = std::pow(10, exponent_of(least));
  for (const double factor : {1.0, 2.0, 5.0})
    if (factor * power >= least * (1 - 1e-9)) return factor * power;
  return 10 * power;
}

std::string linear_label(double value, double step, double largest) {
  if (value == 0) return "0";
  if (largest < largest_plain && step >= smallest_plain / 10)
    return with_true_minus(core::fixed(value, std::max(0, -exponent_of(step))));
  // One power for the whole axis, so that labels compare at a glance.
  const int exponent = exponent_of(largest);
  const int decimals = std::max(0, exponent - exponent_of(step));
  return power_of_ten(value / std::pow(10, exponent), exponent, decimals);
}

/// Powers of ten times the given factors inside the interval, upwards.
std::vector<double> decade_values(Interval interval, const std::vector<double>& factors) {
  std::vector<double> values;
  const double slack = 1e-9;
  for (int decade = exponent_of(interval.low); decade <= exponent_of(interval.high); ++decade)
    for (const double factor : factors) {
      const double value = factor * std::pow(10, decade);
      if (value >= interval.low * (1 - slack) && value <= interval.high * (1 + slack))
        values.push_back(value);
    }
  return values;
}

std::vector<Tick> decade_ticks(const std::vector<double>& values) {
  const bool plain = values.front() >= smallest_plain && values.back() < largest_plain;
  std::vector<Tick> ticks;
  for (const double value : values) {
    const int exponent = exponent_of(value);
    const double mantissa = std::round(value / std::pow(10, exponent));
    ticks.push_back({value, plain ? core::fixed(value, std::max(0, -exponent))
                                  : power_of_ten(mantissa, exponent, 0)});
  }
  return ticks;
}

}  // namespace

Ticks linear_ticks(Interval interval, int most) {
  const double length = interval.high - interval.low;
  double step = round_step(length / std::max(most, 2));
  const auto first = [&] { return std::ceil(interval.low / step - 1e-9); };
  const auto last = [&] { return std::floor(interval.high / step + 1e-9); };
  while (last() - first() + 1 > std::max(most, 2)) step = round_step(step * 1.5);
  long long every = 1;
  if (last() - first() < 1) {  // one tick tells no scale: the first and the last of a finer step
    step = round_step(step / 2.6);
    every = std::max(1LL, static_cast<long long>(last() - first()));
  }
  const double largest = std::max(std::abs(interval.low), std::abs(interval.high));
  Ticks ticks;
  const auto begin = static_cast<long long>(first()), end = static_cast<long long>(last());
  for (long long count = begin; count <= end; count += every) {
    const double value = static_cast<double>(count) * step;
    ticks.major.push_back({value, linear_label(value, step, largest)});
  }
  return ticks;
}

Ticks logarithmic_ticks(Interval interval, int most) {
  std::vector<double> powers = decade_values(interval, {1});
  if (powers.size() < 3) {
    const std::vector<double> values = decade_values(interval, {1, 2, 5});
    if (values.size() >= 2 && static_cast<int>(values.size()) <= std::max(most, 2))
      return {decade_ticks(values), decade_values(interval, {3, 4, 6, 7, 8, 9})};
    if (powers.size() < 2) return linear_ticks(interval, most);
  }
  const auto every = (powers.size() + static_cast<std::size_t>(std::max(most, 2)) - 1) /
                     static_cast<std::size_t>(std::max(most, 2));
  if (every == 1) return {decade_ticks(powers), decade_values(interval, {2, 3, 4, 5, 6, 7, 8, 9})};
  std::vector<double> kept;
  for (std::size_t i = 0; i < powers.size(); i += every) kept.push_back(powers[i]);
  return {decade_ticks(kept), powers};
}

}  // namespace sagips::analysis::drawing
