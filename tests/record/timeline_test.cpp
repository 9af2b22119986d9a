#include "sagips/record/timeline.hpp"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <thread>

#include "sagips/core/file.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::record {
namespace {

using nlohmann::json;
using testing::TemporaryFolder;

json written(const Timeline& timeline) {
  const TemporaryFolder folder;
  timeline.write(folder.file("rank_0000.json"));
  return json::parse(core::read_file(folder.file("rank_0000.json")));
}

std::vector<json> spans_of(const json& whole) {
  std::vector<json> spans;
  for (const json& event : whole["traceEvents"])
    if (event["ph"] == "X") spans.push_back(event);
  return spans;
}

TEST(Timeline, TellsWhatTookHowLong) {
  Timeline timeline(3);
  const auto start = core::Tracer::Clock::now();
  timeline.add("pipeline", start, start + std::chrono::microseconds(250));
  timeline.add("update", start + std::chrono::microseconds(300),
               start + std::chrono::microseconds(301));
  const auto spans = spans_of(written(timeline));
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_EQ(spans[0]["name"], "pipeline");
  EXPECT_EQ(spans[0]["pid"], 3);
  EXPECT_EQ(spans[0]["dur"].get<double>(), 250);
  // wall-clock microseconds are some 2e15, where doubles lie 0.25 apart
  EXPECT_NEAR(spans[1]["ts"].get<double>() - spans[0]["ts"].get<double>(), 300, 1);
}

TEST(Timeline, GivesEachThreadARowWithItsName) {
  Timeline timeline(0);
  { const core::Span span(&timeline, "draw"); }
  std::thread([&] { const core::Span span(&timeline, "backward"); }).join();
  const json whole = written(timeline);
  const auto spans = spans_of(whole);
  ASSERT_EQ(spans.size(), 2U);
  EXPECT_NE(spans[0]["tid"], spans[1]["tid"]);
  std::size_t names = 0;
  for (const json& event : whole["traceEvents"]) names += event["name"] == "thread_name";
  EXPECT_EQ(names, 2U);
}

TEST(Timeline, CountsWhatItLeavesOut) {
  Timeline timeline(0, 2);
  for (int i = 0; i < 5; ++i) const core::Span span(&timeline, "epoch");
  EXPECT_EQ(spans_of(written(timeline)).size(), 2U);
  EXPECT_EQ(written(timeline)["otherData"]["spans_left_out"], 3);
}

TEST(Timeline, IsOverWhenStopped) {
  Timeline timeline(0);
  timeline.stop();
  { const core::Span span(&timeline, "epoch"); }
  EXPECT_EQ(spans_of(written(timeline)).size(), 0U);
}

TEST(Span, EndsOnce) {
  Timeline timeline(0);
  {
    core::Span span(&timeline, "epoch");
    span.end();
  }
  { const core::Span nobody(nullptr, "epoch"); }
  EXPECT_EQ(spans_of(written(timeline)).size(), 1U);
}

}  // namespace
}  // namespace sagips::record
