#include "sagips/optim/moments/moment_slopes.hpp"

#include <algorithm>

namespace sagips::optim {

namespace {

constexpr std::int64_t first_repetition = 1000;  // numbers that no residual was judged by
constexpr std::int64_t few = 4, most = 64;       // repetitions
constexpr double accepted = 0.03;  // share of a variance; of an error it is half of that
constexpr double longer = 4, shortest = 1e-6, longest = 0.25;  // of steps
constexpr int changes = 5;                                     // of steps at most

/// Slopes with steps of one choice, whose directions are orthonormal, and along these.
class Measured {
 public:
  /// steps: one a row
  Measured(const MomentModel& model, torch::Tensor unit, torch::Tensor steps, std::int64_t events)
      : model_(&model),
        unit_(std::move(unit)),
        steps_(std::move(steps)),
        lengths_(steps_.norm(2, 1)),
        directions_((steps_ / lengths_.unsqueeze(1)).t()),
        events_(events) {}

  Measured with(const torch::Tensor& lengths) const {
    return {*model_, unit_, lengths.unsqueeze(1) * directions_.t(), events_};
  }

  // From steps of single parameters to the axes of the ellipsoid of errors, noise taken for information, and
  // as long as these. A parameter closer to an end than half its error keeps its own: no other step should
  // end there.
  Measured along_ellipsoid() const {
    const torch::Tensor mean = this->mean(), information = mean.t().matmul(mean);
    const torch::Tensor errors = variances_left(information).sqrt();
    const torch::Tensor inside =
        (torch::minimum(unit_, 1 - unit_) > errors / 2).nonzero().flatten();
    const auto [values, vectors] =
        torch::linalg_eigh(information.index_select(0, inside).index_select(1, inside));
    const torch::Tensor lengths = values.clamp_min(1e-12).rsqrt().clamp(shortest * longer, longest);
    torch::Tensor steps = steps_.clone();
    steps.index_put_({inside.unsqueeze(1), inside}, lengths.unsqueeze(1) * vectors.t());
    return {*model_, unit_, steps, events_};
  }

  void repeat_up_to(std::int64_t count) {
    for (auto i = static_cast<std::int64_t>(rows_.size()); i < count; ++i)
      model_->expect_jacobian(unit_, steps_, events_, first_repetition + i);
    while (static_cast<std::int64_t>(rows_.size()) < count)
      rows_.push_back(model_
                          ->jacobian(unit_, steps_, events_,
                                     first_repetition + static_cast<std::int64_t>(rows_.size()))
                          .matmul(directions_));
  }

  std::int64_t count() const { return static_cast<std::int64_t>(rows_.size()); }
  const torch::Tensor& lengths() const { return lengths_; }
  torch::Tensor mean() const { return torch::stack(rows_).mean(0); }
  /// Whether a step moves no residual at all. shape: [free]
  torch::Tensor changes_nothing() const { return (torch::stack(rows_) == 0).all(0).all(0); }
  /// What noise of the mean adds to mean' mean, expected. shape: [free, free]
  torch::Tensor noise() const {
    const torch::Tensor scatter = (torch::stack(rows_) - mean()).flatten(0, 1);
    const auto n = static_cast<double>(count());
    return torch::matmul(scatter.t(), scatter) / (n * (n - 1));
  }
  MomentSlopes slopes() const {
    const torch::Tensor jacobian = mean().matmul(directions_.t()),
                        chance = directions_.matmul(noise()).matmul(directions_.t());
    return {jacobian, torch::matmul(jacobian.t(), jacobian) - chance, chance, 0, steps_, count()};
  }
  /// Squared length of the mean slopes' difference from those of other steps, less chance's part.
  /// Both have seen the same random numbers. shape: [free]
  torch::Tensor squared_distance(const Measured& other) const {
    std::vector<torch::Tensor> rows;
    for (std::size_t i = 0; i < std::min(rows_.size(), other.rows_.size()); ++i)
      rows.push_back(other.rows_[i] - rows_[i]);
    const torch::Tensor all = torch::stack(rows), difference = all.mean(0);
    const auto n = static_cast<double>(rows.size());
    const torch::Tensor chance =
        (all - difference).square().sum(torch::IntArrayRef{0, 1}) / (n * (n - 1));
    return (difference.square().sum(0) - chance).clamp_min(0);
  }

 private:
  const MomentModel* model_;
  torch::Tensor unit_, steps_, lengths_, directions_;  ///< directions: one a column
  std::int64_t events_;
  std::vector<torch::Tensor> rows_;
};

}  // namespace

torch::Tensor variances_left(const torch::Tensor& information) {
  const auto [values, vectors] = torch::linalg_eigh(information);
  return torch::matmul(vectors.square(), (values.clamp_min(0) + 1).reciprocal());
}

MomentSlopes slopes_at(const MomentModel& model, const torch::Tensor& unit, std::int64_t events) {
  Measured here(model, unit, model.first_steps(), events);
  // shares of each direction's variance
  torch::Tensor chance, bias = torch::zeros_like(unit);
  torch::Tensor spared;
  const auto judge = [&] {
    const torch::Tensor mean = here.mean(), noise = here.noise();
    spared = variances_left(torch::matmul(mean.t(), mean) - noise);
    chance = spared * noise.diagonal();
  };
  here.repeat_up_to(few);
  judge();
  int change = 0;
  if ((chance > accepted).any().item<bool>()) {
    here = here.along_ellipsoid();
    here.repeat_up_to(few);
    judge();
    ++change;
  }
  for (; change < changes; ++change) {
    Measured next = here.with((here.lengths() * longer).clamp_max(longest));
    next.repeat_up_to(few / 2);
    const torch::Tensor growth = (next.lengths() / here.lengths()).square();
    const torch::Tensor bias_of_next =
        spared * here.squared_distance(next) * (growth / (growth - 1).clamp_min(1e-3)).square();
    bias = bias_of_next / growth.square();
    // where events are chosen or counted, a short step may change none
    const torch::Tensor changes_nothing = here.changes_nothing();
    const torch::Tensor lengthened = (chance > accepted)
                                         .logical_and(bias_of_next < chance / 2)
                                         .logical_or(changes_nothing)
                                         .logical_and(here.lengths() < longest);
    const torch::Tensor shortened = (bias > accepted)
                                        .logical_and(bias > chance)
                                        .logical_and(changes_nothing.logical_not())
                                        .logical_and(here.lengths() > shortest * longer);
    if (!torch::logical_or(lengthened, shortened).any().item<bool>()) break;
    const torch::Tensor lengths =
        torch::where(lengthened, next.lengths(),
                     torch::where(shortened, here.lengths() / longer, here.lengths()));
    here = here.with(lengths);
    here.repeat_up_to(few);
    bias = torch::where(lengthened, bias_of_next,
                        torch::where(shortened, bias / growth.square(), bias));
    judge();
  }
  while (chance.max().item<double>() > accepted && here.count() < most) {
    here.repeat_up_to(here.count() * 2);
    judge();
  }
  MomentSlopes slopes = here.slopes();
  slopes.doubt = (chance + bias).max().item<double>();
  return slopes;
}

MomentSlopes slopes_like(const MomentSlopes& found, const MomentModel& model,
                         const torch::Tensor& unit, std::int64_t events) {
  Measured here(model, unit, found.steps, events);
  here.repeat_up_to(found.repetitions);
  return here.slopes();
}

}  // namespace sagips::optim
