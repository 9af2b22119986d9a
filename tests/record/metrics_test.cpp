#include "sagips/record/metrics.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/record/event_json.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::record {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

EpochDone epoch_at(std::int64_t epoch, double time_s) {
  return {epoch, time_s, 1e6, {{"generator", 1.25}, {"discriminator", 0.5}}};
}

std::vector<std::int64_t> epochs_in(const std::string& path) {
  std::vector<std::int64_t> epochs;
  for (const Event& event : read_metrics(path))
    if (const auto* epoch = std::get_if<EpochDone>(&event)) epochs.push_back(epoch->epoch);
  return epochs;
}

TEST(Metrics, WritesOneLineForEachEvent) {
  const TemporaryFolder folder;
  {
    MetricsWriter metrics(folder.file("metrics.jsonl"));
    metrics(RunStarted{"proxy1d", "runs/x", 100, 0});
    metrics(epoch_at(1, 0.1));
    metrics(RunFinished{1, 0.1, StopReason(StopReason::Kind::all_epochs), true});
  }
  EXPECT_EQ(
      core::read_file(folder.file("metrics.jsonl")),
      R"({"event":"run_started","workload":"proxy1d","folder":"runs/x","epochs":100,"minutes":0.0}
{"event":"epoch_done","epoch":1,"time_s":0.1,"events_per_second":1000000.0,"losses":{"generator":1.25,"discriminator":0.5}}
{"event":"run_finished","epochs":1,"time_s":0.1,"reason":"all epochs done","complete":true}
)");
}

TEST(Metrics, ReadsBackEveryKindOfEvent) {
  const TemporaryFolder folder;
  Evaluated evaluated{7,
                      1.5,
                      {{"mass", "GeV", std::nullopt, true, 91.2, 0.1, std::nullopt},
                       {"a_u", "", -0.5, false, -0.4, 0.01, 0.2}},
                      {{"ks_1", 0.25}}};
  {
    MetricsWriter metrics(folder.file("m"));
    metrics(RunStarted{"resonance", "runs/y", 0, 2.5});
    metrics(evaluated);
    metrics(Warning{8, "a \"quoted\" word"});
    metrics(RunFinished{9, 2, StopReason(StopReason::Kind::interrupted), false});
    metrics(TimeSpent{9, {.total_s = 2, .idle_s = 0.5, .evaluation_s = 0.25}});
    MachineUse used{.epoch = 9, .cores = 1.5, .memory_mb = 300};
    used.gpu_percent = 50;
    metrics(used);
  }
  const auto events = read_metrics(folder.file("m"));
  ASSERT_EQ(events.size(), 6u);
  const auto& start = std::get<RunStarted>(events[0]);
  EXPECT_EQ(start.workload, "resonance");
  EXPECT_EQ(start.folder, "runs/y");
  EXPECT_EQ(start.minutes, 2.5);
  const auto& read = std::get<Evaluated>(events[1]);
  EXPECT_EQ(read.epoch, 7);
  EXPECT_EQ(read.time_s, 1.5);
  ASSERT_EQ(read.parameters.size(), 2u);
  EXPECT_EQ(read.parameters[0].name, "mass");
  EXPECT_EQ(read.parameters[0].unit, "GeV");
  EXPECT_TRUE(read.parameters[0].fixed);
  EXPECT_FALSE(read.parameters[0].truth);
  EXPECT_FALSE(read.parameters[0].residual);
  EXPECT_EQ(read.parameters[1].truth, -0.5);
  EXPECT_EQ(read.parameters[1].value, -0.4);
  EXPECT_EQ(read.parameters[1].spread, 0.01);
  EXPECT_EQ(read.parameters[1].residual, 0.2);
  ASSERT_EQ(read.metrics.size(), 1u);
  EXPECT_EQ(read.metrics[0].name, "ks_1");
  EXPECT_EQ(read.metrics[0].value, 0.25);
  EXPECT_EQ(std::get<Warning>(events[2]).message, "a \"quoted\" word");
  EXPECT_EQ(std::get<RunFinished>(events[3]).reason.text, "interrupted");
  EXPECT_FALSE(std::get<RunFinished>(events[3]).complete);
  const auto& spent = std::get<TimeSpent>(events[4]);
  EXPECT_EQ(spent.epoch, 9);
  EXPECT_EQ(spent.split.total_s, 2);
  EXPECT_EQ(spent.split.idle_s, 0.5);
  EXPECT_EQ(spent.split.evaluation_s, 0.25);
  const auto& used = std::get<MachineUse>(events[5]);
  EXPECT_EQ(used.memory_mb, 300);
  EXPECT_EQ(used.gpu_percent, 50);
  EXPECT_FALSE(used.gpu_memory_mb);
}

