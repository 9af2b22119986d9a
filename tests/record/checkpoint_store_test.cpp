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
  ASSERT_EQ(checkpoints.store.names(), Names{"epoch_000000500"});
  const CheckpointManifest manifest = checkpoints.store.manifest("epoch_000000500");
  EXPECT_EQ(manifest.epoch, 500);
  EXPECT_EQ(manifest.time_s, 50);
  ASSERT_EQ(manifest.parts.size(), 3U);
  for (int rank = 0; rank < 3; ++rank)
    EXPECT_EQ(checkpoints.store.part("epoch_000000500", manifest, rank).tensors,
              content(Checkpoints::value(500, rank)).tensors);
}

TEST(CheckpointStore, KeepsTheNewestOnes) {
  const Checkpoints checkpoints;
  for (const std::int64_t epoch : {5, 10, 15, 1'000'000'000}) checkpoints.write(epoch);
  EXPECT_EQ(checkpoints.store.names(), (Names{"epoch_1000000000", "epoch_000000015"}));
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(checkpoints.store.folder()), {}), 2)
      << "nothing else is left";
}

TEST(CheckpointStore, ReplacesTheSameEpoch) {
  const Checkpoints checkpoints;
  checkpoints.write(5, 2);
  checkpoints.write(5, 1);
  EXPECT_EQ(checkpoints.store.names(), Names{"epoch_000000005"});
  EXPECT_EQ(checkpoints.store.manifest("epoch_000000005").parts.size(), 1U);
}

// "epoch_000000100.bak" has the same run and longer a name than the newest.
TEST(CheckpointStore, LeavesCopiesThatSomebodyMadeAlone) {
  const Checkpoints checkpoints;
  checkpoints.write(100);
  for (const char* copy : {"epoch_000000100.bak", "epoch_100", "epoch_", "epoch_-00000001"})
    std::filesystem::copy(checkpoints.file("epoch_000000100"), checkpoints.file(copy));
  checkpoints.write(200);
  checkpoints.write(300);
  EXPECT_EQ(checkpoints.store.names(), (Names{"epoch_000000300", "epoch_000000200"}));
  EXPECT_TRUE(std::filesystem::exists(checkpoints.file("epoch_000000100.bak")));
}

TEST(CheckpointStore, CountsOnlyWhatIsComplete) {
  const Checkpoints checkpoints;
  checkpoints.write(5);
  checkpoints.store.write_part("10", 0, content(1));
  std::filesystem::create_directories(checkpoints.file("removed_epoch_000000001"));
  EXPECT_EQ(checkpoints.store.names(), Names{"epoch_000000005"});
  checkpoints.store.clean();
  EXPECT_FALSE(std::filesystem::exists(checkpoints.file("writing_10")));
  EXPECT_FALSE(std::filesystem::exists(checkpoints.file("removed_epoch_000000001")));
  EXPECT_EQ(checkpoints.store.names(), Names{"epoch_000000005"});
}

TEST(CheckpointStore, RefusesEveryTruncation) {
  const Checkpoints checkpoints;
  checkpoints.write(5);
  for (const std::string name : {"rank_0000.safetensors", "manifest.json"}) {
    const std::string path = checkpoints.file("epoch_000000005/" + name);
    const std::string whole = core::read_file(path);
    // the manifest's last byte is a line end that JSON does not need
    for (std::size_t size = 0; size + 1 < whole.size(); size += 1 + whole.size() / 50) {
      std::ofstream(path, std::ios::binary | std::ios::trunc) << whole.substr(0, size);
      EXPECT_FALSE(checkpoints.reason("epoch_000000005").empty()) << name << ", " << size;
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole;
  }
  EXPECT_EQ(checkpoints.store.manifest("epoch_000000005").epoch, 5) << "mended";
}

TEST(CheckpointStore, RefusesEveryFlippedBit) {
  const Checkpoints checkpoints;
  checkpoints.write(5);
  for (const std::string name : {"rank_0000.safetensors", "manifest.json"}) {
    const std::string path = checkpoints.file("epoch_000000005/" + name);
    const std::string whole = core::read_file(path);
    for (std::size_t byte = 0; byte + 1 < whole.size(); byte += 1 + whole.size() / 100) {
      if (whole[byte] == ' ' || whole[byte] == '\n') continue;  // of the manifest: no content
      std::string flipped = whole;
      flipped[byte] = static_cast<char>(flipped[byte] ^ (1 << (byte % 7)));
      std::ofstream(path, std::ios::binary | std::ios::trunc) << flipped;
      EXPECT_FALSE(checkpoints.reason("epoch_000000005").empty()) << name << ", byte " << byte;
    }
    std::ofstream(path, std::ios::binary | std::ios::trunc) << whole;
  }
}

TEST(CheckpointStore, RefusesOneOfAnotherRun) {
  const Checkpoints mine("0123"), other("4567");
  other.write(5);
  std::filesystem::copy(other.store.folder(), mine.store.folder(),
                        std::filesystem::copy_options::recursive);
  EXPECT_NE(mine.reason("epoch_000000005").find("another run"), std::string::npos);
}

TEST(CheckpointStore, SetsDamagedOnesAside) {
  const Checkpoints checkpoints;
  checkpoints.write(5);
  checkpoints.write(10);
  checkpoints.store.set_aside("epoch_000000010");
  EXPECT_EQ(checkpoints.store.names(), Names{"epoch_000000005"});
  EXPECT_TRUE(std::filesystem::exists(checkpoints.file("damaged_epoch_000000010")));
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
  EXPECT_EQ(checkpoints.store.names(), (Names{"epoch_000000010", "epoch_000000005"}));
  checkpoints.write(20);
  EXPECT_EQ(checkpoints.store.names(), (Names{"epoch_000000020", "epoch_000000010"}));
}

}  // namespace
}  // namespace sagips::record
