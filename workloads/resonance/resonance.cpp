#include "workloads/resonance/resonance.hpp"

#include "sagips/core/text.hpp"
#include "sagips/env/densities/tabulated_density.hpp"
#include "sagips/env/outside/stage_config.hpp"
#include "sagips/env/samplers/inverse_cdf.hpp"
#include "workloads/resonance/line_shape.hpp"

namespace sagips::workloads {

std::map<std::string, std::string> resonance_settings();

namespace {

class Resonance final : public problem::Workload {
 public:
  void fields(core::FieldList& list) override {
    env::add_parameters(list, parameters_);
    list.group("window", window_,
               "mass window [GeV] in which events are kept and densities normalised");
    list.list("pipeline", outside_, "further " + env::StageConfig::help());
  }

  std::vector<env::Parameter> parameters() const override { return parameters_; }

  std::vector<problem::ChannelPlan> channels() const override {
    const resonance::LineShape shape(window_);
    const env::InverseCdf sampler({window_, 1.0, {}});
    problem::ChannelPlan plan;
    plan.observables = {{"M", "GeV"}};
    plan.pipeline = {shape, sampler};
    env::append(plan.pipeline, outside_, 1);
    if (outside_.empty())
      plan.density = env::TabulatedDensity(
          [shape](const torch::Tensor& p) { return shape.table(p); }, window_, {});
    plan.cuts = {
        core::text(core::round_trip(window_.low), " < M < ", core::round_trip(window_.last()))};
    return {plan};
  }

  std::vector<problem::DensityCurve> densities() const override {
    const resonance::LineShape shape(window_);
    const torch::Tensor mass = window_.positions(torch::kFloat64);
    const auto background = [shape](const torch::Tensor& p) {
      torch::Tensor alone = p.clone();
      alone.select(1, fraction).zero_();
      return shape.table(alone).squeeze(1) * (1 - p.select(1, fraction)).unsqueeze(1);
    };
    return {{"signal and background [1/GeV]", "M [GeV]", mass,
             [shape](const torch::Tensor& p) { return shape.table(p).squeeze(1); }},
            {"background [1/GeV]", "M [GeV]", mass, background}};
  }

 private:
  static constexpr std::int64_t fraction = 3;  // place among the parameters
  env::Grid window_{.low = 70, .high = 110, .points = 401, .rule = env::CellRule::trapezoid};
  std::vector<env::StageConfig> outside_;
  // width: PDG 2022, Z boson, full width
  std::vector<env::Parameter> parameters_ = {
      {.name = "mass",
       .unit = "GeV",
       .low = 86,
       .high = 96,
       .truth = {},
       .fixed = {},
       .toy = 91.1876,
       .help = "pole mass of the resonance"},
      {.name = "width",
       .unit = "GeV",
       .low = 0.5,
       .high = 5,
       .truth = {},
       .fixed = 2.4952,
       .toy = 2.4952,
       .help = "natural width"},
      {.name = "resolution",
       .unit = "GeV",
       .low = 0.3,
       .high = 5,
       .truth = {},
       .fixed = {},
       .toy = 1.5,
       .help = "standard deviation of the detector's Gaussian response"},
      {.name = "fraction",
       .unit = "",
       .low = 0,
       .high = 1,
       .truth = {},
       .fixed = {},
       .toy = 0.9,
       .help = "signal's share of events in the window"},
      {.name = "slope",
       .unit = "1/GeV",
       .low = -0.05,
       .high = 0.2,
       .truth = {},
       .fixed = {},
       .toy = 0.03,
       .help = "fall of the background"}};
};

}  // namespace

problem::WorkloadEntry resonance_workload() {
  return {"resonance", "mass and resolution of a resonance from di-muon masses over a background",
          resonance_settings(), [] { return std::make_unique<Resonance>(); }};
}

}  // namespace sagips::workloads
