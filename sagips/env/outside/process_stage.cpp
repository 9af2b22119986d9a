#include "sagips/env/outside/process_stage.hpp"

#include <utility>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::env {

namespace {

using Request = SimulatorPool::Request;

/// The simulator's product of a slope with its Jacobian, where LibTorch would have one of its own.
struct ProductNode : torch::autograd::Node {
  ProductNode(std::shared_ptr<SimulatorPool> pool, Request request)
      : pool_(std::move(pool)), request_(std::move(request)) {
    request_.verb = "gradient";
    request_.answer = "gradient";
  }
  torch::autograd::variable_list apply(torch::autograd::variable_list&& slopes) override {
    if (!slopes[0].defined()) return {torch::Tensor()};
    torch::NoGradGuard no_grad;
    const torch::Tensor& input = request_.arrays.front().second;
    Request request = request_;
    request.arrays.emplace_back("slope", slopes[0]);
    const torch::Tensor gradient = pool_->ask(request);
    if (gradient.sizes() != input.sizes())
      throw core::Error(core::text("a simulator gave gradient.npy of shape ", gradient.sizes(),
                                   " for input.npy of shape ", input.sizes(),
                                   ". Give one number an input."));
    return {gradient.to(slopes[0].device(), input.scalar_type())};
  }
  std::string name() const override { return "ProcessStage"; }

 private:
  std::shared_ptr<SimulatorPool> pool_;
  Request request_;
};

// Whole numbers below 2^31 from two of a sample's uniform numbers, which have 24 bits each.
torch::Tensor seeds_of(Noise& noise) {
  const auto column = [](const torch::Tensor& numbers) {
    return numbers.select(1, 0).to(torch::kFloat64);
  };
  const torch::Tensor high = (column(noise.uniform()) * 32768).floor();
  const torch::Tensor low = (column(noise.uniform()) * 65536).floor();
  return high * 65536 + low;
}

}  // namespace

void ProcessStage::Config::fields(core::FieldList& list) {
  list.add("process", command, "command of the simulator, for /bin/sh");
  list.add("processes", processes, "simulators at a time; threads share them",
           core::Range::between(1, 1024));
  list.add("timeout_s", timeout_s, "longest time for one answer [s]", core::Range::positive());
  list.add("noise_dimensions", noise_dimensions,
           "uniform random numbers an event that it gets as noise.npy",
           core::Range::between(0, 100000));
  list.add("seeds", seeds, "it gets a seed a sample as seeds.npy, for random numbers of its own");
  list.add("gradient", gradient, "it answers `gradient` with a product with its Jacobian");
  list.add("log", log, "file that its standard error is added to; empty: only error messages");
}

ProcessStage::ProcessStage(const Config& config) : config_(config) {
  if (core::trim(config.command).empty())
    throw core::ConfigError("pipeline", "a process has no command. Write process: \"COMMAND\".");
  const std::string first = core::split(core::trim(config.command), ' ').front();
  name_ = "process " + first.substr(first.rfind('/') + 1);
  pool_ = std::make_shared<SimulatorPool>(
      SimulatorProcess::Config{config.command, config.log, config.timeout_s}, config.processes);
}

torch::Tensor ProcessStage::operator()(torch::Tensor input, Noise& noise) const {
  Request request{"events", noise.samples(), noise.events(), {{"input", input.detach()}}, "output"};
  std::vector<torch::Tensor> numbers;
  for (std::int64_t i = 0; i < config_.noise_dimensions; ++i) numbers.push_back(noise.uniform());
  if (!numbers.empty()) request.arrays.emplace_back("noise", torch::stack(numbers, 2));
  if (config_.seeds) request.arrays.emplace_back("seeds", seeds_of(noise));
  torch::Tensor output = pool_->ask(request).to(input.device(), input.scalar_type());
  if (!config_.gradient || !torch::GradMode::is_enabled() || !input.requires_grad()) return output;
  const auto node = std::make_shared<ProductNode>(pool_, std::move(request));
  node->set_next_edges(torch::autograd::collect_next_edges(input));
  torch::autograd::create_gradient_edge(output, node);
  return output;
}

}  // namespace sagips::env
