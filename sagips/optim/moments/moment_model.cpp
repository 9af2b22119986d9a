#include "sagips/optim/moments/moment_model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/hash.hpp"
#include "sagips/core/text.hpp"
#include "sagips/env/compare/common_draw.hpp"
#include "sagips/optim/estimate.hpp"

namespace sagips::optim {

namespace {

// Eigenvalues of the features' correlation below this share of the largest count as none: such
// combinations do not vary.
constexpr double smallest_eigenvalue = 1e-9;
constexpr double most_features = 2000;  // with products

torch::Tensor weights_of(const data::Dataset& data) {
  return data.weights.value_or(torch::Tensor());
}

// How many events count, and the sum of their squared weights. shape: [2]
torch::Tensor counts_of(const data::Dataset& data) {
  if (!data.weights) return torch::full({2}, static_cast<double>(data.size()), torch::kFloat64);
  torch::Tensor found = torch::zeros({2}, torch::kFloat64);
  for (const torch::Tensor& part : data.weights->split(EventFeatures::events_at_once)) {
    found[0] += part.count_nonzero();
    found[1] += part.to(torch::kFloat64).square().sum();
  }
  return found;
}

// From sums of w phi phi', phi beginning with 1.
torch::Tensor covariance_of(const torch::Tensor& sums) {
  const std::int64_t count = sums.size(0) - 1;
  const torch::Tensor total = sums[0][0];
  const torch::Tensor mean = sums[0].narrow(0, 1, count) / total;
  return sums.narrow(0, 1, count).narrow(1, 1, count) / total -
         mean.unsqueeze(0) * mean.unsqueeze(1);
}

torch::Tensor squares_of(const torch::Tensor& sums) {
  return sums.diagonal().slice(0, 1) / sums[0][0];
}

// Around the mean of other sums: what squared weights say of the features' fluctuations.
torch::Tensor covariance_around(const torch::Tensor& center, const torch::Tensor& sums) {
  const torch::Tensor mean = sums[0].narrow(0, 1, center.size(0)) / sums[0][0];
  return covariance_of(sums) + (mean - center).unsqueeze(0) * (mean - center).unsqueeze(1);
}

// sqrt(events) L' with L L' = covariance^-1, on the directions of the used features that vary. The inverse of a
// covariance that `sample` events have given is too large in the mean.
// source: Hartlap, Simon and Schneider, A&A 464 (2007) 399
// squares: the features' mean squares
torch::Tensor whitening_of(const torch::Tensor& of_all, const torch::Tensor& squares, double events,
                           const torch::Tensor& all_used, double sample) {
  constexpr double least_share = 0.05, rounding = 1e-10;
  // a feature of equal numbers varies by rounding, which is no scale
  const torch::Tensor used =
      all_used.index({(of_all.diagonal() > rounding * squares).index_select(0, all_used)});
  if (used.numel() == 0) return torch::zeros({0, of_all.size(0)}, torch::kFloat64);
  const torch::Tensor covariance = of_all.index_select(0, used).index_select(1, used);
  const torch::Tensor deviation = covariance.diagonal().clamp_min(1e-300).sqrt();
  const torch::Tensor correlation = covariance / deviation.unsqueeze(0) / deviation.unsqueeze(1);
  const auto [values, vectors] = torch::linalg_eigh(correlation);
  const torch::Tensor kept = (values > values.max() * smallest_eigenvalue).nonzero().flatten();
  const double unbiased =
      std::max(least_share, (sample - static_cast<double>(kept.size(0)) - 2) / (sample - 1));
  const torch::Tensor scales =
      (values.index_select(0, kept).reciprocal() * (events * unbiased)).sqrt().unsqueeze(1);
  const torch::Tensor whitening =
      vectors.index_select(1, kept).t() * scales / deviation.unsqueeze(0);
  return torch::zeros({kept.size(0), of_all.size(0)}, torch::kFloat64)
      .index_copy(1, used, whitening);
}

// Means of so few events are far from normal, and in a sample that has none of them have no covariance.
// sums: of the data, weights phi phi'
torch::Tensor used_features(const EventFeatures& features, const torch::Tensor& sums,
                            double events) {
  std::vector<std::int64_t> used;
  for (std::int64_t i = 0; i < features.size(); ++i) {
    const EventFeatures::Need& need = features.need(i);
    const double share = (sums[0][need.counted_by + 1] / sums[0][0]).item<double>();
    if (need.events == 0 || share * events >= need.events) used.push_back(i);
  }
  if (used.empty())
    throw core::StateError("too few events share a value (nothing tells parameters). Take more.");
  return torch::tensor(used, torch::kInt64);
}

}  // namespace

MomentModel::MomentModel(const env::Environment& environment, const MomentsConfig& config,
                         const SolveContext& context)
    : environment_(environment),
      config_(config),
      context_(context),
      ranks_(static_cast<double>(context.place.ranks)),
      simulations_(environment.processes()) {
  torch::NoGradGuard no_grad;
  for (const env::Channel& channel : environment.channels) {
    targets_.push_back(target(channel));
    const Target& made = targets_.back();
    data_events_ = std::max(data_events_, made.events);
  }
  config_.least_events = std::max(
      config_.least_events,
      static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(needed_events()))));
  count_residuals();
}