TEST(Metrics, SpeaksOfRowsAndMetricsWhereANetworkLearnsFromRows) {
  const std::string epoch = event_to_json(EpochDone{3, 1.0, 500, {{"loss", 0.25}}, {}, "rows"});
  EXPECT_NE(epoch.find(R"("rows_per_second":500.0,)"), std::string::npos) << epoch;
  EXPECT_EQ(std::get<EpochDone>(event_from_json(epoch)).events_per_second, 500);
  EXPECT_EQ(std::get<EpochDone>(event_from_json(epoch)).unit, "rows");
  Evaluated evaluated;
  evaluated.metrics = {{"accuracy", 0.75}};
  const std::string line = event_to_json(evaluated);
  EXPECT_NE(line.find(R"("metrics":{"accuracy":0.75})"), std::string::npos) << line;
  EXPECT_EQ(line.find("distances"), std::string::npos) << line;
  const std::string earlier =
      R"({"event":"evaluated","epoch":2,"time_s":1.0,"parameters":[],"distances":{"accuracy":0.75}})";
  for (const std::string& one : {line, earlier}) {
    const auto read = std::get<Evaluated>(event_from_json(one));
    ASSERT_EQ(read.metrics.size(), 1U);
    EXPECT_EQ(read.metrics[0].name, "accuracy");
    EXPECT_EQ(read.metrics[0].value, 0.75);
  }
  const auto earlier_epoch =
      std::get<EpochDone>(event_from_json(R"({"event":"epoch_done","epoch":1,"time_s":0.1,)"
                                          R"("events_per_second":7.0,"losses":{"loss":1.0}})"));
  EXPECT_EQ(earlier_epoch.events_per_second, 7);
  EXPECT_EQ(earlier_epoch.unit, "rows");
}

TEST(Metrics, WritesNumbersThatAreNotFiniteAsNull) {
  const Event event =
      EpochDone{3, 1.0, std::numeric_limits<double>::infinity(), {{"generator", not_a_number}}};
  const std::string line = event_to_json(event);
  EXPECT_NE(line.find(R"("events_per_second":null,"losses":{"generator":null})"), std::string::npos)
      << line;
  EXPECT_TRUE(std::isnan(std::get<EpochDone>(event_from_json(line)).losses[0].value));
}

TEST(Metrics, KeepsAResidualThatIsNotANumberApartFromNone) {
  Evaluated evaluated;
  evaluated.parameters = {{"a", "", 1.0, false, not_a_number, 0, not_a_number}};
  const Event copy = event_from_json(event_to_json(evaluated));
  const auto& residual = std::get<Evaluated>(copy).parameters[0].residual;
  ASSERT_TRUE(residual);
  EXPECT_TRUE(std::isnan(*residual));
}

