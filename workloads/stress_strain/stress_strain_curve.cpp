#include <algorithm>
#include <cmath>
#include <map>
#include <string>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "workloads/stress_strain/measured_curve.hpp"
#include "workloads/stress_strain/stress_strain.hpp"

namespace sagips::workloads {

std::map<std::string, std::string> stress_strain_settings();  // from the YAML beside this file

namespace {

// Cuts leave out most strains in per cent, and no strength fits stresses of another unit.
std::string remark(const data::Dataset& events, double highest_strain, double highest_stress) {
  if (events.ranges.size() != 2) return {};
  const CurveRanges found{events.ranges[0], events.ranges[1]};
  const double factor = found.stress.second / highest_stress;
  if (found.strain.second <= std::max(1.0, highest_strain) && factor < 10 && factor > 0.01)
    return {};
  return found.remark(
      events.origin,
      core::text("strains up to strain.high=", highest_strain, " and stresses up to ",
                 core::significant(highest_stress, 3), " (ranges of strength and exponent)"));
}

class StressStrainCurve final : public problem::Workload {
 public:
  void fields(core::FieldList& list) override {
    env::add_parameters(list, parameters_);
    law_.fields(list);
    list.group("strain", strain_, "the strains that are compared, evenly spread");
    list.add("noise", noise_, "standard deviation of a stress [MPa]", core::Range::positive());
  }

  std::vector<env::Parameter> parameters() const override {
    std::vector<env::Parameter> all = parameters_;
    all[0].unit = law_.unit();
    return all;
  }

  std::vector<problem::ChannelPlan> channels() const override {
    strain_.check();
    check_noise();
    problem::ChannelPlan plan;
    plan.observables = {{"strain", ""}, {"stress", law_.unit()}};
    plan.pipeline = {MeasuredCurve(law_, strain_, noise_)};
    plan.density = CurveDensity(law_, strain_, noise_, highest_stress());
    // behind a failure both are 0
    plan.cuts = {
        core::text(core::round_trip(strain_.low), " < strain <= ", core::round_trip(strain_.high))};
    plan.remark = [high = strain_.high, stress = highest_stress()](const data::Dataset& events) {
      return remark(events, high, stress);
    };
    plan.features = features_of(law_, parameters_[1].low, parameters_[1].high);
    return {plan};
  }

  std::vector<problem::DensityCurve> densities() const override {
    const torch::Tensor strain =
        torch::linspace(strain_.low, strain_.high, 201, torch::kFloat64).slice(0, 1);
    const std::string unit = law_.unit();
    return {{unit.empty() ? "stress" : "stress [" + unit + "]", "strain", strain,
             [law = law_, strain](const torch::Tensor& p) {
               return law.stress(p.narrow(1, 0, 1), p.narrow(1, 1, 1), strain);
             }}};
  }

 private:
  // Cells of the likelihood are a tenth of the noise.
  void check_noise() const {
    if (noise_ >= smallest_noise * highest_stress()) return;
    throw core::ConfigError(
        "noise",
        core::text(core::significant(noise_, 3), " is less than ", smallest_noise,
                   " of the highest stress in the ranges of the parameters, ",
                   core::significant(highest_stress(), 3),
                   ". Give data, noise and parameters.strength in one unit, or more noise."));
  }

  static constexpr double smallest_noise = 1e-4;
  double highest_stress() const {
    const auto at = [&](double exponent) {
      return parameters_[0].high * std::pow(strain_.high, law_.power(exponent));
    };
    return std::max(at(parameters_[1].low), at(parameters_[1].high));
  }

  HardeningLaw law_;
  StrainRange strain_;
  double noise_ = 10;
  std::vector<env::Parameter> parameters_ = {
      {.name = "strength", .low = 200, .high = 1200, .toy = 700, .help = "stress at a strain of 1"},
      {.name = "exponent",
       .low = 0.1,
       .high = 0.5,
       .toy = 0.25,
       .help = "how fast the material hardens"}};
};

}  // namespace

problem::WorkloadEntry stress_strain_curve_workload() {
  const std::map<std::string, std::string> all = stress_strain_settings();
  return {"stress_strain_curve",
          "two parameters of a material from one stress-strain curve",
          {{"default", all.at("curve")}, {"root", all.at("curve_root")}},
          [] { return std::make_unique<StressStrainCurve>(); }};
}

}  // namespace sagips::workloads