std::int64_t MomentModel::features_left_out() const {
  std::int64_t most = 0;
  for (const Target& target : targets_) most = std::max(most, target.features_left_out);
  return most;
}

double MomentModel::needed_events() const {
  std::int64_t features = 0;
  for (const Target& target : targets_) features = std::max(features, target.features->size());
  return events_a_feature * static_cast<double>(features);
}

void MomentModel::count_residuals() {
  residuals_ = 0;
  for (const Target& target : targets_)
    residuals_ += target.whitening.size(0) + static_cast<std::int64_t>(target.references.size());
}

void MomentModel::add_up(torch::Tensor& numbers) const {
  if (!context_.add_up) return;
  numbers = numbers.to(torch::kFloat64).contiguous();
  context_.add_up({numbers.data_ptr<double>(), static_cast<std::size_t>(numbers.numel())});
}

torch::Tensor MomentModel::points_in_ranges(std::int64_t count) const {
  const std::int64_t free = parameters().free_size();
  env::Noise noise(env::common_draw(env::DrawKind::sobol, count, free,
                                    core::RandomStream(context_.seed, "minima")),
                   1, count);
  std::vector<torch::Tensor> columns;
  for (std::int64_t i = 0; i < free; ++i) columns.push_back(noise.uniform()[0].to(torch::kFloat64));
  return torch::stack(columns, 1).clamp(1e-3, 1 - 1e-3);
}

// Data and, with as much weight, events from all over the ranges. On a scale of both, means of features
// change with the parameters also where no event is like the data's.
// shapes: [events, observables], [events]
std::pair<torch::Tensor, torch::Tensor> MomentModel::wide_sample(
    const env::Channel& channel) const {
  constexpr std::int64_t points = 16, events_a_point = 256, most_data = 16384;
  const torch::Tensor physical = parameters().physical_from_unit(points_in_ranges(points));
  env::Noise numbers(
      env::common_draw(env::DrawKind::pseudo_random, events_a_point,
                       env::noise_dimensions(channel.pipeline, parameters()),
                       core::RandomStream(context_.seed, "moments " + channel.name + " scales")),
      points, events_a_point);
  const env::Events made = channel.pipeline.infer(physical.to(torch::kFloat32), numbers);
  const data::Dataset& data = channel.training;
  const torch::Tensor data_weights = weights_of(data);
  const std::int64_t stride = 1 + data.size() / most_data;
  std::vector<torch::Tensor> values, weights;
  const auto add = [&](const torch::Tensor& rows, const torch::Tensor& of_rows) {
    values.push_back(rows);
    weights.push_back(of_rows.defined() ? of_rows.abs().to(torch::kFloat32)
                                        : torch::ones({rows.size(0)}, torch::kFloat32));
    weights.back() = weights.back() / weights.back().sum();
  };
  add(data.values.slice(0, 0, data.size(), stride),
      data_weights.defined() ? data_weights.slice(0, 0, data.size(), stride) : data_weights);
  const auto [rows, of_rows] = made.rows();
  add(rows, of_rows);
  return {torch::cat(values), torch::cat(weights)};
}

// Scales of all ranks' events: the mean of their quantiles, so that all have the same.
std::vector<ObservableScale> MomentModel::scales(const env::Channel& channel) const {
  const auto [values, weights] =
      config_.features.wide ? wide_sample(channel)
                            : std::pair{channel.training.values, weights_of(channel.training)};
  std::vector<ObservableScale> found;
  for (std::int64_t i = 0; i < channel.observables(); ++i) {
    std::vector<double> numbers = ObservableScale(values.select(1, i), weights).numbers();
    if (context_.add_up) context_.add_up(numbers);
    for (double& number : numbers) number /= ranks_;
    found.emplace_back(numbers);
  }
  return found;
}