TEST(Metrics, ThinsEpochsButKeepsTheFirstAndTheLast) {
  const TemporaryFolder folder;
  MetricsWriter metrics(folder.file("m"), 0.25);
  for (int epoch = 1; epoch <= 11; ++epoch) metrics(epoch_at(90'000 + epoch, 0.125 * (epoch - 1)));
  metrics(epoch_at(90'012, 1.3));
  metrics(RunFinished{90'012, 1.3, StopReason(StopReason::Kind::all_epochs), true});
  // 0.125 s apart: every other one; 12 comes 0.05 s after 11, but is the last.
  EXPECT_EQ(epochs_in(folder.file("m")),
            (std::vector<std::int64_t>{90'001, 90'003, 90'005, 90'007, 90'009, 90'011, 90'012}));
}

TEST(Metrics, HoldEveryEpochOfACurveHoweverFastTheyAre) {
  const TemporaryFolder folder;
  MetricsWriter metrics(folder.file("m"), 1000);
  for (int epoch = 1; epoch <= 10'000; ++epoch) metrics(epoch_at(epoch, 1e-3 * epoch));
  metrics(RunFinished{10'000, 10, StopReason(StopReason::Kind::all_epochs), true});
  const std::vector<std::int64_t> epochs = epochs_in(folder.file("m"));
  ASSERT_GT(epochs.size(), 2000u);
  for (std::size_t i = 1; i < epochs.size(); ++i)
    EXPECT_LE(epochs[i] - epochs[i - 1], std::max<std::int64_t>(1, epochs[i - 1] / 1000));
  EXPECT_EQ(epochs[1999], 2000);
  EXPECT_EQ(epochs.back(), 10'000);
  EXPECT_LT(epochs.size(), 3850u) << "2000, and 1000 (1/2 + 1/3 + ... + 1/9)";
}

TEST(Metrics, KeepsTheLastEpochOfARunThatWasBrokenOff) {
  const TemporaryFolder folder;
  {
    MetricsWriter metrics(folder.file("m"), 100);
    for (int epoch = 1; epoch <= 5; ++epoch) metrics(epoch_at(9000 + epoch, epoch));
  }
  EXPECT_EQ(epochs_in(folder.file("m")), (std::vector<std::int64_t>{9001, 9005}));
}

TEST(Metrics, NeverWritesAnEpochTwice) {
  const TemporaryFolder folder;
  {
    MetricsWriter metrics(folder.file("m"), 0);
    for (int epoch = 1; epoch <= 3; ++epoch) metrics(epoch_at(epoch, epoch));
    metrics(RunFinished{});
  }
  EXPECT_EQ(epochs_in(folder.file("m")), (std::vector<std::int64_t>{1, 2, 3}));
}

TEST(Metrics, IsReadableWhileTheRunIsOverButTheWriterLives) {
  const TemporaryFolder folder;
  MetricsWriter metrics(folder.file("m"));
  metrics(RunFinished{5, 1, StopReason(StopReason::Kind::time_limit), true});
  EXPECT_EQ(read_metrics(folder.file("m")).size(), 1u);
}

TEST(Metrics, LeavesOutALastLineThatWasCut) {
  const TemporaryFolder folder;
  const std::string whole = event_to_json(Warning{1, "all"}) + "\n";
  const std::string next = event_to_json(Warning{2, "cut"});
  for (std::size_t length = 0; length < next.size(); ++length) {
    const auto path = folder.make("m", whole + next.substr(0, length));
    EXPECT_EQ(read_metrics(path).size(), 1u) << length;
  }
  EXPECT_EQ(read_metrics(folder.make("m", whole + next)).size(), 2u);
  EXPECT_EQ(read_metrics(folder.make("m", "")).size(), 0u);
}

TEST(Metrics, NamesTheRowThatIsNoEvent) {
  const TemporaryFolder folder;
  const std::string good = event_to_json(Warning{1, "x"}) + "\n";
  for (const std::string bad : {"nonsense", "", "{}", "[1]", R"({"event":"party"})",
                                R"({"event":"warning","epoch":"one","message":"x"})"}) {
    const auto path = folder.make("m", good + bad + "\n" + good);
    const auto message = message_of<core::DataError>([&] { read_metrics(path); });
    EXPECT_NE(message.find("m:2: this line is no event"), std::string::npos) << message;
  }
  EXPECT_THROW(read_metrics(folder.file("missing")), core::DataError);
}

TEST(Metrics, ReplacesBytesThatAreNoText) {
  const auto line = event_to_json(Warning{1, "a\xff z"});
  EXPECT_EQ(std::get<Warning>(event_from_json(line)).message, "a\xEF\xBF\xBD z");
}

TEST(Metrics, RefusesAPlaceWhereItCannotWrite) {
  const TemporaryFolder folder;
  const auto message =
      message_of<core::StorageError>([&] { MetricsWriter(folder.file("missing/m")); });
  EXPECT_NE(message.find("No such file or directory"), std::string::npos) << message;
}

TEST(Metrics, ReportsAFullDiskOnceAndThenKeepsQuiet) {
  MetricsWriter metrics("/dev/full");
  const std::string long_message(100'000, 'x');
  const auto message = message_of<core::StorageError>([&] { metrics(Warning{1, long_message}); });
  EXPECT_NE(message.find("No space left on device"), std::string::npos) << message;
  EXPECT_NO_THROW(metrics(Warning{2, long_message}));
  EXPECT_NO_THROW(metrics(epoch_at(1, 1)));
  EXPECT_NO_THROW(metrics(RunFinished{}));
}

TEST(Metrics, ReportsAFullDiskAtTheEndOfAShortRun) {
  MetricsWriter metrics("/dev/full");
  EXPECT_NO_THROW(metrics(epoch_at(1, 0)));
  EXPECT_THROW(metrics(RunFinished{}), core::StorageError);
}

TEST(Metrics, GoOnWhereAStateWasKept) {
  const TemporaryFolder folder;
  const std::string path = folder.file("m");
  std::int64_t kept = 0;
  {
    MetricsWriter metrics(path, 0);
    metrics(epoch_at(1, 1));
    metrics(epoch_at(2, 2));
    kept = metrics.bytes();
    metrics(epoch_at(3, 3));
    metrics(RunFinished{3, 3, StopReason(StopReason::Kind::interrupted), false});
  }
  {
    MetricsWriter metrics(path, 0, kept);
    EXPECT_EQ(metrics.bytes(), kept);
    metrics(epoch_at(3, 3.5));
  }
  EXPECT_EQ(epochs_in(path), (std::vector<std::int64_t>{1, 2, 3}));
  EXPECT_EQ(read_metrics(path).size(), 3U) << "the end that was none is cut off";
}

TEST(Metrics, GoOnBehindTheLastWholeLineOfAFileThatHasLostItsEnd) {
  const TemporaryFolder folder;
  const std::string path = folder.file("m");
  {
    MetricsWriter metrics(path, 0);
    for (int epoch = 1; epoch < 4; ++epoch) metrics(epoch_at(epoch, epoch));
  }
  const auto size = std::filesystem::file_size(path);
  std::filesystem::resize_file(path, size - 5);
  MetricsWriter(path, 0, static_cast<std::int64_t>(size))(epoch_at(7, 7));
  EXPECT_EQ(epochs_in(path), (std::vector<std::int64_t>{1, 2, 7}));
}

}  // namespace
}  // namespace sagips::record
