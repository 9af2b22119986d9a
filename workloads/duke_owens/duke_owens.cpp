#include "workloads/duke_owens/duke_owens.hpp"

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/densities/plane_density.hpp"
#include "sagips/env/samplers/rosenblatt.hpp"
#include "workloads/duke_owens/theory.hpp"

namespace sagips::workloads {

std::map<std::string, std::string> duke_owens_settings();

namespace {

// Duke and Owens, table I, set 1: powers of s in turn. The ranges keep both targets' densities
// positive.
struct Row {
  std::string name, help;
  double constant, slope, square;
  double low, high;  ///< of the constant, which is free
};

const std::vector<Row> rows = {
    {"eta1", "power of x in x (u + d)", 0.419, 0.004, -0.007, 0.3, 0.6},
    {"eta2", "power of 1 - x in x (u + d)", 3.460, 0.724, -0.066, 2.8, 3.75},
    {"gamma_ud", "factor of x in x (u + d)", 4.400, -4.860, 1.330, 3, 8},
    {"eta3", "power of x in x d", 0.763, -0.237, 0.026, 0.6, 0.95},
    {"eta4", "power of 1 - x in x d", 4.000, 0.627, -0.019, 3.8, 4.8},
    {"gamma_d", "factor of x in x d", 0.000, -0.421, 0.033, -0.3, 0.3}};

std::vector<env::Parameter> all_parameters() {
  std::vector<env::Parameter> parameters;
  for (const Row& row : rows) {
    parameters.push_back({.name = row.name + "_0",
                          .low = row.low,
                          .high = row.high,
                          .toy = row.constant,
                          .help = row.help + ", at Q2 = 4 GeV^2"});
    if (row.name == "gamma_d") parameters.back().fixed = row.constant;  // zero by definition
    parameters.push_back({.name = row.name + "_1",
                          .low = row.slope - 1,
                          .high = row.slope + 1,
                          .fixed = row.slope,
                          .toy = row.slope,
                          .help = row.help + ", times s"});
    parameters.push_back({.name = row.name + "_2",
                          .low = row.square - 1,
                          .high = row.square + 1,
                          .fixed = row.square,
                          .toy = row.square,
                          .help = row.help + ", times s^2"});
  }
  return parameters;
}

class DukeOwens final : public problem::Workload {
 public:
  void fields(core::FieldList& list) override {
    env::add_parameters(list, parameters_);
    core::FieldList plane;
    plane.group("x", x_, "points of Bjorken's x");
    plane.group("Q2", q2_, "points of Q2 [GeV^2]");
    list.add_group("plane", std::move(plane), "table of the density");
    list.add("energy", energy_, "of the collision in its centre of mass [GeV]",
             core::Range::positive());
  }

  std::vector<env::Parameter> parameters() const override { return parameters_; }

  std::vector<problem::ChannelPlan> channels() const override {
    using duke_owens::Target;
    if (q2_.high > x_.low * energy_ * energy_)
      throw core::ConfigError(
          "plane", core::text("Q2 = ", q2_.high, " GeV^2 cannot be reached at x = ", x_.low,
                              " (y would be beyond 1). Lower plane.Q2.high, or raise plane.x.low "
                              "or the energy."));
    const env::Plane plane(x_, q2_);
    std::vector<problem::ChannelPlan> plans;
    for (const auto& [name, target] :
         {std::pair{"proton", Target::proton}, std::pair{"neutron", Target::neutron}}) {
      const duke_owens::Theory theory(plane, target, energy_);
      problem::ChannelPlan plan;
      plan.name = name;
      plan.observables = {{"x", ""}, {"Q2", "GeV^2"}};
      plan.pipeline = {theory, env::Rosenblatt(plane)};
      plan.density =
          env::PlaneDensity([theory](const torch::Tensor& p) { return theory.table(p); }, plane);
      plans.push_back(std::move(plan));
    }
    return plans;
  }

  std::vector<problem::DensityCurve> densities() const override {
    const duke_owens::Theory theory(env::Plane(x_, q2_), duke_owens::Target::proton, energy_);
    const auto quark = [theory](std::int64_t which) {
      return [theory, which](const torch::Tensor& p) { return theory.valence(p).select(1, which); };
    };
    const std::string at = core::text(" at ", q2_.low, " GeV²");
    return {{"x u(x)" + at, "x", x_.positions(), quark(0)},
            {"x d(x)" + at, "x", x_.positions(), quark(1)}};
  }

 private:
  std::vector<env::Parameter> parameters_ = all_parameters();
  env::Axis x_{.low = 0.01, .high = 0.9, .points = 129, .spacing = env::Spacing::logarithmic};
  env::Axis q2_{.low = 4, .high = 190, .points = 65, .spacing = env::Spacing::logarithmic};
  double energy_ = 140;
};

}  // namespace

problem::WorkloadEntry duke_owens_workload() {
  return {"duke_owens",
          "valence quark densities in x and Q2 from protons and neutrons (Duke and Owens 1984)",
          duke_owens_settings(), [] { return std::make_unique<DukeOwens>(); }};
}

}  // namespace sagips::workloads
