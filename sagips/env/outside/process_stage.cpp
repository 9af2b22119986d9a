#include "sagips/env/outside/process_stage.hpp"

#include <chrono>
#include <utility>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/hash.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/outside/outside_events.hpp"
#include "sagips/nn/script.hpp"

namespace sagips::env {

namespace {

using Request = SimulatorPool::Request;

/// The simulator's product of a slope with its Jacobian, where LibTorch would have one of its own.
struct ProductNode : torch::autograd::Node {
  ProductNode(std::shared_ptr<SimulatorPool> pool, Request request)
      : pool_(std::move(pool)), request_(std::move(request)) {
    request_.verb = request_.answer = "gradient";
    request_.extras.clear();
    request_.finite = true;
  }
  torch::autograd::variable_list apply(torch::autograd::variable_list&& slopes) override {
    if (!slopes[0].defined()) return {torch::Tensor()};
    torch::NoGradGuard no_grad;
    const CpuTime on_cpu(slopes[0]);
    const torch::Tensor& input = request_.arrays.front().second;
    Request request = request_;
    request.arrays.emplace_back("slope", slopes[0].cpu());
    const torch::Tensor gradient = pool_->ask(request).at("gradient");
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
  other_fields(list);
}

void ProcessStage::Config::other_fields(core::FieldList& list, std::int64_t least_processes) {
  list.add("processes", processes,
           least_processes > 0
               ? "simulators at a time; threads share them"
               : "processes that call it at a time; 0: this one, where it is Python",
           core::Range::between(static_cast<double>(least_processes), 1024));
  list.add("timeout_s", timeout_s, "longest time for one answer [s]", core::Range::positive());
  list.add("noise_dimensions", noise_dimensions,
           "uniform random numbers an event that it gets as noise.npy",
           core::Range::between(0, 100000));
  list.add("seeds", seeds, "it gets a seed a sample as seeds.npy, for random numbers of its own");
  list.add("gradient", gradient, "it answers `gradient` with a product with its Jacobian");
  list.choice("on_error", on_error, {{"stop", OnError::stop}, {"skip", OnError::skip}},
              "of events with NaN or infinity: stop, or go on without them and count them");
  list.add("most_skipped", most_skipped, "share of events that may be skipped",
           core::Range::between(0, 1));
  list.add("nan_is_lost", nan_is_lost,
           "events with NaN or infinity are those that the detector loses");
  list.add_path("log", log, "file that its standard error is added to; empty: only error messages");
  list.add_path("folder", folder, "where the command starts; else in the folder of its YAML");
}

ProcessStage::ProcessStage(const Config& config) : config_(config) {
  if (core::trim(config.command).empty())
    throw core::ConfigError("pipeline", "a process has no command. Write process: \"COMMAND\".");
  const std::string first = core::split(core::trim(config.command), ' ').front();
  name_ = "process " + first.substr(first.rfind('/') + 1);
  pool_ = std::make_shared<SimulatorPool>(
      SimulatorProcess::Config{config.command, config.log, config.timeout_s, config.folder},
      config.processes);
}

std::string ProcessStage::remark() const {
  const std::int64_t skipped = counts_->skipped;
  if (skipped == 0) return {};
  return core::text(name_, ": ", core::with_thousands(skipped), " of ",
                    core::with_thousands(counts_->events.load()),
                    " events were skipped, since they had NaN or infinity");
}

// What fails by chance says nothing about the parameters as long as it is little.
void ProcessStage::skip(SimulatorPool::Arrays& arrays) const {
  constexpr std::int64_t enough = 1000;  // events, before a share means something
  torch::Tensor& values = arrays.at("values");
  const torch::Tensor good = values.dim() == 3 ? torch::isfinite(values).all(2)
                                               : torch::isfinite(values).flatten(1).all(1);
  const std::int64_t bad = good.numel() - good.sum().item<std::int64_t>();
  const std::int64_t events = counts_->events += good.numel(), skipped = counts_->skipped += bad;
  if (bad > 0 && events >= enough &&
      static_cast<double>(skipped) > config_.most_skipped * static_cast<double>(events))
    throw core::Error(core::text("the simulator '", config_.command, "' gave NaN or infinity for ",
                                 core::with_thousands(skipped), " of ",
                                 core::with_thousands(events),
                                 " events, more than most_skipped=", config_.most_skipped,
                                 " allows. Correct it, or raise most_skipped."));
}

std::int64_t ProcessStage::keep_answers(const std::string& path) const {
  const std::lock_guard lock(kept_->mutex);
  kept_->answers = std::make_shared<AnswerStore>(path);
  return kept_->answers->size();
}

OutsideArrays ProcessStage::answer(const Request& request) const {
  const bool skips = config_.on_error == Config::OnError::skip;
  return pool_->ask(request, [&](SimulatorPool::Arrays& part) {
    part["values"] = part.at("output");
    part.erase("output");
    if (skips) skip(part);
    fill_up(name_, part, request.events, skips || config_.nan_is_lost);
  });
}

// What was fast to make would only fill the disk.
OutsideArrays ProcessStage::kept_answer(const Request& request) const {
  constexpr double slow_s = 0.02;
  std::shared_ptr<AnswerStore> store;
  {
    const std::lock_guard lock(kept_->mutex);
    store = kept_->answers;
  }
  if (!store) return answer(request);
  std::uint64_t key = core::fnv1a(core::text(request.samples, " ", request.events));
  for (const auto& [name, tensor] : request.arrays) {
    const torch::Tensor dense = tensor.contiguous();
    key = core::fnv1a({static_cast<const char*>(dense.data_ptr()), dense.nbytes()},
                      core::fnv1a(name, key));
  }
  if (auto known = store->find(key)) return *known;
  const auto began = std::chrono::steady_clock::now();
  OutsideArrays made = answer(request);
  if (std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count() > slow_s)
    store->add(key, made);
  return made;
}

// Of a GPU's tensors, where a graph is being made, too: what happens to the copies is no simulator's fault.
std::vector<std::pair<std::string, torch::Tensor>> ProcessStage::arrays_for(
    const torch::Tensor& input, Noise& noise) const {
  try {
    std::vector<std::pair<std::string, torch::Tensor>> arrays = {{"input", input.detach().cpu()}};
    std::vector<torch::Tensor> numbers;
    for (std::int64_t i = 0; i < config_.noise_dimensions; ++i) numbers.push_back(noise.uniform());
    if (!numbers.empty()) arrays.emplace_back("noise", torch::stack(numbers, 2).cpu());
    if (config_.seeds) arrays.emplace_back("seeds", seeds_of(noise).cpu());
    return arrays;
  } catch (const c10::Error& error) {
    throw core::Error(core::text("stage '", name_, "' works on the CPU: ", nn::first_line(error)));
  }
}

Events ProcessStage::operator()(Events before, Noise& noise) const {
  const torch::Tensor input = before.values;
  const CpuTime on_cpu(input);
  Request request{"events", noise.samples(), noise.events(), arrays_for(input, noise), "output"};
  request.extras = {"mask", "weights", "counts"};
  request.finite = config_.on_error == Config::OnError::stop && !config_.nan_is_lost;
  OutsideArrays arrays = kept_answer(request);
  torch::Tensor& output = arrays.at("values");
  output = output.to(input.device(), input.scalar_type());
  if (config_.gradient && torch::GradMode::is_enabled() && input.requires_grad()) {
    const auto node = std::make_shared<ProductNode>(pool_, std::move(request));
    node->set_next_edges(torch::autograd::collect_next_edges(input));
    torch::autograd::create_gradient_edge(output, node);
  }
  return events_behind(name_, std::move(before), arrays);
}

}  // namespace sagips::env
