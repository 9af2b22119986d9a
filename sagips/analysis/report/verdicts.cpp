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

// Probabilities below which a fit is doubted and refused, as the warnings of the commands have them.
constexpr double doubtful = 0.05, improbable = 1e-3;
constexpr double far_away = 1;               // errors
constexpr double past_best = 0.1;            // of the smallest loss, above it
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
  if (worst->p_value < doubtful) verdict.answer = "in tension", verdict.mood = "fair";
  if (worst->p_value < improbable) verdict.answer = "no", verdict.mood = "bad";
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
  } else if (worst->p_value < improbable) {
    verdict.reason += " The pipeline does not describe these data.";
  }
  return verdict;
}

Verdict settled_verdict(const RunContents& run) {
  Verdict verdict{"Has it converged?", "unknown", "open", "Too few evaluations to tell."};
  if (run.is_study()) {
    verdict.reason = "See each member's own course, and residuals over time below if there are.";
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

/// The metric that a person asks for first.
Verdict quality_verdict(const RunContents& run) {
  Verdict verdict{"How good is it?", "unknown", "open", "There are no results yet."};
  if (!run.results) return verdict;
  for (const char* name : {"accuracy", "mean_absolute_error", "loss"})
    for (const record::MetricResult& metric : record::metrics_of(*run.results)) {
      if (metric.name != name) continue;
      verdict.answer = metric.name == "accuracy" ? percent(metric.end) + " right"
                                                 : core::significant(metric.end, 3);
      verdict.mood = "open";  // what is good enough is the user's to say
      verdict.reason = metric.name == "accuracy" ? "Of the rows that were kept aside."
                       : metric.name == "loss"   ? "Loss over the rows that were kept aside."
                                                 : "Mean absolute error over the rows kept aside.";
      return verdict;
    }
  return verdict;
}

/// Whether learning went on for too long.
Verdict best_verdict(const RunContents& run) {
  Verdict verdict{"Is it at its best?", "unknown", "open", "Too few evaluations to tell."};
  const record::Evaluated* best = nullptr;
  double smallest = 0, last = 0;
  for (const auto* evaluated : events_of<record::Evaluated>(run.metrics))
    if (const record::NamedNumber* loss = find_named(evaluated->distances, "loss")) {
      last = loss->value;
      if (best == nullptr || last < smallest) best = evaluated, smallest = last;
    }
  if (best == nullptr) return verdict;
  const bool at_best = last - smallest <= past_best * std::abs(smallest);
  verdict.answer = at_best ? "yes" : "past it";
  verdict.mood = at_best ? "good" : "fair";
  verdict.reason =
      core::text("The smallest loss over the rows kept aside was ", core::significant(smallest, 3),
                 ", after ", core::with_thousands(best->epoch), " epochs; at the end it is ",
                 core::significant(last, 3), ".");
  if (!at_best) verdict.reason += " Set train.epochs or early_stop.patience to end there.";
  return verdict;
}

}  // namespace

std::string verdicts(const RunContents& run) {
  std::string cards;
  if (run.is_learning() && !run.is_study()) {
    for (const Verdict& verdict : {quality_verdict(run), best_verdict(run), end_verdict(run)})
      cards += card(verdict);
    return element("div", "class=\"cards\"", cards);
  }
  for (const Verdict& verdict :
       {found_verdict(run), fit_verdict(run), settled_verdict(run), end_verdict(run)})
    if (!run.is_study() || verdict.mood != "open")
      cards += card(verdict);  // of a study few can be known
  return element("div", "class=\"cards\"", cards);
}

}  // namespace sagips::analysis::report
