#include "workloads/proxy2d/proxy2d.hpp"

#include "sagips/env/densities/plane_density.hpp"
#include "sagips/env/samplers/loits.hpp"
#include "sagips/env/samplers/rosenblatt.hpp"
#include "workloads/proxy2d/theory.hpp"

namespace sagips::workloads {

std::map<std::string, std::string> proxy2d_settings();

namespace {

env::Parameter parameter(const std::string& name, double low, double high, double truth,
                         const std::string& help) {
  return {.name = name, .low = low, .high = high, .toy = truth, .help = help};
}

/// Which sampler turns the table into events.
struct SamplerConfig {
  enum class Kind { rosenblatt, loits };
  Kind kind = Kind::rosenblatt;
  env::Loits::Counts counts = env::Loits::Counts::multinomial;

  void fields(core::FieldList& list) {
    list.choice(
        "kind", kind, {{"rosenblatt", Kind::rosenblatt}, {"loits", Kind::loits}},
        "marginal and conditional inverse CDF with the whole gradient, or the authors' local "
        "one, whose gradient is biased (then take few points on each axis of the plane)");
    list.choice("counts", counts,
                {{"multinomial", env::Loits::Counts::multinomial},
                 {"truncated", env::Loits::Counts::truncated}},
                "loits: how many events a cell gets, drawn or rounded down");
  }

  env::Stage stage(const env::Plane& plane) const {
    if (kind == Kind::loits) return env::Loits(plane, counts);
    return env::Rosenblatt(plane);
  }
};

class Proxy2d final : public problem::Workload {
 public:
  void fields(core::FieldList& list) override {
    env::add_parameters(list, parameters_);
    core::FieldList plane;
    plane.group("x", x_, "points of the first observable");
    plane.group("y", y_, "points of the second observable");
    list.add_group("plane", std::move(plane), "table of the density");
    list.group("sampler", sampler_, "how events are drawn from the table");
  }

  std::vector<env::Parameter> parameters() const override { return parameters_; }

  std::vector<problem::ChannelPlan> channels() const override {
    const env::Plane plane(x_, y_);
    const proxy2d::Theory theory(plane);
    problem::ChannelPlan plan;
    plan.observables = {{"x", ""}, {"y", ""}};
    plan.pipeline = {theory, sampler_.stage(plane)};
    // loits draws from it, too: cell by cell exactly, within them to second order
    plan.density =
        env::PlaneDensity([theory](const torch::Tensor& p) { return theory.table(p); }, plane);
    return {plan};
  }

 private:
  // range, truth and plane of the authors' later tool kit; docs/physics/proxy2d.md
  std::vector<env::Parameter> parameters_ = {
      parameter("a", -0.5, 1, 0.5, "power of x"), parameter("b", 2.75, 4, 3, "power of 1 - x"),
      parameter("c", 0, 1.3, 0.3, "power of y"), parameter("d", 3, 4.5, 4, "power of 1 - y"),
      parameter("e", 0, 1.5, 0.75, "strength of the term x y")};
  // finer towards 0, where roots of x and y bend
  env::Axis x_{.low = 0.001, .high = 0.999, .points = 129, .spacing = env::Spacing::quadratic};
  env::Axis y_{.low = 0.001, .high = 0.999, .points = 129, .spacing = env::Spacing::quadratic};
  SamplerConfig sampler_;
};

}  // namespace

problem::WorkloadEntry proxy2d_workload() {
  return {"proxy2d", "five parameters of a density of two observables that depend on each other",
          proxy2d_settings(), [] { return std::make_unique<Proxy2d>(); }};
}

}  // namespace sagips::workloads
