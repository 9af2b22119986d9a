#include "workloads/calorimeter3d/shower_comparison.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sagips/data/numbers.hpp"
#include "workloads/calorimeter3d/shower_files.hpp"

namespace sagips::workloads {

namespace {

constexpr double degrees = 180 / std::numbers::pi;
constexpr std::int64_t separation_bins = 25;
// Cells of a profile that are compared have such a share of its largest one: what lies farther out would outweigh
// all others by its relative errors.
constexpr double compared_cells = 0.01, worst_of_cells = 0.05;

// Mean over what real showers have any of.
torch::Tensor relative_errors(const Sides& means) {
  const torch::Tensor there = means.real > 0;
  return ((means.made - means.real).abs() / means.real).masked_select(there);
}
double relative_error(const Sides& means) {
  const torch::Tensor errors = relative_errors(means);
  return errors.numel() > 0 ? errors.mean().item<double>() : 0;
}

torch::Tensor profile_errors(const ComparedShowers& showers, const char* axis, double share) {
  const Sides mean = showers.mean(axis);
  const torch::Tensor cells = mean.real > share * mean.real.max();
  return relative_errors({mean.real.masked_select(cells), mean.made.masked_select(cells)});
}

double worst_of_profiles(const ComparedShowers& showers) {
  double worst = 0;
  for (const char* axis : {"x", "y", "z"}) {
    const torch::Tensor errors = profile_errors(showers, axis, worst_of_cells);
    if (errors.numel() > 0) worst = std::max(worst, errors.max().item<double>());
  }
  return worst;
}

// What lies outside the real values' range counts in its first and last bin.
double separation_of(const Sides& values) {
  const double low = values.real.min().item<double>(), high = values.real.max().item<double>();
  const auto shares = [&](const torch::Tensor& side) {
    const torch::Tensor bin = ((side - low) / std::max(high - low, 1e-300) * separation_bins)
                                  .clamp(0, separation_bins - 1)
                                  .to(torch::kInt64);
    return bin.bincount({}, separation_bins).to(torch::kFloat64) / side.size(0);
  };
  const torch::Tensor a = shares(values.real), b = shares(values.made);
  return 0.5 * ((a - b).square() / (a + b).clamp_min(1e-300)).sum().item<double>();
}

// Mean over columns. shape: [rows, columns]
double separation_of_each(const Sides& values) {
  double sum = 0;
  for (std::int64_t i = 0; i < values.real.size(1); ++i)
    sum += separation_of({values.real.select(1, i), values.made.select(1, i)});
  return sum / static_cast<double>(values.real.size(1));
}

// What does not vary has no correlation.
torch::Tensor correlations(const torch::Tensor& columns) {
  return torch::corrcoef(columns.t()).nan_to_num(0, 0, 0).clamp(-1, 1);
}

std::map<std::string, double> errors_of(const ComparedShowers& showers) {
  const Sides fraction = showers.sampling_fraction();
  std::map<std::string, double> errors = {
      {"error/first_moments", relative_error(showers.mean("first"))},
      {"error/second_moments", relative_error(showers.mean("second"))},
      {"error/sampling_fraction",
       relative_error({fraction.real.mean().view(1), fraction.made.mean().view(1)})}};
  for (const char* axis : {"x", "y", "z"}) {
    const torch::Tensor own = profile_errors(showers, axis, compared_cells);
    errors["error/profiles"] += own.numel() > 0 ? own.mean().item<double>() / 3 : 0;
  }
  if (showers.angle.defined())
    errors["error/angle"] =
        (showers.angle_error().made.abs() / showers.angle).mean().item<double>();
  return errors;
}

}  // namespace

void ShowerComparison::add(const data::Examples& real, const torch::Tensor& made) {
  const torch::Tensor energies = transform_.undo(real.inputs.cpu());
  columns_ = shower_columns(energies.size(2), energies.size(3), energies.size(4));
  const torch::Tensor own = transform_.undo(made.detach().cpu());
  is_finite_ = is_finite_ && own.isfinite().all().item<bool>();
  real_.push_back(shower_numbers(energies));
  made_.push_back(shower_numbers(own.nan_to_num(0, 0, 0)));
  wanted_.push_back(real.targets.cpu().to(torch::kFloat64));
}

ComparedShowers ShowerComparison::together() const {
  const torch::Tensor wanted = torch::cat(wanted_);
  ComparedShowers all{columns_, {torch::cat(real_), torch::cat(made_)}};
  for (const core::RowTensor& target : targets_) {
    if (target.name == "energy") all.energy = target.of(wanted).flatten() * energy_unit_GeV;
    if (target.name == "angle") all.angle = target.of(wanted).flatten();
  }
  return all;
}

std::map<std::string, double> ShowerComparison::numbers() const {
  const ComparedShowers all = together();
  std::map<std::string, double> found = errors_of(all);
  const std::vector<ShowerBin> bins = energy_bins(all);
  for (const ShowerBin& bin : bins)
    for (const auto& [name, error] : errors_of(bin.showers)) found[name] += error;
  for (auto& [name, sum] : found) sum /= static_cast<double>(1 + bins.size());
  found["figure_of_merit"] =
      (found["error/first_moments"] + found["error/second_moments"]) / 2 + found["error/profiles"];
  if (all.angle.defined()) {
    found["figure_of_merit"] += found["error/angle"];
    found["angle_error_deg"] = degrees * all.angle_error().made.abs().mean().item<double>();
  }
  found["error/worst_of_profiles"] = worst_of_profiles(all);
  const Sides columns = all.correlated();
  const torch::Tensor real = correlations(columns.real), made = correlations(columns.made);
  const auto pairs = static_cast<double>(real.numel() - real.size(0));
  found["error/correlations"] = (made - real).fill_diagonal_(0).abs().sum().item<double>() / pairs;
  const Sides hits = all.of("hits"), widths = all.of("second");
  found["separation/energy"] = separation_of(all.sampling_fraction());
  found["separation/layers"] = separation_of_each(all.of("z"));
  found["separation/centres"] = separation_of_each(all.of("first"));
  found["separation/widths"] = separation_of_each({widths.real.sqrt(), widths.made.sqrt()});
  found["separation/sparsity"] = separation_of(hits);
  for (auto& [name, value] : found)
    if (!is_finite_) value = std::nan("");  // which is never the best
  return found;
}

std::vector<problem::ComparedMatrix> ShowerComparison::matrices() const {
  const ComparedShowers all = together();
  const Sides columns = all.correlated();
  return {{.figure = "correlations",
           .names = all.correlated_names(),
           .real = data::numbers_of(correlations(columns.real)),
           .made = data::numbers_of(correlations(columns.made))}};
}

problem::ExampleComparison::Features ShowerComparison::features() const {
  const ComparedShowers all = together();
  const Sides columns = all.correlated(), layers = all.of("z"), above = all.of("above"),
              measured = all.of("angle");
  const torch::Tensor energy = all.energy.unsqueeze(1);
  const auto side = [&](const torch::Tensor& own, const torch::Tensor& layer,
                        const torch::Tensor& spectrum, const torch::Tensor& angle) {
    std::vector<torch::Tensor> parts = {own, layer / energy, spectrum};
    if (all.angle.defined()) parts.push_back(angle.unsqueeze(1));
    return torch::cat(parts, 1);
  };
  return {side(columns.real, layers.real, above.real, measured.real),
          side(columns.made, layers.made, above.made, measured.made)};
}

}  // namespace sagips::workloads
