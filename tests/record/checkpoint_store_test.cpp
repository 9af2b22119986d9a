// Checkpoints on disk: complete ones, half ones, damaged ones.
#include "sagips/record/checkpoint_store.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"
#include "tests/record/full_disk.hpp"

namespace sagips::record {
namespace {

using testing::FullDisk;
using testing::message_of;
using testing::TemporaryFolder;
using Names = std::vector<std::string>;

TensorFile content(float value) {
  TensorFile file;
  const std::vector<float> values(1000, value);
  file.tensors["weights"] = StoredTensor::of(values, {10, 100});
  return file;
}

/// A run's checkpoints in a folder of their own.
struct Checkpoints {
  explicit Checkpoints(const std::string& run = "0123", std::int64_t keep = 2)
      : store(folder.file("checkpoints"), run, keep) {}

  void write(std::int64_t epoch, int ranks = 1) const {
    CheckpointManifest manifest{"", epoch, 0.1 * static_cast<double>(epoch)};
    const std::string key = std::to_string(epoch);
    for (int rank = 0; rank < ranks; ++rank)
      manifest.parts.push_back(store.write_part(key, rank, content(value(epoch, rank))));
    store.complete(key, manifest);
  }
  static float value(std::int64_t epoch, int rank) {
    return static_cast<float>(epoch) + 0.25F * static_cast<float>(rank);
  }
  std::string file(const std::string& name) const { return folder.file("checkpoints/" + name); }
  std::string reason(const std::string& name) const {
    return message_of<core::DataError>([&] { store.part(name, store.manifest(name), 0); });
  }

