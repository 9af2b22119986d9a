#include "workloads/stress_strain/hardening_law.hpp"

#include <algorithm>

#include "sagips/core/text.hpp"

namespace sagips::workloads {

void HardeningLaw::fields(core::FieldList& list) {
  list.choice("law", form, {{"hollomon", Form::hollomon}, {"root", Form::root}},
              "stress = strength strain^exponent, or strength strain^(1 / exponent)");
}

torch::Tensor HardeningLaw::stress(const torch::Tensor& strength, const torch::Tensor& exponent,
                                   const torch::Tensor& strain) const {
  return strength * torch::pow(strain, form == Form::root ? 1 / exponent : exponent);
}

std::string CurveRanges::remark(const std::string& file, const std::string& expected,
                                bool is_another_law) const {
  const char* const cause = strain.second > 1
                                ? "strains in per cent, which are to be divided by 100"
                            : is_another_law ? "another law"
                                             : "stresses in another unit than strengths";
  const auto shown = [](const Range& range) {
    return core::text(core::significant(range.first, 3), " to ",
                      core::significant(range.second, 3));
  };
  return core::text(file, ": has strains of ", shown(strain), " and stresses of ", shown(stress),
                    ", where ", expected, " are expected. Likely: ", cause, ".");
}

void LawComparison::add(const torch::Tensor& curves, const torch::Tensor& parameters) {
  constexpr double noise = 0.25;  // at most, of most stresses
  const torch::Tensor all = curves.select(2, 0), there = (curves.select(2, 2) == 1) & (all > 0);
  if (!there.any().item<bool>()) return;
  const torch::Tensor strain = all.masked_select(there),
                      stress = curves.select(2, 1).masked_select(there);
  const torch::Tensor factor =
      stress /
      law_.stress(parameters.narrow(1, 0, 1), parameters.narrow(1, 1, 1), all).masked_select(there);
  const auto widen = [](CurveRanges::Range& range, const torch::Tensor& numbers) {
    range = {std::min(range.first, numbers.min().item<double>()),
             std::max(range.second, numbers.max().item<double>())};
  };
  widen(ranges_.strain, strain);
  widen(ranges_.stress, stress);
  points_ += factor.numel();
  off_ += ((factor - 1).abs() > noise).sum().item<std::int64_t>();
  const torch::Tensor logarithms = factor.abs().clamp(1e-30, 1e30).log().to(torch::kFloat64);
  logarithms_ += logarithms.sum().item<double>();
  squares_ += logarithms.square().sum().item<double>();
}

std::string LawComparison::remark(const std::string& file) const {
  if (2 * off_ <= points_) return {};
  // Another unit is one factor for all points, give or take the noise; between laws it goes with powers of the strain.
  constexpr double of_noise = 0.7;
  const auto points = static_cast<double>(points_);
  const double mean = logarithms_ / points;
  const double deviation = std::sqrt(std::max(0.0, squares_ / points - mean * mean));
  return ranges_.remark(file,
                        core::text("strains of 0 to 1 and stresses of ", law_.formula(),
                                   " (data.law) with each row's own parameters"),
                        deviation > of_noise);
}

}  // namespace sagips::workloads