std::vector<Categories> MomentModel::categories(const env::Channel& channel) const {
  std::vector<Categories> found;
  for (std::int64_t i = 0; i < channel.observables(); ++i) {
    std::vector<double> counts = category_counts(channel.training.values.select(1, i));
    if (context_.add_up) context_.add_up(counts);
    found.push_back(categories_of(counts, channel.observables() == 1));
  }
  return found;
}

torch::Tensor MomentModel::sums(const Target& target, const torch::Tensor& events,
                                const torch::Tensor& weights) const {
  torch::Tensor found = target.features->sums(events, weights);
  add_up(found);
  return found;
}

// Events of one point in a channel, and their weights.
std::pair<torch::Tensor, torch::Tensor> MomentModel::rows_at(std::size_t channel,
                                                             const torch::Tensor& unit,
                                                             std::int64_t events) const {
  const env::Channel& of = environment_.channels[channel];
  const torch::Tensor physical = parameters().physical_from_unit(unit.unsqueeze(0));
  env::Noise numbers(noise(targets_[channel], of, events, 0), 1, events);
  return of.pipeline.infer(physical.to(torch::kFloat32), numbers).rows();
}

void MomentModel::weigh_at(const torch::Tensor& unit, std::int64_t events) {
  torch::NoGradGuard no_grad;
  for (std::size_t k = 0; k < targets_.size(); ++k) {
    Target& target = targets_[k];
    const auto [rows, weights] = rows_at(k, unit, events);
    const torch::Tensor found = sums(target, rows, weights);
    torch::Tensor squared = weights.defined()
                                ? weights.to(torch::kFloat64).square().sum()
                                : torch::tensor(static_cast<double>(rows.size(0)), torch::kFloat64);
    add_up(squared);
    const torch::Tensor covariance = covariance_of(found);
    if (!torch::isfinite(covariance).all().item<bool>())
      continue;  // no events here: the data's stays
    const double effective = (found[0][0].square() / squared).item<double>();
    const torch::Tensor whitening =
        whitening_of(covariance, squares_of(found), target.events, target.used, effective);
    // where events are all alike, most differences would count for nothing
    if (2 * whitening.size(0) < target.whitening.size(0)) continue;
    target.whitening = whitening;
  }
  evaluations_ += 1;
  if (context_.progress) context_.progress->called(1);
  count_residuals();
}

torch::Tensor MomentModel::covariance_along(const torch::Tensor& directions,
                                            const torch::Tensor& unit, std::int64_t events) const {
  torch::NoGradGuard no_grad;
  const std::int64_t count = directions.size(1);
  torch::Tensor all = torch::zeros({count, count}, torch::kFloat64);
  std::int64_t row = 0;
  const auto next_rows = [&](std::int64_t rows) {
    row += rows;
    return directions.narrow(0, row - rows, rows);
  };
  for (std::size_t k = 0; k < targets_.size(); ++k) {
    const Target& target = targets_[k];
    const torch::Tensor along =
        target.whitening.t().matmul(next_rows(target.whitening.size(0))) / std::sqrt(target.events);
    const auto [rows, weights] = rows_at(k, unit, events);
    torch::Tensor seen = torch::zeros({1 + count, rows.size(0)}, torch::kFloat64);
    seen[0].fill_(1);
    std::int64_t feature = 0;
    target.features->each(rows, [&](const torch::Tensor& values) {
      seen.narrow(0, 1, count).addr_(along[feature++], values.to(torch::kFloat64));
    });
    torch::Tensor sums =
        (weights.defined() ? seen * weights.to(torch::kFloat64) : seen).matmul(seen.t());
    add_up(sums);
    all += covariance_of(sums);
    const torch::Tensor references = next_rows(static_cast<std::int64_t>(target.references.size()));
    all += references.t().matmul(references);
  }
  evaluations_ += 1;
  if (context_.progress) context_.progress->called(1);
  return all;
}

double MomentModel::events_kept(const torch::Tensor& unit, std::int64_t events) const {
  torch::NoGradGuard no_grad;
  double least = std::numeric_limits<double>::infinity();
  for (std::size_t k = 0; k < targets_.size(); ++k) {
    const auto [rows, weights] = rows_at(k, unit, events);
    torch::Tensor sums =
        torch::full({2}, static_cast<double>(rows.size(0)), torch::kFloat64);  // of w and w^2
    if (weights.defined()) {
      sums[0] = weights.sum(torch::kFloat64);
      sums[1] = weights.to(torch::kFloat64).square().sum();
    }
    add_up(sums);
    least = std::min((sums[0].square() / sums[1]).item<double>(), least);
  }
  evaluations_ += 1;
  if (context_.progress) context_.progress->called(1);
  return least;
}

