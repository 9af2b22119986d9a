#include "sagips/record/timeline.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <thread>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::record {
namespace {

using core::TraceRow;
using nlohmann::json;
using std::chrono::microseconds;
using testing::TemporaryFolder;

json of_kind(const json& events, const std::string& kind) {
  json found = json::array();
  for (const json& event : events)
    if (event["ph"] == kind) found.push_back(event);
  return found;
}

/// A piece that is written in a folder of its own.
struct Piece {
  explicit Piece(int rank = 0, TraceClock clock = {}, std::size_t most_spans = 1000)
      : path(folder.file("rank.json")), timeline(rank, clock, most_spans) {
    timeline.begin(path, "goes on with \"12\"");
  }
  /// events: at the end
  json events() {
    timeline.end();
    return json::parse(core::read_file(path));
  }
  TemporaryFolder folder;
  std::string path;
  Timeline timeline;
};

core::TracedSpan span_at(core::Tracer::Clock::time_point begin, microseconds took,
                         const char* name = "step", TraceRow row = TraceRow::step) {
  return {.name = name, .row = row, .begin = begin, .end = begin + took};
}

TEST(Timeline, TellsWhatTookHowLong) {
  Piece piece(3);
  const auto start = core::Tracer::Clock::now();
  piece.timeline.add(span_at(start, microseconds(250), "pipeline", TraceRow::compute));
  core::TracedSpan update =
      span_at(start + microseconds(300), microseconds(1), "update", TraceRow::update);
  update.step = 7;
  update.network = "the \"first\"";
  piece.timeline.add(update);
  const json spans = of_kind(piece.events(), "X");
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0]["name"], "pipeline");
  EXPECT_EQ(spans[0]["cat"], "compute");
  EXPECT_EQ(spans[0]["pid"], 4) << "Perfetto keeps 0 for itself";
  EXPECT_EQ(spans[0]["dur"].get<double>(), 250);
  EXPECT_FALSE(spans[0].contains("args"));
  EXPECT_EQ(spans[1]["args"], (json{{"step", 7}, {"network", "the \"first\""}}));
  // wall-clock microseconds are some 2e15, where doubles lie 0.25 apart
  EXPECT_NEAR(spans[1]["ts"].get<double>() - spans[0]["ts"].get<double>(), 300, 1);
}

