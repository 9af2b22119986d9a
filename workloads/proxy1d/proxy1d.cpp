#include "workloads/proxy1d/proxy1d.hpp"

#include "sagips/env/densities/tabulated_density.hpp"
#include "sagips/env/outside/stage_config.hpp"
#include "sagips/env/samplers/inverse_cdf.hpp"
#include "sagips/env/stages/detector.hpp"
#include "sagips/env/stages/event_filter.hpp"
#include "workloads/proxy1d/theory.hpp"

namespace sagips::workloads {

std::map<std::string, std::string> proxy1d_settings();

namespace {

// The authors' sampler: 1000 points, left ends, and u up to 0.9999.
struct SamplerConfig {
  env::Grid grid{.low = 0.1, .high = 0.99999, .points = 1000, .rule = env::CellRule::left};
  double coverage = 0.9999;

  void fields(core::FieldList& list) {
    grid.fields(list);
    list.add("coverage", coverage, "uniform numbers are multiplied by this",
             core::Range{0, 1, true, false});
  }
};

env::Parameter parameter(const std::string& name, double low, double high, double truth,
                         const std::string& help) {
  return {.name = name,
          .unit = "",
          .low = low,
          .high = high,
          .truth = {},
          .fixed = {},
          .toy = truth,
          .help = help};
}

class Proxy1d final : public problem::Workload {
 public:
  void fields(core::FieldList& list) override {
    env::add_parameters(list, parameters_);
    list.group("sampler", sampler_, "inverse-CDF sampler (authors' tool kit)");
    list.group("detector", detector_, "smears and mixes the observables; off in the paper's runs");
    list.group("filter", filter_, "keeps events inside a box; off in the paper's runs");
    list.list("pipeline", outside_, "further " + env::StageConfig::help());
  }

  std::vector<env::Parameter> parameters() const override { return parameters_; }

  std::vector<problem::ChannelPlan> channels() const override {
    const proxy1d::Theory theory(sampler_.grid);
    const env::InverseCdf sampler({sampler_.grid, sampler_.coverage, {"norm_1", "norm_2"}});
    problem::ChannelPlan plan;
    plan.observables = {{"sigma_1", ""}, {"sigma_2", ""}};
    plan.pipeline = {theory, sampler};
    if (detector_.enabled) plan.pipeline.append(env::Detector(detector_, 2));
    if (filter_.enabled) plan.pipeline.append(env::EventFilter(filter_, 2));
    env::append(plan.pipeline, outside_, 2);
    if (!detector_.enabled && !filter_.enabled && outside_.empty())
      plan.density =
          env::TabulatedDensity([theory](const torch::Tensor& p) { return theory.table(p); },
                                sampler_.grid, sampler.config().norm_names);
    return {plan};
  }

  std::vector<problem::DensityCurve> densities() const override {
    const torch::Tensor x = sampler_.grid.positions(torch::kFloat64);
    const auto quark = [x](std::int64_t first) {
      return [x, first](const torch::Tensor& p) {
        const auto column = [&](std::int64_t i) { return p.select(1, first + i).unsqueeze(1); };
        return column(0) * torch::pow(x, column(1)) * torch::pow(1 - x, column(2));
      };
    };
    return {{"u(x)", "x", x, quark(0)}, {"d(x)", "x", x, quark(3)}};
  }

 private:
  // ranges and truth of the authors' tool kit; docs/physics/proxy1d.md tells where the truth comes
  // from
  std::vector<env::Parameter> parameters_ = {parameter("N_u", 0, 3, 2.1875, "normalisation of u"),
                                             parameter("a_u", -1, 1, -0.5, "power of x in u"),
                                             parameter("b_u", 0, 5, 3, "power of 1 - x in u"),
                                             parameter("N_d", 0, 3, 1.09375, "normalisation of d"),
                                             parameter("a_d", -1, 1, -0.5, "power of x in d"),
                                             parameter("b_d", 0, 5, 4, "power of 1 - x in d")};
  SamplerConfig sampler_;
  env::Detector::Config detector_;
  env::EventFilter::Config filter_;
  std::vector<env::StageConfig> outside_;
};

}  // namespace

problem::WorkloadEntry proxy1d_workload() {
  return {"proxy1d",
          "closure test of the SAGIPS paper: six parameters of two densities from event pairs",
          proxy1d_settings(), [] { return std::make_unique<Proxy1d>(); }};
}

}  // namespace sagips::workloads