torch::Tensor MomentModel::data_covariance() const {
  const auto is_weighted = [](const Target& target) { return target.scatter.defined(); };
  if (std::none_of(targets_.begin(), targets_.end(), is_weighted)) return {};
  std::vector<torch::Tensor> blocks;
  for (const Target& target : targets_) {
    blocks.push_back(is_weighted(target)
                         ? target.whitening.matmul(target.scatter).matmul(target.whitening.t())
                         : torch::eye(target.whitening.size(0), torch::kFloat64));
    blocks.push_back(
        torch::eye(static_cast<std::int64_t>(target.references.size()), torch::kFloat64));
  }
  return torch::block_diag(blocks);
}

MomentModel::Target MomentModel::target(const env::Channel& channel) const {
  Target made;
  const data::Dataset& data = channel.training;
  torch::Tensor counts = counts_of(data);
  add_up(counts);
  EventFeaturesConfig features = config_.features;
  const auto make = [&, scales = scales(channel), categories = categories(channel)] {
    made.features = std::make_unique<EventFeatures>(features, scales, channel.features, categories);
  };
  make();
  // so few events say nothing of so many products, and covariances of many more take too long
  if (static_cast<double>(made.features->size()) >
      std::min(counts[0].item<double>(), most_features)) {
    made.features_left_out = made.features->size();
    features.cross_degree = 0;
    make();
    made.features_left_out -= made.features->size();
  }
  const torch::Tensor found = sums(made, data.values, weights_of(data));
  const double total = found[0][0].item<double>();
  made.events = total * total / counts[1].item<double>();
  const bool weighted = made.events < counts[0].item<double>() * (1 - 1e-6);
  made.mean = found[0].narrow(0, 1, made.features->size()) / total;
  const torch::Tensor covariance =
      weighted ? covariance_around(made.mean, sums(made, data.values, weights_of(data).square()))
               : covariance_of(found);
  if (!torch::isfinite(covariance).all().item<bool>())
    throw core::StateError(core::text("the features of the data '", channel.name,
                                      "' are not finite. Check the features that were added."));
  made.used = used_features(*made.features, found, made.events);
  made.whitening = whitening_of(covariance, squares_of(found), made.events, made.used, made.events);
  if (weighted) made.scatter = covariance / made.events;
  for (const auto& [name, value] : data.reference) {
    made.reference_names.push_back(name);
    made.references.push_back(value);
  }
  made.noise_dimensions = env::noise_dimensions(channel.pipeline, parameters());
  return made;
}

std::shared_ptr<const env::NoiseSource> MomentModel::noise(const Target& target,
                                                           const env::Channel& channel,
                                                           std::int64_t events,
                                                           std::int64_t repetition) const {
  const std::string name = core::text(channel.name, " ", repetition);
  const std::lock_guard lock(noise_mutex_);
  auto& kept = kept_noise_[core::text(name, " ", events)];
  if (kept) return kept;
  // ranks simulate different events
  const core::RandomStream stream(context_.seed,
                                  core::text("moments ", name, " rank ", context_.place.rank),
                                  static_cast<std::uint32_t>(events));
  kept = env::common_draw(config_.noise == MomentsConfig::NoiseKind::sobol
                              ? env::DrawKind::sobol
                              : env::DrawKind::pseudo_random,
                          events, target.noise_dimensions, stream);
  return kept;
}

// Residuals of one channel before the ranks' simulations are added. shape: [points, 1 + features +
// references]: sum of weights, sums of features, numbers
torch::Tensor MomentModel::simulate(const Target& target, const env::Channel& channel,
                                    const torch::Tensor& physical, std::int64_t events,
                                    std::int64_t repetition, Form form) const {
  env::Noise numbers(noise(target, channel, events, repetition), physical.size(0), events);
  const torch::Tensor input = physical.to(torch::kFloat32);
  const env::Events made = form == Form::inference ? channel.pipeline.infer(input, numbers)
                                                   : channel.pipeline(input, numbers);
  const torch::Tensor weights = made.effective_weights();
  std::vector<torch::Tensor> sums = {
      weights.defined()
          ? weights.sum(1).to(torch::kFloat64)
          : torch::full({physical.size(0)}, static_cast<double>(events), torch::kFloat64)};
  target.features->each(made.values, [&](const torch::Tensor& feature) {
    const torch::Tensor mean = weights.defined() ? (feature * weights).sum(1) : feature.sum(1);
    sums.push_back(mean.to(torch::kFloat64));
  });
  for (const std::string& name : target.reference_names) {
    const auto found = made.numbers.find(name);
    if (found == made.numbers.end())
      throw core::ConfigError(
          "data.reference",
          core::text("the pipeline '", channel.name, "' gives no number '", name,
                     "' to compare with the data's. Leave it out, or let a stage give it."));
    sums.push_back(found->second.to(torch::kFloat64));
  }
  return torch::stack(sums, 1);
}