  TemporaryFolder folder;
  CheckpointStore store;
};

TEST(CheckpointStore, GivesBackWhatEachRankWrote) {
  const Checkpoints checkpoints;
  checkpoints.write(500, 3);
  ASSERT_EQ(checkpoints.store.names(), Names{"000001_epoch_500"});
  const CheckpointManifest manifest = checkpoints.store.manifest("000001_epoch_500");
  EXPECT_EQ(manifest.epoch, 500);
  EXPECT_EQ(manifest.time_s, 50);
  ASSERT_EQ(manifest.parts.size(), 3U);
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_EQ(checkpoints.store.part("000001_epoch_500", manifest, rank).tensors,
              content(Checkpoints::value(500, rank)).tensors);
}

TEST(CheckpointStore, KeepsTheNewestOnes) {
  const Checkpoints checkpoints;
  for (const std::int64_t epoch : {5, 10, 15, 1'000'000'000}) checkpoints.write(epoch);
  EXPECT_EQ(checkpoints.store.names(), (Names{"000004_epoch_1000000000", "000003_epoch_15"}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(checkpoints.store.folder()), {}), 2)
      << "nothing else is left";
}

// A run that goes on on other ranks or with another batch may count its epochs anew.
TEST(CheckpointStore, KnowsTheNewestByItsNumberAndNotByItsEpoch) {
  const Checkpoints checkpoints;
  for (const std::int64_t epoch : {449, 11747, 449, 450, 450}) checkpoints.write(epoch, 2);
  EXPECT_EQ(checkpoints.store.names(), (Names{"000005_epoch_450", "000004_epoch_450"}));
  checkpoints.write(3, 1);
  EXPECT_EQ(checkpoints.store.names(), (Names{"000006_epoch_3", "000005_epoch_450"}));
  EXPECT_EQ(checkpoints.store.manifest("000006_epoch_3").parts.size(), 1U);
}

TEST(CheckpointStore, LeavesCopiesThatSomebodyMadeAlone) {
  const Checkpoints checkpoints;
  checkpoints.write(100);
  for (const char* copy : {"000001_epoch_100.bak", "1_epoch_100", "000009_epoch_",
                           "000009_epoch_-1", "000000_epoch_9", "000009_epoch_09"})
    std::filesystem::copy(checkpoints.file("000001_epoch_100"), checkpoints.file(copy));
  checkpoints.write(200);
  checkpoints.write(300);
  EXPECT_EQ(checkpoints.store.names(), (Names{"000003_epoch_300", "000002_epoch_200"}));
  EXPECT_TRUE(std::filesystem::exists(checkpoints.file("000001_epoch_100.bak")));
}

// They were named by epochs or updates, whose order says nothing.
TEST(CheckpointStore, SaysOfThoseOfEarlierVersionsThatItCannotReadThem) {
  const Checkpoints checkpoints;
  const std::string name = "epoch_000000100";
  std::filesystem::create_directories(checkpoints.file(name));
  core::write_file(checkpoints.file(name + "/manifest.json"),
                   R"({"format": 1, "run": "0123", "epoch": 100, "crc32c": 7})");
  EXPECT_EQ(checkpoints.store.names(), Names{name}) << "or a run would begin anew in silence";
  EXPECT_NE(checkpoints.reason(name).find("another version"), std::string::npos)
      << checkpoints.reason(name);
}

TEST(CheckpointStore, CountsOnlyWhatIsComplete) {
  const Checkpoints checkpoints;
  checkpoints.write(5);
  checkpoints.store.write_part("10", 0, content(1));
  std::filesystem::create_directories(checkpoints.file("removed_000001_epoch_1"));
  EXPECT_EQ(checkpoints.store.names(), Names{"000001_epoch_5"});
  checkpoints.store.clean();
  EXPECT_FALSE(std::filesystem::exists(checkpoints.file("writing_10")));
  EXPECT_FALSE(std::filesystem::exists(checkpoints.file("removed_000001_epoch_1")));
  EXPECT_EQ(checkpoints.store.names(), Names{"000001_epoch_5"});
}

TEST(CheckpointStore, RefusesEveryTruncation) {
  const Checkpoints checkpoints;
  checkpoints.write(5);
  for (const std::string name : {"rank_0000.safetensors", "manifest.json"}) {
    const std::string path = checkpoints.file("000001_epoch_5/" + name);
    const std::string whole = core::read_file(path);
    // the manifest's last byte is a line end that JSON does not need
    for (std::size_t size = 0; size + 1 < whole.size(); size += 1 + whole.size() / 50) {
      std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
      EXPECT_FALSE(checkpoints.reason("000001_epoch_5").empty()) << name << ", " << size;
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole;
  }
  EXPECT_EQ(checkpoints.store.manifest("000001_epoch_5").epoch, 5) << "mended";
}

TEST(CheckpointStore, RefusesEveryFlippedBit) {
  const Checkpoints checkpoints;
  checkpoints.write(5);
  for (const std::string name : {"rank_0000.safetensors", "manifest.json"}) {
    const std::string path = checkpoints.file("000001_epoch_5/" + name);
    const std::string whole = core::read_file(path);
    for (std::size_t byte = 0; byte + 1 < whole.size(); byte += 1 + whole.size() / 100) {
      if (whole[byte] == ' ' || whole[byte] == '\n') continue;  // of the manifest: no content
      std::string flipped = whole;
      flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << (byte % 7)));
      std::ofstream(path, std::ios::binary | std::ios::trunc) << flipped;
      EXPECT_FALSE(checkpoints.reason("000001_epoch_5").empty()) << name << ", byte " << byte;
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole;
  }
}

TEST(CheckpointStore, RefusesOneOfAnotherRun) {
  const Checkpoints mine("0123"), other("4567");
  other.write(5);
  std::filesystem::copy(other.store.folder(), mine.store.folder(),
                        std::filesystem::copy_options::recursive);
  EXPECT_NE(mine.reason("000001_epoch_5").find("another run"), std::string::npos);
}

TEST(CheckpointStore, SetsDamagedOnesAside) {
  const Checkpoints checkpoints;
  checkpoints.write(5);
  checkpoints.write(10);
  checkpoints.store.set_aside("000002_epoch_10");
  EXPECT_EQ(checkpoints.store.names(), Names{"000001_epoch_5"});
  EXPECT_TRUE(std::filesystem::exists(checkpoints.file("damaged_000002_epoch_10")));
}

TEST(CheckpointStore, KeepsTheLastGoodOnesOnAFullDisk) {
  const Checkpoints checkpoints;
  checkpoints.write(5);
  checkpoints.write(10);
  {
    const FullDisk full;
    EXPECT_THROW(checkpoints.write(15), core::StorageError);
    checkpoints.store.discard("15");
  }
  EXPECT_EQ(checkpoints.store.names(), (Names{"000002_epoch_10", "000001_epoch_5"}));
  checkpoints.write(20);
  EXPECT_EQ(checkpoints.store.names(), (Names{"000003_epoch_20", "000002_epoch_10"}));
}

}  // namespace
}  // namespace sagips::record