TEST(Timeline, IsOnTheClockThatItIsGiven) {
  Piece piece(1, {.offset_ns = -12'345, .uncertainty_ns = 1500});
  piece.timeline.add(span_at(core::Tracer::Clock::time_point(std::chrono::nanoseconds(1'012'346)),
                             microseconds(2)));
  const json events = piece.events();
  EXPECT_EQ(of_kind(events, "X")[0]["ts"].get<double>(), 1000.001);
  bool is_told = false;
  for (const json& event : of_kind(events, "M"))
    is_told = is_told || (event["name"] == "clock_alignment" &&
                          event["args"]["uncertainty_us"].get<double>() == 1.5);
  EXPECT_TRUE(is_told);
}

TEST(Timeline, MarksItsStart) {
  Piece piece(3, {.offset_ns = 1'000'000'000'000});
  const json starts = of_kind(piece.events(), "i");
  ASSERT_EQ(starts.size(), 1U);
  EXPECT_EQ(starts[0]["name"], "goes on with \"12\"");
  EXPECT_EQ(starts[0]["s"], "p") << "over all rows of the rank";
  EXPECT_EQ(starts[0]["pid"], 4);
  EXPECT_GE(starts[0]["ts"].get<double>(), 1e9);
}

TEST(Timeline, GivesEachKindOfWorkOfAThreadARowWithItsName) {
  Piece piece;
  { const core::Span span(&piece.timeline, "draw", TraceRow::loading); }
  { const core::Span span(&piece.timeline, "backward"); }
  std::thread([&] { const core::Span span(&piece.timeline, "backward"); }).join();
  { const core::Span span(&piece.timeline, "backward"); }
  const json events = piece.events();
  const json spans = of_kind(events, "X");
  ASSERT_EQ(spans.size(), 4U);
  EXPECT_NE(spans[0]["tid"], spans[1]["tid"]);
  EXPECT_NE(spans[1]["tid"], spans[2]["tid"]);
  EXPECT_EQ(spans[1]["tid"], spans[3]["tid"]);
  std::vector<std::string> names;
  for (const json& event : of_kind(events, "M"))
    if (event["name"] == "thread_name") names.push_back(event["args"]["name"]);
  EXPECT_EQ(names, (std::vector<std::string>{"loading", "compute", "compute, thread 1"}));
}

TEST(Timeline, CountsWhatItLeavesOut) {
  Piece piece(0, {}, 2);
  for (int i = 0; i < 5; ++i) const core::Span span(&piece.timeline, "step");
  const json events = piece.events();
  EXPECT_EQ(of_kind(events, "X").size(), 2U);
  EXPECT_EQ(events.back()["name"], "spans_left_out");
  EXPECT_EQ(events.back()["args"]["count"], 3);
  EXPECT_EQ(piece.timeline.left_out(), 3U);
}

TEST(Timeline, IsOverWhenStopped) {
  Piece piece;
  piece.timeline.stop();
  { const core::Span span(&piece.timeline, "step"); }
  EXPECT_EQ(of_kind(piece.events(), "X").size(), 0U);
}

// As a process leaves it that is killed: every span of more than a second ago is there.
TEST(Timeline, CanBeReadAtAnyMoment) {
  Piece piece(0, {}, 10'000);
  const auto read = [&] { return json::parse(core::read_file(piece.path) + "]"); };
  EXPECT_EQ(of_kind(read(), "X").size(), 0U);
  const auto later = core::Tracer::Clock::now() + std::chrono::seconds(2);
  piece.timeline.add(span_at(later, microseconds(1)));
  EXPECT_EQ(of_kind(read(), "X").size(), 1U);
  for (int i = 0; i < 3000; ++i) piece.timeline.add(span_at(later, microseconds(1)));
  EXPECT_GE(of_kind(read(), "X").size(), 2000U) << "nor does memory grow";
}

TEST(Timeline, SaysThatItCannotBeWritten) {
  Timeline timeline(0);
  EXPECT_THROW(timeline.begin("/nowhere/rank.json", "begins"), core::StorageError);
  { const core::Span span(&timeline, "step"); }
  EXPECT_NO_THROW(timeline.end()) << "it has been told";
}

TEST(Span, EndsOnce) {
  Piece piece;
  {
    core::Span span(&piece.timeline, "step");
    span.end();
  }
  { const core::Span nobody(nullptr, "step"); }
  EXPECT_EQ(of_kind(piece.events(), "X").size(), 1U);
}

TEST(JoinTimeline, JoinsRanksAndStartsAndWhatKilledOnesLeft) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("timeline"));
  const std::string whole = R"([
{"ph":"X","name":"a","pid":0},
{"ph":"M","name":"spans_left_out","pid":0,"args":{"count":0}}
]
)";
  const std::string killed = "[\n{\"ph\":\"X\",\"name\":\"b\",\"pid\":1}";
  core::write_file(folder.file("timeline/rank_0000.json"), whole);
  core::write_file(folder.file("timeline/rank_0001.json"), killed);
  // cut within a line, behind a bracket that is not its last one
  core::write_file(folder.file("timeline/rank_0002.json"),
                   killed + ",\n{\"ph\":\"X\",\"name\":\"c\",\"args\":{\"step\":1}");
  core::write_file(folder.file("timeline/rank_0003.json"), "[\n{\"ph\":\"X\",");
  core::write_file(folder.file("timeline/rank_0004.json"), "");
  join_timeline(folder.path());
  const json events = json::parse(core::read_file(folder.file("trace.json")));
  std::string names;
  for (const json& event : of_kind(events, "X")) names += event["name"].get<std::string>();
  EXPECT_EQ(names, "abb");
  EXPECT_EQ(events.size(), 4U);
}

TEST(JoinTimeline, DoesNothingWhereThereIsNoTrace) {
  const TemporaryFolder folder;
  join_timeline(folder.path());
  EXPECT_FALSE(std::filesystem::exists(folder.file("trace.json")));
}

}  // namespace
}  // namespace sagips::record
