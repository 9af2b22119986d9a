#pragma once
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/env/densities/density.hpp"
#include "sagips/env/feature.hpp"
#include "sagips/env/noise/noise.hpp"
#include "workloads/stress_strain/hardening_law.hpp"

namespace sagips::workloads {

struct StrainRange {
  double low = 0, high = 0.3;

  void fields(core::FieldList& list);
  /// throws: ConfigError
  void check() const;
};

/// Points of a curve: strains spread evenly, stresses with normal noise.
/// shape: parameters [samples, (strength, exponent)] -> [samples, events, (strain, stress)]
/// noise: two dimensions
class MeasuredCurve {
 public:
  MeasuredCurve(HardeningLaw law, StrainRange strain, double noise)
      : law_(law), strain_(strain), noise_(noise) {}

  torch::Tensor operator()(torch::Tensor parameters, env::Noise& noise) const;
  std::string name() const { return "measured_curve"; }

 private:
  HardeningLaw law_;
  StrainRange strain_;
  double noise_;
};

/// Its exact likelihood. That of the strains depends on no parameter, so where they lie does not matter.
class CurveDensity {
 public:
  using Sample = env::DensitySample;

  /// highest_stress: that any curve of the parameters' ranges reaches
  CurveDensity(HardeningLaw law, StrainRange strain, double noise, double highest_stress);

  Sample sample(const torch::Tensor& values, const torch::Tensor& weights,
                const std::string& origin) const;
  torch::Tensor negative_log_likelihood(const torch::Tensor& parameters,
                                        const Sample& sample) const;
  /// Of cells of 100 strains and of a tenth of the noise: errors grow by less than 1e-3.
  torch::Tensor probabilities(const torch::Tensor& parameters) const;

 private:
  torch::Tensor stress(const torch::Tensor& parameters, const torch::Tensor& strain) const {
    return law_.stress(parameters.select(0, 0), parameters.select(0, 1), strain);
  }

  HardeningLaw law_;
  StrainRange strain_;
  double noise_;
  torch::Tensor strains_;  ///< [strains, 1]
  torch::Tensor edges_;    ///< of the cells of stress
};

/// Products of the stress and of powers of the strain, and powers alone. The slope of the likelihood is (stress -
/// curve) times the curve's slopes, sums of such terms but for the power, which lies between those that are taken here.
std::vector<env::Feature> features_of(const HardeningLaw& law, double lowest_exponent,
                                      double highest_exponent);

}  // namespace sagips::workloads
