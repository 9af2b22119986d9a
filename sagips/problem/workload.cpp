#include "sagips/problem/workload.hpp"

#include "sagips/core/error.hpp"

namespace sagips::problem {

namespace {

class Simple final : public Workload {
 public:
  explicit Simple(SimpleWorkload plan) : plan_(std::move(plan)) {}

  void fields(core::FieldList& list) override { env::add_parameters(list, plan_.parameters); }
  std::vector<env::Parameter> parameters() const override { return plan_.parameters; }
  std::vector<ChannelPlan> channels() const override {
    if (!plan_.channels.empty()) return plan_.channels;
    return {{"events", plan_.pipeline, std::nullopt, plan_.observables, {}, plan_.features}};
  }
  std::vector<DensityCurve> densities() const override { return plan_.densities; }

 private:
  SimpleWorkload plan_;
};

}  // namespace

std::string laptop_settings() {
  return "threads: 1\n"
         "toy: {events: 10000}\n"
         "batch: {samples: 32, events: 128}\n"
         "generator: {width: 64, spread_penalty: 0.3}\n"
         "discriminator: {width: 64}\n"
         "objective: {loss: cross_entropy}\n"
         "optimizer:\n"
         "  generator: {learning_rate: 1e-3, final_rate: 0.05}\n"
         "  discriminator: {learning_rate: 3e-3, final_rate: 0.05}\n"
         "train: {epochs: 1500}\n"
         "evaluation: {samples: 500}\n";
}

SimpleWorkload::operator WorkloadEntry() const {
  const std::string chosen = settings.empty() ? laptop_settings() : settings;
  return {name, summary, {{"default", chosen}}, [plan = *this] {
            return std::make_unique<Simple>(plan);
          }};
}

SimpleWorkload::operator Entry() const { return WorkloadEntry(*this); }

std::vector<std::string> Workload::channel_names() const {
  std::vector<std::string> names;
  for (const ChannelPlan& plan : channels()) names.push_back(plan.name);
  return names;
}

}  // namespace sagips::problem
