#include "sagips/analysis/report/report.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <filesystem>

#include "sagips/analysis/figure.hpp"
#include "sagips/analysis/report/html.hpp"
#include "sagips/analysis/report/inline_svg.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/environment.hpp"
#include "sagips/record/event_json.hpp"
#include "sagips/record/results.hpp"
#include "sagips/record/run_status.hpp"
#include "sagips/record/study.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::analysis::report {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

record::Results results() {
  record::Results results;
  results.workload = "proxy1d";
  results.version = "0.1.0";
  results.finish_reason = "all epochs done";
  results.method = "gan";
  results.epochs = 3;
  results.events = 1000;
  results.errors_from = "covariance of the moments";
  record::ParameterResult a;
  a.name = "a_<b>";
  a.truth = 2;
  a.recovered = 2.5;
  a.error = 0.25;
  a.residual_end = -0.25;
  a.floor = 0.1;
  record::ParameterResult b;
  b.name = "b";
  b.unit = "GeV";
  b.recovered = 91.1876;
  results.parameters = {a, b};
  results.goodness = {{"chi2 of the moments", 30, 10, 0.00085}};
  results.correlations = {{"errors: covariance", {"a_<b>", "b"}, {1, -0.875, -0.875, 1}}};
  return results;
}

std::string metrics(int epochs) {
  std::string lines;
  for (int i = 0; i <= epochs; ++i) {
    if (i > 0) lines += record::event_to_json(record::EpochDone{i, 2.0 * i, 100, {}}) + "\n";
    lines += record::event_to_json(record::Evaluated{
                 i, 2.0 * i, {{"a_<b>", "", 2.0, false, 2.4 + 0.01 * i, 0.1, -0.2}}, {}, {}}) +
             "\n";
  }
  return lines;
}

/// A run folder with so much of a run.
void write_run(const std::string& folder, bool with_results) {
  std::filesystem::create_directories(folder);
  core::write_file(folder + "/config.yaml", "workload: proxy1d\ntrain:\n  epochs: 3\n");
  core::write_file(folder + "/metrics.jsonl", metrics(3));
  if (with_results) record::write_results_json(folder + "/results.json", results());
}

std::size_t count(const std::string& text, const std::string& word) {
  std::size_t found = 0;
  for (auto at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) ++found;
  return found;
}

#define EXPECT_HAS(text, word) EXPECT_NE((text).find(word), std::string::npos) << word
#define EXPECT_LACKS(text, word) EXPECT_EQ((text).find(word), std::string::npos) << word

TEST(Html, EscapesWhateverARunMayBeCalled) {
  EXPECT_EQ(escape("a<b> & \"c\""), "a&lt;b&gt; &amp; &quot;c&quot;");
  EXPECT_EQ(escape("µ \xff\xc3"), "µ ??");
}

TEST(Html, LeavesOutColumnsThatNobodyFills) {
  const std::string table =
      html(Table{.caption = "c", .header = {"x", "full", "empty"}, .rows = {{"1", "-2", ""}}});
  EXPECT_HAS(table, ">full<");
  EXPECT_HAS(table, "−2");
  EXPECT_LACKS(table, ">empty<");
}

std::string drawn() {
  std::string problem;
  Panel panel{.title = "rgb(0, 114, 178)"};
  Series many{.style = Series::Style::points, .colour = Colour::blue};
  for (int i = 0; i < 1000; ++i) {
    many.x.push_back(std::cos(i));
    many.y.push_back(std::sin(i));
  }
  panel.series = {many, {.label = "few", .x = {0, 1}, .y = {0, 1}, .colour = Colour::black}};
  const auto svg = figure_svg({.panels = {panel}, .width = 400, .height = 300}, problem);
  EXPECT_TRUE(svg) << problem;
  return svg.value_or("");
}

TEST(InlineSvg, TakesThePagesColoursAndKeepsTexts) {
  const std::string svg = inline_svg(drawn(), "f1-", "what it \"shows\"");
  EXPECT_HAS(svg, "viewBox=\"0 0 400 300\"");
  EXPECT_HAS(svg, "aria-label=\"what it &quot;shows&quot;\"");
  EXPECT_HAS(svg, "var(--blue)");
  EXPECT_HAS(svg, "var(--figure-text)");
  EXPECT_HAS(svg, ">rgb(0, 114, 178)<") << "a text is no colour";
  EXPECT_LACKS(svg, "\"#ffffff\"") << "the page is the background";
  EXPECT_EQ(count(svg, " id="), count(svg, " id=\"f1-") + count(svg, " id='f1-"));
}

