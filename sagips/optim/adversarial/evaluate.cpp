#include <algorithm>

#include "sagips/core/poll.hpp"
#include "sagips/optim/adversarial/adversarial.hpp"

namespace sagips::optim {

namespace {

/// Sums over examples of each of their numbers, of its square, and of its products with the conditions.
struct Moments {
  torch::Tensor sum, squares, products;
  /// shapes: examples [rows, ...], conditions [rows, width] float64
  void add(const torch::Tensor& examples, const torch::Tensor& conditions) {
    const torch::Tensor numbers = examples.flatten(1).to(torch::kCPU, torch::kFloat64);
    add_to(sum, numbers.sum(0));
    add_to(squares, numbers.square().sum(0));
    add_to(products, conditions.t().mm(numbers));
  }
  static void add_to(torch::Tensor& all, const torch::Tensor& more) {
    all = all.defined() ? all + more : more;
  }
  torch::Tensor mean(std::int64_t rows) const { return sum / rows; }
  torch::Tensor deviation(std::int64_t rows) const {
    return (squares / rows - mean(rows).square()).clamp_min(0).sqrt();
  }
};

/// What examples are made for, of all rows.
struct ConditionMoments {
  torch::Tensor sum, squares;
  void add(const torch::Tensor& conditions) {
    Moments::add_to(sum, conditions.sum(0));
    Moments::add_to(squares, conditions.square().sum(0));
  }
  /// By how much each number of an example changes with a standard deviation of each condition.
  /// shape: [width, numbers]; 0 for a condition that is the same in all rows
  torch::Tensor slopes(const Moments& examples, std::int64_t rows) const {
    const torch::Tensor mean = sum / rows,
                        deviation = (squares / rows - mean.square()).clamp_min(0).sqrt();
    const torch::Tensor together = examples.products / rows - mean.outer(examples.mean(rows));
    return torch::where(deviation.gt(1e-12).unsqueeze(1), together / deviation.unsqueeze(1), 0.0);
  }
};

double distance(const Moments& made, const Moments& real, const ConditionMoments& conditions,
                std::int64_t rows) {
  const torch::Tensor mean = real.mean(rows), deviation = real.deviation(rows);
  const torch::Tensor apart =
      (made.mean(rows) - mean).norm() + (made.deviation(rows) - deviation).norm() +
      (conditions.slopes(made, rows) - conditions.slopes(real, rows)).norm();
  return (apart / (mean.norm() + deviation.norm())).item<double>();
}

constexpr std::int64_t most_rows_at_once = 500, numbers_at_once = std::int64_t{1} << 22;

}  // namespace

std::int64_t Adversarial::rows_at_once() const {
  return std::clamp<std::int64_t>(numbers_at_once / nn::numbers_in(network(maker).output()), 1,
                                  most_rows_at_once);
}

torch::Tensor Adversarial::make(const torch::Tensor& targets, const std::string& purpose,
                                std::int64_t first) const {
  const torch::NoGradGuard no_grad;
  const core::RandomStream noise(seed_, "noise of " + purpose);
  return network(maker)(networks_[maker].replica.leaves(),
                        input_(targets.to(device_), noise, first), {})
      .cpu();
}

void Adversarial::add_judged(const torch::Tensor& real, const torch::Tensor& made,
                             const torch::Tensor& targets,
                             std::map<std::string, double>& sums) const {
  const torch::Tensor yes = torch::ones({real.size(0), 1}, targets.options());
  const auto& leaves = networks_[judge].replica.leaves();
  const torch::Tensor of_real = network(judge)(leaves, real, {}),
                      of_made = network(judge)(leaves, made, {});
  const torch::Tensor told = judges_(of_real, real, targets, yes, false).loss +
                             judges_(of_made, made, targets, torch::zeros_like(yes), false).loss;
  sums["discriminator"] += told.item<double>() / 2;
  const Judged fooled = judges_(of_made, made, targets, yes, true);
  sums["generator"] += fooled.loss.item<double>();
  const std::vector<std::string> names = judges_.names();
  for (std::size_t i = 1; i < names.size(); ++i)
    sums[names[i] + ".loss"] += fooled.each[i].sum(torch::kFloat64).item<double>();
  for (const Head& head : judges_.heads)
    if (head.loss.of_classes())
      sums[head.name + ".accuracy"] +=
          head.outputs_of(of_made).argmax(1).eq(head.targets_of(targets)).sum().item<double>();
}

std::map<std::string, double> Adversarial::metrics(const data::ExampleRows& rows,
                                                   problem::ExampleComparison* comparison) const {
  const torch::NoGradGuard no_grad;
  std::map<std::string, double> sums;
  Moments made_moments, real_moments;
  ConditionMoments conditions;
  const GeneratorInput conditions_alone(input_.conditions(), 0);
  std::int64_t first = 0;
  const auto look = [&](const torch::Tensor& chosen) {
    const data::Examples examples = rows.read(chosen);
    check_targets(examples);
    const torch::Tensor made = make(examples.targets, "evaluations", first);
    add_judged(examples.inputs.to(device_), made.to(device_), examples.targets.to(device_), sums);
    const torch::Tensor asked =
        conditions_alone(examples.targets, core::RandomStream(seed_, ""), first)
            .to(torch::kCPU, torch::kFloat64);
    conditions.add(asked);
    made_moments.add(made, asked);
    real_moments.add(examples.inputs, asked);
    if (comparison) comparison->add(examples, made);
    first += examples.rows();
    core::poll();
  };
  data::for_each_piece(rows.rows(), rows_at_once(), look);
  for (auto& [name, sum] : sums) sum /= static_cast<double>(rows.rows());
  if (first > 0) sums["distance"] = distance(made_moments, real_moments, conditions, first);
  if (first > 0 && comparison) sums.merge(comparison->numbers());
  return sums;
}

}  // namespace sagips::optim