std::uint64_t MomentModel::key_of(std::size_t channel, const torch::Tensor& physical,
                                  std::int64_t events, std::int64_t repetition, Form form) const {
  const torch::Tensor dense = physical.to(torch::kFloat32).contiguous();
  return core::fnv1a(
      core::text(channel, " ", events, " ", repetition, " ", form == Form::inference),
      core::fnv1a({static_cast<const char*>(dense.data_ptr()), dense.nbytes()}));
}

torch::Tensor MomentModel::simulated(std::size_t channel, const torch::Tensor& physical,
                                     std::int64_t events, std::int64_t repetition,
                                     Form form) const {
  const auto make = [this, channel, physical, events, repetition, form] {
    return simulate(targets_[channel], environment_.channels[channel], physical, events, repetition,
                    form);
  };
  if (at_a_time() < 2) return make();
  return simulations_.get(key_of(channel, physical, events, repetition, form), make);
}

void MomentModel::expect(const torch::Tensor& unit, std::int64_t events, std::int64_t repetition,
                         Form form) const {
  if (at_a_time() < 2) return;
  const torch::Tensor physical = parameters().physical_from_unit(unit);
  for (std::size_t k = 0; k < targets_.size(); ++k)
    simulations_.expect(key_of(k, physical, events, repetition, form), [this, k, physical, events,
                                                                        repetition, form] {
      return simulate(targets_[k], environment_.channels[k], physical, events, repetition, form);
    });
}

void MomentModel::expect_residuals(const torch::Tensor& unit, std::int64_t events,
                                   std::int64_t repetition) const {
  expect(unit, events, repetition, Form::inference);
}

torch::Tensor MomentModel::compare(const torch::Tensor& physical, std::int64_t events,
                                   std::int64_t repetition, Form form, bool in_graph) const {
  if (!context_.add_up && context_.interrupted && context_.interrupted()) throw OutOfTime();
  std::vector<torch::Tensor> parts;
  for (std::size_t k = 0; k < targets_.size(); ++k) {
    const Target& target = targets_[k];
    const std::int64_t features = target.features->size();
    torch::Tensor sums =
        in_graph ? simulate(target, environment_.channels[k], physical, events, repetition, form)
                 : simulated(k, physical, events, repetition, form);
    const bool added = !in_graph;  // ranks add up numbers, no graphs
    if (added) add_up(sums);
    const torch::Tensor means =
        sums.narrow(1, 1, features) / sums.narrow(1, 0, 1);  // no event at all: NaN, refused later
    parts.push_back(torch::matmul(means - target.mean, target.whitening.t()));
    if (target.references.empty()) continue;
    const torch::Tensor given = torch::tensor(target.references, torch::kFloat64);
    const double count = added ? ranks_ : 1;  // each rank's number is in the sum
    // relative, but for a number that should vanish
    const torch::Tensor numbers = sums.narrow(1, 1 + features, given.size(0)) / count;
    const torch::Tensor unit = torch::where(given == 0, torch::ones_like(given), given);
    parts.push_back((numbers - given) / unit / config_.reference_error);
  }
  evaluations_ += physical.size(0);
  if (context_.progress) context_.progress->called(physical.size(0));
  return torch::cat(parts, 1);
}

torch::Tensor MomentModel::residuals(const torch::Tensor& unit, std::int64_t events,
                                     std::int64_t repetition) const {
  torch::NoGradGuard no_grad;
  return compare(parameters().physical_from_unit(unit), events, repetition, Form::inference);
}

double MomentModel::distance_of_forms(const torch::Tensor& unit, std::int64_t events) const {
  torch::NoGradGuard no_grad;
  const torch::Tensor physical = parameters().physical_from_unit(unit.unsqueeze(0));
  return (compare(physical, events, 0, Form::training) -
          compare(physical, events, 0, Form::inference))
      .square()
      .sum()
      .item<double>();
}