TEST(InlineSvg, KeepsAThousandPointsSmall) {
  const std::string svg = drawn();
  EXPECT_EQ(count(svg, "h0\"/>"), 1000u);
  EXPECT_LT(svg.size(), 50'000u);
}

TEST(InlineSvg, RefusesWhatCouldRunAndWhatIsNoPicture) {
  const std::string begin = "<svg viewBox=\"0 0 1 1\">", end = "</svg>";
  EXPECT_NE(inline_svg(begin + "<path/>" + end, "f", ""), "");
  for (const std::string inside :
       {"<script>alert(1)</script>", "<a href='x'>x</a>", "<path onClick='x'/>",
        "<image href='http://x/y.png'/>", "<use href=\"https://x#y\"/>"})
    EXPECT_EQ(inline_svg(begin + inside + end, "f", ""), "") << inside;
  EXPECT_EQ(inline_svg("no picture", "f", ""), "");
  EXPECT_EQ(inline_svg("<svg viewBox=\"0 0\">" + end, "f", ""), "");
}

TEST(Report, SaysWhatWasFoundAndWhetherItFits) {
  const TemporaryFolder folder;
  const std::string run = folder.file("look");
  write_run(run, true);
  const std::string page = report_page({run});
  EXPECT_HAS(page, "a_&lt;b&gt;");
  EXPECT_LACKS(page, "a_<b>");
  EXPECT_HAS(page, "2.50 ± 0.25");
  EXPECT_HAS(page, ">2.00<") << "the pull";
  EXPECT_HAS(page, "91.188") << "without an error five digits";
  EXPECT_HAS(page, "<p class=\"answer\">no</p>") << "p = 0.00085";
  EXPECT_HAS(page, "class=\"minus\" style=\"--c:0.88\">−0.88<");
  EXPECT_HAS(page, "id=\"figure-residuals_over_time\"") << "drawn from the metrics";
  EXPECT_HAS(page, "environment.json is not in the run folder");
  EXPECT_LACKS(page, "<script");
}

TEST(Report, OfAKilledRunSaysSo) {
  const TemporaryFolder folder;
  const std::string run = folder.file("killed");
  write_run(run, false);
  std::string page = report_page({run});
  EXPECT_HAS(page, "unfinished");
  EXPECT_HAS(page, "after 3 epochs");
  EXPECT_HAS(page, "the run has not come to its end");
  EXPECT_HAS(page, "id=\"figure-residuals_over_time\"");
  record::Results failed = results();
  failed.complete = false;
  failed.finish_reason = "failed: epoch 4: the gradient is not finite";
  record::write_results_json(run + "/results.json", failed);
  page = report_page({run});
  EXPECT_HAS(page, "<p class=\"answer\">failed</p>");
  EXPECT_HAS(page, "the gradient is not finite");
}

TEST(Report, OfDamagedFilesSaysWhichAndShowsTheRest) {
  const TemporaryFolder folder;
  const std::string run = folder.file("damaged");
  write_run(run, true);
  core::write_file(run + "/generator_samples.npy", "no array");
  core::write_file(run + "/environment.json", "[]");
  core::write_file(run + "/config.yaml", "a: [");
  core::write_file(run + "/exchange.csv", "rank,time_s\n0,1\n");
  std::filesystem::create_directory(run + "/figures");
  core::write_file(run + "/figures/densities.svg", "<svg onload=\"x\"></svg>");
  const std::string page = report_page({run});
  EXPECT_HAS(page, "generator_samples.npy");
  EXPECT_HAS(page, "environment.json: holds no facts");
  EXPECT_HAS(page, "exchange.csv lacks a column");
  EXPECT_HAS(page, "the file is no picture of gnuplot");
  EXPECT_HAS(page, "2.50 ± 0.25");
}

TEST(Report, RefusesAFolderThatIsNoRun) {
  const TemporaryFolder folder;
  EXPECT_HAS(message_of<core::ConfigError>([&] { report_page({folder.path()}); }),
             "is no run folder");
  EXPECT_HAS(message_of<core::ConfigError>([&] { report_page({folder.file("absent")}); }),
             "is not there");
}

TEST(Report, ComparesRunsAndTheirSettings) {
  const TemporaryFolder folder;
  const std::string one = folder.file("one"), two = folder.file("two"),
                    figures = folder.file("figures");
  write_run(one, true);
  write_run(two, true);
  core::write_file(two + "/config.yaml", "workload: proxy1d\ntrain:\n  epochs: 30\n");
  const std::string page = report_page({one, two}, figures);
  EXPECT_HAS(page, "2 runs compared");
  EXPECT_HAS(page, "Settings that differ");
  EXPECT_HAS(page, ">train.epochs<");
  EXPECT_HAS(page, "id=\"figure-runs_over_time\"");
  for (const std::string file : {"runs_over_time.svg", "runs_over_time.pdf", "runs_over_time.csv",
                                 "run1-residuals_over_time.pdf", "run2-correlations_1.csv"})
    EXPECT_TRUE(std::filesystem::exists(figures + "/" + file)) << file;
}

/// The page of a network whose loss over the rows kept aside was this after each epoch.
std::string page_of_losses(const std::vector<double>& losses) {
  const TemporaryFolder folder;
  const std::string run = folder.file("learned");
  std::filesystem::create_directories(run);
  core::write_file(run + "/config.yaml", "workload: learning\n");
  std::string lines;
  for (std::size_t i = 0; i < losses.size(); ++i)
    lines += record::event_to_json(record::Evaluated{static_cast<std::int64_t>(i),
                                                     1.0 * static_cast<double>(i),
                                                     {},
                                                     {{"loss", losses[i]}}}) +
             "\n";
  core::write_file(run + "/metrics.jsonl", lines);
  record::Results results;
  results.workload = "learning";
  results.method = record::learning_method;
  results.numbers = {{"loss_end", losses.back()}};
  record::write_results_json(run + "/results.json", results);
  return report_page({run});
}

std::vector<double> falling(int epochs, double share, double noise = 0) {
  std::vector<double> losses{3};
  for (int i = 0; i < epochs; ++i)
    losses.push_back(std::pow(1 - share, i) * (1 + noise * std::sin(37.0 * i)));
  return losses;
}

TEST(Report, OfALossThatStillFallsSaysThatItIsNotAtItsBest) {
  const std::string no = "<p class=\"answer\">no</p>", yes = "<p class=\"answer\">yes</p>";
  for (const int epochs : {5, 10, 100}) {
    const std::string page = page_of_losses(falling(epochs, 0.03));
    EXPECT_HAS(page, no) << epochs;
    EXPECT_HAS(page, core::text("% in ", epochs > 10 ? "a tenth of the epochs" : "one epoch",
                                " more: raise train.epochs"));
  }
  EXPECT_HAS(page_of_losses(falling(60, 0.03, 0.01)), no) << "through noise";
  EXPECT_HAS(page_of_losses(falling(60, 0)), yes);
  EXPECT_HAS(page_of_losses(falling(60, 0.0001, 0.001)), yes) << "0.06 % more";
  EXPECT_HAS(page_of_losses({3, 1, 0.7, 0.8, 0.9, 1}), "<p class=\"answer\">past it</p>");
  EXPECT_HAS(page_of_losses({3, 1, 0.8, 1.04, 0.7, 0.79, 0.7}), "not settled");
  for (const int epochs : {0, 1, 3})
    EXPECT_HAS(page_of_losses(falling(epochs, 0.03)), "Too few evaluations") << epochs;
  const double none = std::nan("");
  EXPECT_HAS(page_of_losses({none, none, none}), "Too few evaluations");
}

TEST(Report, SaysFirstThatThereIsMoreThanOneAnswer) {
  const TemporaryFolder folder;
  const std::string run = folder.file("solved");
  write_run(run, false);
  std::filesystem::remove(run + "/metrics.jsonl");
  record::Results found = results();
  record::write_results_json(run + "/results.json", found);
  EXPECT_LACKS(report_page({run}), "Is there one answer?");
  found.others = {{{1, 2}, {0.1, 0.1}, 31}};
  record::write_results_json(run + "/results.json", found);
  const std::string page = report_page({run});
  EXPECT_HAS(page, "no, 2 solutions");
  EXPECT_LT(page.find("Is there one answer?"), page.find("How close is it?"));
}

TEST(Report, OfASearchBeginsWithWhatItHasFound) {
  const TemporaryFolder folder;
  const std::string run = folder.file("search");
  std::filesystem::create_directories(run);
  core::write_file(run + "/config.yaml", "workload: learning\n");
  core::write_file(run + "/trials.csv", "trial,state,loss\n1,done,0.5\n");
  core::write_file(run + "/verdicts.csv",
                   "What is best?,loss 0.5,good,\"Trial 1: batch=32, rate=<0.1\"\n"
                   "Which setting matters most?,20 trials do not settle it,fair,why\n");
  const std::string page = report_page({run});
  EXPECT_HAS(page, "<p class=\"answer\">loss 0.5</p>");
  EXPECT_HAS(page, "batch=32, rate=&lt;0.1");
  EXPECT_HAS(page, "<p class=\"answer\">20 trials do not settle it</p>");
  EXPECT_LT(page.find("What is best?"), page.find("How did it end?"));
  EXPECT_LACKS(page, ">verdicts<");
}

TEST(Report, OfFoldsHasTheMeanWithItsSpread) {
  const TemporaryFolder folder;
  const std::string run = folder.file("folds");
  std::filesystem::create_directories(run);
  core::write_file(run + "/config.yaml", "workload: learning\n");
  record::Results found;
  found.method = record::learning_method;
  found.numbers = {{"members", 5}, {"accuracy_end", 0.985}, {"accuracy_deviation", 0.0061}};
  record::write_results_json(run + "/results.json", found);
  record::Study study;
  study.kind = "ensemble";
  study.variants = {{"all", {}}};
  study.members = {{"fold_1", "all", "folds", "members/fold_1", record::StudyMember::State::done}};
  record::write_study(run + "/study.json", study);
  found.numbers = {{"accuracy_end", 0.98765}, {"recall/a_end", 0.9}};
  std::filesystem::create_directories(run + "/members/fold_1");
  record::write_results_json(run + "/members/fold_1/results.json", found);
  const std::string page = report_page({run});
  EXPECT_HAS(page, "98.50 ± 0.61 % right");
  EXPECT_HAS(page, ">0.9877<") << "of each member";
  EXPECT_LACKS(page, "recall/a");
}

TEST(Report, OfAnEnsembleOfAHundredStaysSmall) {
  const TemporaryFolder folder;
  const std::string ensemble = folder.file("ensemble");
  write_run(ensemble, true);
  record::Study study;
  study.kind = "ensemble";
  study.workload = "proxy1d";
  study.variants = {{"all", {}}};
  for (int i = 0; i < 100; ++i) {
    const std::string name = core::text("seed_", i);
    study.members.push_back(
        {name, "all", "seeds", "members/" + name,
         i == 99 ? record::StudyMember::State::failed : record::StudyMember::State::done,
         i == 99 ? "the gradient is not finite" : ""});
    if (i < 99) write_run(ensemble + "/members/" + name, true);
  }
  record::write_study(ensemble + "/study.json", study);
  core::write_file(ensemble + "/ensemble.csv", "parameter,value\na,2.123456789\n");
  std::filesystem::create_directory(ensemble + "/figures");
  for (int i = 0; i < 8; ++i)
    core::write_file(core::text(ensemble, "/figures/figure_", i, ".svg"), drawn());
  const auto start = std::chrono::steady_clock::now();
  const std::string page = report_page({ensemble});
  RecordProperty(
      "seconds",
      core::text(std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count()));
  EXPECT_LT(page.size(), 10'000'000u);
  EXPECT_EQ(count(page, "<figure id"), 8u);
  EXPECT_EQ(count(page, ">seed_"), 101u) << "each in the table, the failed one above it, too";
  EXPECT_HAS(page, "99 of 100 trainings done, 1 failed");
  EXPECT_HAS(page, "seed_99 failed: the gradient is not finite");
  EXPECT_HAS(page, "2.123<");
}

TEST(Report, OfClosureExperimentsShowsTheirTable) {
  const TemporaryFolder folder;
  const std::string closure = folder.file("closure");
  std::filesystem::create_directories(closure);
  core::write_file(closure + "/config.yaml", "workload: proxy1d\n");
  core::write_file(closure + "/closure.csv", "parameter,pull_width\na_u,1.02345678\n");
  record::write_run_record(closure, {"closure", record::RunStatus::unfinished, 0});
  EXPECT_HAS(report_page({closure}), "<p class=\"answer\">unfinished</p>");
  record::write_run_record(closure, {"closure", record::RunStatus::finished, 0});
  const std::string page = report_page({closure});
  EXPECT_HAS(page, "<p class=\"answer\">finished</p>");
  EXPECT_HAS(page, "pull width");
  EXPECT_HAS(page, "1.023<");
  EXPECT_LACKS(page, "There are no results");
}

}  // namespace
}  // namespace sagips::analysis::report
