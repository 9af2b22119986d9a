#include "sagips/record/snapshots.hpp"

#include <gtest/gtest.h>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::record {
namespace {

using testing::TemporaryFolder;

Snapshot at(std::int64_t epoch) {
  Snapshot snapshot;
  snapshot.epoch = epoch;
  snapshot.time_s = 0.1 * static_cast<double>(epoch);
  snapshot.parameters = {"mass", "width"};
  snapshot.predictions = {90, 2, 91, 3, 92, static_cast<float>(epoch)};
  snapshot.weights = {1, 2, 3, 4};
  snapshot.ranks = 2;
  return snapshot;
}

TEST(Snapshots, ComeBackByEpoch) {
  const TemporaryFolder folder;
  for (const std::int64_t epoch : {10000, 1, 5000}) write_snapshot(folder.path(), at(epoch));
  const auto back = read_snapshots(folder.path());
  ASSERT_EQ(back.size(), 3U);
  EXPECT_EQ(back[0].epoch, 1);
  EXPECT_EQ(back[2].epoch, 10000);
  EXPECT_EQ(back[1].time_s, at(5000).time_s);
  EXPECT_EQ(back[1].parameters, at(5000).parameters);
  EXPECT_EQ(back[1].predictions, at(5000).predictions);
  EXPECT_EQ(back[1].rows(), 3);
  EXPECT_EQ(back[1].ranks, 2);
}

TEST(Snapshots, AreNoneWithoutTheirFolder) {
  const TemporaryFolder folder;
  EXPECT_TRUE(read_snapshots(folder.file("absent")).empty());
}

TEST(Snapshots, RefuseAForeignFile) {
  const TemporaryFolder folder;
  core::write_file(folder.file("epoch_000000001.safetensors"), "not a snapshot");
  EXPECT_THROW(read_snapshots(folder.path()), core::DataError);
}

}  // namespace
}  // namespace sagips::record
