#include "sagips/optim/learn/metrics.hpp"

#include <cmath>
#include <limits>
#include <mutex>
#include <vector>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/python_function.hpp"
#include "sagips/optim/learn/heads.hpp"

namespace sagips::optim {

namespace {

/// Means over rows with their weights.
class WeightedMean {
 public:
  explicit WeightedMean(const torch::Tensor& weights) : weights_(weights), sum_(weights.sum()) {}
  double operator()(const torch::Tensor& values) const {
    return ((values.to(torch::kFloat64) * weights_).sum() / sum_).item<double>();
  }

 private:
  torch::Tensor weights_, sum_;
};

constexpr std::int64_t most_names = 50;  // of which each has metrics of its own

std::string name_of(const char* metric, std::int64_t i, const std::vector<std::string>& names,
                    std::int64_t count) {
  const bool is_named = names.size() == static_cast<std::size_t>(count);
  return core::text(metric, "/", is_named ? names[static_cast<std::size_t>(i)] : core::text(i));
}

using Found = std::map<std::string, double>;

// The largest share of the signal that is found where at most so much of the rest is taken for it; between two
// thresholds along a line.
double efficiency(const RocCurve& curve, double mistag) {
  if (std::isnan(curve.area)) return curve.area;
  const std::int64_t behind =
      torch::searchsorted(curve.wrong, mistag, /*out_int32=*/false, /*right=*/true)
          .item<std::int64_t>();
  const auto* const wrong = curve.wrong.const_data_ptr<double>();
  const auto* const found = curve.found.const_data_ptr<double>();
  const double share = (mistag - wrong[behind - 1]) / (wrong[behind] - wrong[behind - 1]);
  return found[behind - 1] + share * (found[behind] - found[behind - 1]);
}

// Of each class against all others.
void judge_curves(const torch::Tensor& outputs, const torch::Tensor& targets,
                  const torch::Tensor& weights, const std::vector<std::string>& names,
                  Found& found) {
  const torch::Tensor scores = class_scores(outputs);
  const std::int64_t classes = outputs.size(1);
  double sum = 0;
  std::int64_t there = 0;
  for (std::int64_t k = classes == 2 ? 1 : 0; k < classes; ++k) {
    const RocCurve curve = roc_curve(scores.select(1, k), targets == k, weights);
    if (std::isfinite(curve.area)) sum += curve.area, ++there;
    if (classes > most_names) continue;
    found[name_of("area_under_curve", k, names, classes)] = curve.area;
    found[name_of("efficiency_at_1_percent", k, names, classes)] = efficiency(curve, 0.01);
    found[name_of("efficiency_at_10_percent", k, names, classes)] = efficiency(curve, 0.1);
  }
  found["area_under_curve"] = sum / static_cast<double>(there);
}

// taken: the class that each row is taken for
void judge_classes(const torch::Tensor& taken, std::int64_t classes, const torch::Tensor& targets,
                   const torch::Tensor& weights, const std::vector<std::string>& names,
                   Found& found) {
  const torch::Tensor is_right = taken == targets;
  found["accuracy"] = WeightedMean(weights)(is_right);
  const auto sums = [&](const torch::Tensor& of, const torch::Tensor& values) {
    return at::bincount(of, values, classes);
  };
  const torch::Tensor right = sums(targets, weights * is_right);
  for (const auto& [metric, all] :
       {std::pair("recall", sums(targets, weights)), std::pair("precision", sums(taken, weights))})
    for (std::int64_t k = 0; classes <= most_names && k < classes; ++k)
      found[name_of(metric, k, names, classes)] = (right[k] / all[k]).item<double>();
}

// shape: residuals [rows, targets]
void judge_values(const torch::Tensor& residuals, const WeightedMean& mean,
                  const std::vector<std::string>& names, Found& found) {
  found["mean_square_error"] = mean(residuals.square().mean(1));
  found["mean_absolute_error"] = mean(residuals.abs().mean(1));
  const std::int64_t width = residuals.size(1);
  for (std::int64_t i = 0; width > 1 && width <= most_names && i < width; ++i) {
    const torch::Tensor own = residuals.select(1, i);
    found[name_of("mean_square_error", i, names, width)] = mean(own.square());
    found[name_of("mean_absolute_error", i, names, width)] = mean(own.abs());
  }
}

/// Those of programs and plug-ins, added from any thread.
struct OwnMetrics {
  std::mutex mutex;
  std::vector<Metric> all;
};

OwnMetrics& own_metrics() {
  static OwnMetrics own;
  return own;
}

bool is_own(const std::string& name) {
  const bool has_number = name.starts_with("top_") && name.ends_with("_accuracy");
  for (const char* known :
       {"loss", "accuracy", "area_under_curve", "mean_square_error", "mean_absolute_error"})
    if (name == known || has_number || name.find('/') != std::string::npos) return true;
  return false;
}

std::vector<Metric> known_metrics() {
  const std::lock_guard lock(own_metrics().mutex);
  return own_metrics().all;
}

}  // namespace

void add_metric(Metric metric) {
  if (is_own(metric.name))
    throw core::StateError(core::text("'", metric.name, "' is a name of SAGIPS' own metrics"));
  const std::lock_guard lock(own_metrics().mutex);
  std::vector<Metric>& all = own_metrics().all;
  std::erase_if(all, [&](const Metric& known) { return known.name == metric.name; });
  all.push_back(std::move(metric));
}

Metric python_metric(const std::string& word) {
  const nn::PythonFunction function = nn::python_function(word, "metric", "metrics");
  if (is_own(function.name))
    throw core::ConfigError("metrics", core::text("'", function.name,
                                                  "' is a name of SAGIPS' own metrics. Call the "
                                                  "function otherwise."));
  return {function.name,
          [call = function.call](const torch::Tensor& predicted, const torch::Tensor& targets,
                                 const torch::Tensor& weights) {
            return call({predicted, targets, weights}).item<double>();
          }};
}

torch::Tensor class_scores(const torch::Tensor& outputs) {
  std::vector<torch::Tensor> parts;
  for (const torch::Tensor& part : outputs.split(4096)) {  // rows, so that few stand in float64
    const torch::Tensor logits = part.to(torch::kFloat64), likeliest = logits.argmax(1, true);
    const torch::Tensor all = logits.logsumexp(1, true);
    // 1 - p has digits left unless p is next to 1, which it can be for the likeliest class alone
    const torch::Tensor others =
        (all + (-(logits - all).exp()).log1p())
            .scatter(1, likeliest,
                     logits.scatter(1, likeliest, -std::numeric_limits<double>::infinity())
                         .logsumexp(1, true));
    parts.push_back((logits - others).to(outputs.scalar_type()));  // equal rows stay equal
  }
  return torch::cat(parts);
}

RocCurve roc_curve(const torch::Tensor& scores, const torch::Tensor& is_signal,
                   const torch::Tensor& weights) {
  // equal scores are one step of the curve
  const auto [values, places] = at::_unique(scores, /*sorted=*/true, /*return_inverse=*/true);
  const std::int64_t steps = values.numel();
  const auto rates = [&, &places = places](const torch::Tensor& is_counted) {
    const torch::Tensor sums = torch::zeros({steps + 1}, torch::kFloat64)
                                   .scatter_add(0, steps - places, is_counted * weights)
                                   .cumsum(0);
    return sums / sums[-1];
  };
  const torch::Tensor found = rates(is_signal), wrong = rates(~is_signal);
  const bool has_order = !scores.isnan().any().item<bool>();
  return {found, wrong,
          has_order ? torch::trapezoid(found, wrong).item<double>()
                    : std::numeric_limits<double>::quiet_NaN()};
}

std::map<std::string, double> metrics(const Loss& loss, const torch::Tensor& outputs,
                                      const torch::Tensor& targets, const torch::Tensor& weights,
                                      std::int64_t top_k, const std::vector<std::string>& names) {
  torch::NoGradGuard no_grad;
  const torch::Tensor losses = loss.rows(outputs, targets);
  const torch::Tensor counts = weights.defined() ? weights.to(torch::kFloat64)
                                                 : torch::ones({losses.size(0)}, torch::kFloat64);
  const WeightedMean mean(counts);
  std::map<std::string, double> found{{"loss", mean(losses)}};
  if (loss.heads) {
    for (const Head& head : *loss.heads)
      for (const auto& [name, value] :
           metrics(head.loss, head.outputs_of(outputs), head.targets_of(targets), weights, top_k,
                   head.names))
        found[core::text(head.name, ".", name)] = value;
    return found;
  }
  if (loss.of_classes()) {
    judge_classes(outputs.argmax(1), outputs.size(1), targets, counts, names, found);
    if (outputs.size(1) > top_k) {
      const torch::Tensor best = std::get<1>(outputs.topk(top_k, 1));
      found[core::text("top_", top_k, "_accuracy")] = mean((best == targets.unsqueeze(1)).any(1));
    }
    judge_curves(outputs, targets, counts, names, found);
  } else if (loss.targets == Loss::Targets::yes_or_no) {
    const torch::Tensor score = outputs.flatten(1).select(1, 0),
                        is_signal = targets.flatten(1).select(1, 0) > 0.5;
    found["accuracy"] = mean((score > 0) == is_signal);
    found["area_under_curve"] = roc_curve(score, is_signal, counts).area;
  } else {
    const torch::Tensor residuals = (loss.predicted(outputs) - targets).flatten(1);
    judge_values(residuals, mean, names, found);
  }
  std::vector<Metric> all = known_metrics();
  if (loss.metrics) all.insert(all.end(), loss.metrics->begin(), loss.metrics->end());
  for (const Metric& own : all)
    found[own.name] = own.value(loss.predicted(outputs), targets, counts);
  return found;
}

}  // namespace sagips::optim