torch::Tensor MomentModel::first_steps() const {
  return torch::eye(parameters().free_size(), torch::kFloat64) * config_.difference;
}

torch::Tensor MomentModel::jacobian(const torch::Tensor& unit, const torch::Tensor& steps,
                                    std::int64_t events, std::int64_t repetition) const {
  return differences(unit, steps, events, repetition, Form::inference);
}

torch::Tensor MomentModel::descent_jacobian(const torch::Tensor& unit, std::int64_t events) const {
  constexpr double longer = 10, longest = 0.1;  // steps, of the range
  if (config_.jacobian == MomentsConfig::Jacobian::automatic) return automatic(unit, events);
  torch::Tensor found = differences(unit, first_steps(), events, 0, Form::training);
  // where events are chosen or counted, a short step may change none
  for (double times = longer; times * config_.difference <= longest; times *= longer) {
    const torch::Tensor nothing = (found == 0).all(0).nonzero().flatten();
    if (nothing.numel() == 0) break;
    const torch::Tensor steps = first_steps().index_select(0, nothing) * times;
    const torch::Tensor slopes =
        along(unit, steps, events, 0, Form::training) / (times * config_.difference);
    found.index_copy_(1, nothing, slopes.t());
  }
  return found;
}

namespace {

/// Points on both sides of one, first those ahead, and the distance between two, in steps.
struct Pairs {
  torch::Tensor points;     ///< [2 free, free]
  torch::Tensor distances;  ///< [free]
};

Pairs pairs_around(const torch::Tensor& unit, const torch::Tensor& steps,
                   const torch::Tensor& periodic) {
  // an end itself may be no point of the pipeline, as a density with nothing in it
  constexpr double short_of_end = 0.999;
  const auto most = [&](const torch::Tensor& way) {  // until the first parameter is at an end
    const torch::Tensor room =
        (torch::where(way > 0, 1 - unit, unit) * short_of_end).masked_fill(periodic, 1);
    return (room / way.abs().clamp_min(1e-300)).amin(1).clamp_max(1).unsqueeze(1);
  };
  const torch::Tensor ahead = most(steps), behind = most(-steps);
  return {torch::cat({unit + steps * ahead, unit - steps * behind}), (ahead + behind).squeeze(1)};
}

}  // namespace

void MomentModel::expect_jacobian(const torch::Tensor& unit, const torch::Tensor& steps,
                                  std::int64_t events, std::int64_t repetition) const {
  if (at_a_time() > 1)
    expect(pairs_around(unit, steps, parameters().periodic()).points, events, repetition,
           Form::inference);
}

void MomentModel::expect_descent_jacobian(const torch::Tensor& unit, std::int64_t events) const {
  if (at_a_time() > 1 && config_.jacobian == MomentsConfig::Jacobian::differences)
    expect(pairs_around(unit, first_steps(), parameters().periodic()).points, events, 0,
           Form::training);
}

// (rho(g + h) - rho(g - h)) / 2 for each step h, all points in one call. shapes: [steps, free] -> [steps, residuals]
torch::Tensor MomentModel::along(const torch::Tensor& unit, const torch::Tensor& steps,
                                 std::int64_t events, std::int64_t repetition, Form form) const {
  torch::NoGradGuard no_grad;
  const Pairs pairs = pairs_around(unit, steps, parameters().periodic());
  const torch::Tensor found =
      compare(parameters().physical_from_unit(pairs.points), events, repetition, form);
  const std::int64_t count = steps.size(0);
  return (found.narrow(0, 0, count) - found.narrow(0, count, count)) / pairs.distances.unsqueeze(1);
}

// That is the Jacobian times each h.
torch::Tensor MomentModel::differences(const torch::Tensor& unit, const torch::Tensor& steps,
                                       std::int64_t events, std::int64_t repetition,
                                       Form form) const {
  return torch::linalg_solve(steps, along(unit, steps, events, repetition, form)).t();
}

torch::Tensor MomentModel::automatic(const torch::Tensor& unit, std::int64_t events) const {
  torch::AutoGradMode with_grad(true);
  const torch::Tensor variable = differentiable(unit);
  const torch::Tensor found = compare(parameters().physical_from_unit(variable.unsqueeze(0)),
                                      events, 0, Form::training, true)[0];
  torch::Tensor all = jacobian_of(found, variable).detach();
  if (context_.add_up) {
    add_up(all);
    all = all / ranks_;
  }
  return all;
}

}  // namespace sagips::optim
