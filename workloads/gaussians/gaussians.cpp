#include "workloads/gaussians/gaussians.hpp"

#include <cmath>

#include "sagips/core/text.hpp"
#include "workloads/gaussians/gaussian_set.hpp"

namespace sagips::workloads {

std::map<std::string, std::string> gaussians_settings();

namespace {

// The first three are independent of each other, so they fix three parameters; the others tell the
// same again.
const std::vector<std::vector<double>> combinations = {
    {1, 0.5, -0.5}, {-0.5, 1, 0.5}, {0.5, -0.5, 1}, {1, 1, 1}, {1, -1, 0.5}, {-1, 0.5, 1}};

class Gaussians final : public problem::Workload {
 public:
  void fields(core::FieldList& list) override { env::add_parameters(list, parameters_); }

  std::vector<env::Parameter> parameters() const override { return parameters_; }

  std::vector<problem::ChannelPlan> channels() const override {
    std::vector<problem::ChannelPlan> plans;
    for (std::size_t k = 0; k < combinations.size(); ++k) {
      const gaussians::View view{.combination = combinations[k],
                                 .angle = static_cast<double>(k) * M_PI / 6};
      problem::ChannelPlan plan;
      plan.name = core::text("set_", k + 1);
      plan.observables = {{"x", ""}, {"y", ""}};
      plan.pipeline = {gaussians::GaussianSet(view)};
      plan.density = gaussians::GaussianDensity(view, reach(view));
      plans.push_back(std::move(plan));
    }
    return plans;
  }

 private:
  double reach(const gaussians::View& view) const {
    double sum = 0;
    for (std::size_t i = 0; i < parameters_.size(); ++i)
      sum += std::abs(view.combination[i]) *
             std::max(std::abs(parameters_[i].low), std::abs(parameters_[i].high));
    return sum;
  }

  std::vector<env::Parameter> parameters_ = {
      {.name = "p_1", .low = -2, .high = 2, .toy = 0.8, .help = "first part of the means"},
      {.name = "p_2", .low = -2, .high = 2, .toy = -0.5, .help = "second part of the means"},
      {.name = "p_3", .low = -2, .high = 2, .toy = 1.2, .help = "third part of the means"}};
};

}  // namespace

problem::WorkloadEntry gaussians_workload() {
  return {"gaussians", "three parameters that only several data sets together identify",
          gaussians_settings(), [] { return std::make_unique<Gaussians>(); }};
}

}  // namespace sagips::workloads
