#include <algorithm>
#include <cmath>

#include "sagips/analysis/lookup.hpp"
#include "sagips/analysis/report/html.hpp"
#include "sagips/analysis/report/sections.hpp"
#include "sagips/analysis/settling.hpp"
#include "sagips/analysis/table.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis::report {
namespace {

using State = RunContents::State;
using record::GoodnessResult;

constexpr double far_away = 1;               // errors
constexpr double past_best = 0.1;            // of the smallest loss, above it
constexpr double still_falling = 0.01;       // of the loss, in a tenth of the epochs more
constexpr double errors_apart = 2;           // of a trend that is sure
constexpr std::size_t fewest_of_trend = 4;   // evaluations
constexpr double settled = 0.3, moving = 1;  // of the unit of a settling

/// A short answer, its colour and what it rests on.
struct Verdict {
  std::string question;
  std::string answer;
  std::string mood;  ///< "good", "fair", "bad", "open"
  std::string reason;
};

std::string card(const Verdict& verdict) {
  return element("div", "class=\"card " + verdict.mood + "\"",
                 element("h3", "", escape(verdict.question)) + paragraph(verdict.answer, "answer") +
                     paragraph(verdict.reason));
}

Verdict end_verdict(const RunContents& run) {
  Verdict verdict{"How did it end?", state_words(run.state), "good", run.end};
  if (run.state != State::finished) verdict.mood = run.state == State::failed ? "bad" : "fair";
  const bool a_member_failed =
      std::any_of(run.members.begin(), run.members.end(), [](const MemberContents& one) {
        return one.member.state == record::StudyMember::State::failed;
      });
  if (a_member_failed) verdict.mood = "fair";
  if (run.state == State::unfinished && !run.study)
    verdict.reason = "It was ended from outside " + run.end + ": there are no results.";
  return verdict;
}

/// Mean |pull|, or mean |residual|, whichever the truth and the errors allow.
Verdict found_verdict(const RunContents& run) {
  Verdict verdict{"How close is it?", "unknown", "open",
                  "No true values are known; see whether it fits the data."};
  if (!run.results) {
    verdict.reason = "There are no results yet.";
    return verdict;
  }
  double pulls = 0, residuals = 0, floors = 0;
  int pulled = 0, with_residual = 0, with_floor = 0;
  for (const auto& row : run.results->parameters) {
    if (row.fixed || !row.truth) continue;
    if (const auto pull = record::pull(row)) pulls += *pull * *pull, ++pulled;
    if (row.residual_end) residuals += std::abs(*row.residual_end), ++with_residual;
    if (row.floor) floors += *row.floor, ++with_floor;
  }
  if (with_residual == 0) return verdict;
  const double mean = 100 * residuals / with_residual;
  verdict.answer = core::text(core::significant(mean, 2), " % mean |residual|");
  verdict.reason =
      with_floor > 0 ? core::text("The floor of these data is ",
                                  core::significant(100 * floors / with_floor, 2), " % on average.")
                     : "No floor is known.";
  if (pulled > 0) {
    const double rms = std::sqrt(pulls / pulled);
    verdict.mood = rms < 2 ? "good" : "bad";
    verdict.reason +=
        core::text(" The values lie ", core::significant(rms, 2), " errors from the truth (rms).");
  } else if (with_floor > 0) {
    verdict.mood = mean < 200 * floors / with_floor ? "good" : "bad";
  }
  return verdict;
}

std::string goodness_words(const GoodnessResult& one) {
  std::string words = core::text(one.name, " = ", core::significant(one.value, 4));
  if (one.degrees_of_freedom > 0)
    words += core::text(" for ", std::llround(one.degrees_of_freedom), " degrees of freedom");
  return words + core::text(", p = ", core::significant(one.p_value, 2)) + ".";
}

Verdict fit_verdict(const RunContents& run) {
  Verdict verdict{"Does it fit the data?", "not tested", "open",
                  "This run holds no goodness of fit; see the observables."};
  if (!run.results || run.results->goodness.empty()) return verdict;
  const auto& all = run.results->goodness;
  const auto worst = std::min_element(
      all.begin(), all.end(), [](const auto& a, const auto& b) { return a.p_value < b.p_value; });
  verdict.answer = "yes";
  verdict.mood = "good";
  if (worst->p_value < record::in_tension) verdict.answer = "in tension", verdict.mood = "fair";
  if (worst->p_value < record::improbable) verdict.answer = "no", verdict.mood = "bad";
  verdict.reason.clear();
  for (const GoodnessResult& one : all)
    verdict.reason += core::text(verdict.reason.empty() ? "" : " ", goodness_words(one));
  const auto& numbers = run.results->numbers;
  const auto distance = std::find_if(numbers.begin(), numbers.end(), [](const auto& number) {
    return number.name == "networks_distance";
  });
  if (run.results->method == "gan" && distance != numbers.end() && distance->value > far_away) {
    verdict.answer = "not where the data want it", verdict.mood = "bad";
    verdict.reason += core::text(" The networks are ", core::significant(distance->value, 2),
                                 " errors from the minimum of the moments.");
  } else if (worst->p_value < record::improbable) {
    verdict.reason += " The pipeline does not describe these data.";
  }
  return verdict;
}

Verdict settled_verdict(const RunContents& run) {
  Verdict verdict{"Has it converged?", "unknown", "open", "Too few evaluations to tell."};
  if (run.is_study()) {
    verdict.reason =
        "See each member's own learning curve, and residuals over time below if there are.";
    return verdict;
  }
  const bool networks = !run.metrics.empty();
  if (!networks && run.results) {
    verdict.answer = run.results->complete ? "yes" : "no";
    verdict.mood = run.results->complete ? "good" : "bad";
    verdict.reason = "The solver says: " + run.results->finish_reason + ".";
    return verdict;
  }
  const auto move = largest_move(run.metrics, run.parameters());
  if (!move) return verdict;
  verdict.answer = "settled";
  verdict.mood = "good";
  if (move->move >= settled) verdict.answer = "nearly settled", verdict.mood = "fair";
  if (move->move >= moving) verdict.answer = "still moving", verdict.mood = "bad";
  verdict.reason =
      core::text("In the last ", core::with_thousands(move->to_epoch - move->from_epoch),
                 " epochs (a fifth) ", move->parameter, " moved most: by ",
                 core::significant(move->move, 2), " times its ", move->unit, ".");
  return verdict;
}

/// The metric that a person asks for first; of an ensemble its mean and spread.
Verdict quality_verdict(const RunContents& run) {
  Verdict verdict{"How good is it?", "unknown", "open", "There are no results yet."};
  if (!run.results) return verdict;
  static const std::vector<std::pair<const char*, const char*>> asked_first = {
      {"accuracy", "Of the rows that were kept aside."},
      {"mean_absolute_error", "Mean absolute error over the rows kept aside."},
      {"loss", "Loss over the rows that were kept aside."},
      {"figure_of_merit", "Relative errors of made examples (figure of merit); 0 is best."},
      {"distance", "At the last evaluation; 0 is best."}};
  for (const auto& [name, reason] : asked_first)
    for (const record::MetricResult& metric : record::metrics_of(*run.results)) {
      if (metric.name != name) continue;
      const bool is_accuracy = metric.name == "accuracy";
      const auto deviation = number_of(run, core::text(name, "_deviation"));
      const double scale = is_accuracy ? 100 : 1;
      verdict.answer = deviation     ? with_error(scale * metric.end, scale * *deviation)
                       : is_accuracy ? percent(metric.end)
                                     : core::significant(metric.end, 3);
      if (is_accuracy) verdict.answer += deviation ? " % right" : " right";
      verdict.reason = reason;
      if (deviation) verdict.reason += " Mean and standard deviation over members.";
      return verdict;
    }
  const auto metrics = record::metrics_of(*run.results);
  if (!metrics.empty()) {
    verdict.answer =
        core::text(metrics.front().name, " ", core::significant(metrics.front().end, 3));
    verdict.reason = "At the last evaluation.";
  }
  return verdict;
}

/// A loss that still falls: by how much in a tenth of the epochs more (one at least), relative to it, by a
/// straight line through the last evaluations (least squares), and the standard error of that.
struct Fall {
  double share = 0, error = 0;
  std::size_t evaluations = 0;
};
std::optional<Fall> last_fall(const std::vector<std::pair<double, double>>& losses) {
  const std::size_t count = std::max(fewest_of_trend, losses.size() / 4);
  if (losses.size() < count) return std::nullopt;
  const auto begin = losses.end() - static_cast<std::ptrdiff_t>(count);
  double x = 0, y = 0, xx = 0, xy = 0, yy = 0;
  for (auto one = begin; one != losses.end(); ++one)
    x += one->first / static_cast<double>(count), y += one->second / static_cast<double>(count);
  for (auto one = begin; one != losses.end(); ++one) {
    const double dx = one->first - x, dy = one->second - y;
    xx += dx * dx, xy += dx * dy, yy += dy * dy;
  }
  const double slope = xy / xx;
  const double error =
      std::sqrt(std::max(0.0, yy - slope * xy) / static_cast<double>(count - 2) / xx);
  const double scale = std::max(1.0, 0.1 * losses.back().first) / std::abs(y);
  return Fall{-slope * scale, error * scale, count};
}

/// A metric, smaller where better, by epochs; without what is before the first epoch.
std::vector<std::pair<double, double>> over_epochs(const RunContents& run, const char* metric) {
  std::vector<std::pair<double, double>> values;
  for (const auto* evaluated : events_of<record::Evaluated>(run.metrics))
    if (const record::NamedNumber* value = find_named(evaluated->metrics, metric);
        value != nullptr && evaluated->epoch > 0 && std::isfinite(value->value) &&
        (values.empty() || values.back().first < static_cast<double>(evaluated->epoch)))
      values.emplace_back(evaluated->epoch, value->value);
  return values;
}

/// Whether learning should have gone on, or went on for too long.
Verdict best_verdict(const RunContents& run) {
  Verdict verdict{"Is it at its best?", "unknown", "open", "Too few evaluations to tell."};
  const char* watched = "";
  std::vector<std::pair<double, double>> losses;
  for (const char* metric : {"loss", "figure_of_merit", "distance"})  // the last two of a generator
    if (losses.empty()) losses = over_epochs(run, watched = metric);
  if (losses.empty()) return verdict;
  const auto best =
      std::min_element(losses.begin(), losses.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  const double last = losses.back().second;
  const bool is_past = last - best->second > past_best * std::abs(best->second);
  const auto fall = last_fall(losses);
  if (!is_past && !fall) return verdict;
  verdict.answer = is_past ? "past it" : "yes";
  verdict.mood = is_past ? "fair" : "good";
  verdict.reason = core::text("The smallest ", watched, " over the rows kept aside was ",
                              core::significant(best->second, 3), ", after ",
                              core::with_thousands(static_cast<std::int64_t>(best->first)),
                              " epochs; at the end it is ", core::significant(last, 3), ".");
  if (is_past) {
    verdict.reason += " Set train.epochs or early_stop.patience to end there.";
    if (number_of(run, "best_epoch"))
      verdict.reason += " The networks of the best epoch are kept (network_best.safetensors).";
  } else if (fall->share > still_falling) {
    const bool is_sure = fall->share > errors_apart * fall->error;
    verdict.answer = is_sure ? "no" : "not settled";
    verdict.mood = "fair";
    verdict.reason += core::text(
        " By its last ", fall->evaluations, " evaluations it would fall by another ",
        core::fixed(100 * fall->share, 1), " ± ", core::fixed(100 * fall->error, 1),
        losses.back().first > 10 ? " % in a tenth of the epochs more" : " % in one epoch more",
        is_sure ? ": raise train.epochs." : ", which is no sure trend.");
  }
  return verdict;
}

/// Where a pipeline's data allow several answers.
Verdict others_verdict(const record::Results& results) {
  const std::size_t count = results.others.size() + 1;
  return {
      "Is there one answer?", core::text("no, ", count, " solutions"), "fair",
      core::text("The data allow ", count,
                 " separate solutions. The values and errors of this page are those of the best "
                 "one; the others stand below, under Parameters.")};
}

/// What was warned of while the run went on.
Verdict warnings_verdict(const std::vector<core::Warning>& warnings) {
  Verdict verdict{"Is anything to be doubted?",
                  core::text(warnings.size(), warnings.size() == 1 ? " warning" : " warnings"),
                  "fair", warnings.front().text.substr(0, warnings.front().text.find(". ")) + "."};
  if (verdict.reason.ends_with("..")) verdict.reason.pop_back();
  if (warnings.size() > 1) verdict.reason += " The others stand below.";
  return verdict;
}

}  // namespace

std::string verdicts(const RunContents& run) {
  std::vector<Verdict> shown;
  for (const std::vector<std::string>& row : run.verdicts)
    if (row.size() == 4) shown.push_back({row[0], row[1], row[2], row[3]});
  if (run.is_learning()) {
    shown.push_back(quality_verdict(run));
    const bool has_loss = !run.results || run.results->method == record::learning_method;
    if (!run.is_study() && has_loss) shown.push_back(best_verdict(run));
  } else {
    if (run.results && !run.results->others.empty()) shown.push_back(others_verdict(*run.results));
    for (const Verdict& verdict : {found_verdict(run), fit_verdict(run), settled_verdict(run)})
      if (!run.is_study() || verdict.mood != "open") shown.push_back(verdict);  // few can be known
  }
  if (run.results && !run.results->warnings.empty())
    shown.push_back(warnings_verdict(run.results->warnings));
  shown.push_back(end_verdict(run));
  std::string cards;
  for (const Verdict& verdict : shown) cards += card(verdict);
  return element("div", "class=\"cards\"", cards);
}

}  // namespace sagips::analysis::report
