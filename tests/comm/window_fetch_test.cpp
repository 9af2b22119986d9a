// Windows that are read through the network: what happens between the transfers of one reading.
#include <gtest/gtest.h>

#include <cstring>
#include <functional>
#include <stdexcept>

#include "sagips/comm/window.hpp"

namespace sagips::comm::testing {
namespace {

/// Two nodes of one rank in one thread. Each transfer is told of before it happens.
struct Network {
  std::vector<std::uint64_t> blocks[2];
  std::function<void()> before_transfer = [] {};
  bool stops_halfway = false;  ///< the next store
};

class NetworkMemory final : public Memory {
 public:
  NetworkMemory(Network& network, int rank) : network_(network), rank_(rank) {}
  std::byte* block(int rank) override { return rank == rank_ ? bytes(rank) : nullptr; }
  void fetch(int rank, std::size_t offset, std::span<std::byte> into) override {
    network_.before_transfer();
    std::memcpy(into.data(), bytes(rank) + offset, into.size());
  }
  void store(std::size_t offset, std::span<const std::byte> values) override {
    const std::size_t size = network_.stops_halfway ? values.size() / 2 : values.size();
    std::memcpy(bytes(rank_) + offset, values.data(), size);
    if (network_.stops_halfway) throw std::runtime_error("stopped halfway");
  }
  void publish() override {}

 private:
  std::byte* bytes(int rank) { return reinterpret_cast<std::byte*>(network_.blocks[rank].data()); }
  Network& network_;
  int rank_;
};

class NetworkRank final : public Communicator {
 public:
  NetworkRank(Network& network, int rank) : Communicator(rank, 2), network_(network) {
    nodes_ = {0, 1};
  }
  std::unique_ptr<Memory> share(std::size_t bytes) override {
    network_.blocks[rank()].assign(bytes / 8 + 1, 0);
    return std::make_unique<NetworkMemory>(network_, rank());
  }
  Request send(int, int, std::span<const std::byte>) override { return {}; }
  Request receive(int, int, std::span<std::byte>) override { return {}; }
  Request all_reduce(std::span<const float>, std::span<float>) override { return {}; }
  void all_gather(std::span<const std::byte>, std::span<std::byte>) override {}
  void abort(int exit_code) override { std::_Exit(exit_code); }
  std::string description() const override { return "a pretended network"; }

 private:
  bool test(std::uint64_t) override { return true; }
  void forget(std::uint64_t) noexcept override {}

  Network& network_;
};

constexpr std::size_t floats = 100;

/// A writer and a reader on another node.
struct Pair {
  Network network;
  NetworkRank there{network, 0}, here{network, 1};
  Window written{there, floats}, read{here, floats};
  std::uint64_t stamp = 0;

  void put(int times = 1) {
    for (int k = 0; k < times; ++k) {
      ++stamp;
      EXPECT_TRUE(written.put(std::vector<float>(floats, static_cast<float>(stamp)), stamp));
    }
  }
};

void expect_whole(const Window::View& view) {
  ASSERT_EQ(view.values().size(), floats);
  for (const float value : view.values()) ASSERT_EQ(value, static_cast<float>(view.stamp()));
}

TEST(FetchedWindow, ShowsOneWritingWhateverIsPutBetweenItsTransfers) {
  for (int interrupted = 1; interrupted <= 3; ++interrupted)
    for (int puts = 1; puts <= 14; ++puts) {
      Pair pair;
      pair.put(3);
      int transfer = 0;
      pair.network.before_transfer = [&] {
        if (++transfer == interrupted) pair.put(puts);
      };
      const Window::View view = pair.read.get(0);
      EXPECT_GE(view.stamp(), 3U);
      expect_whole(view);
    }
}

TEST(FetchedWindow, DoesNotShowABufferThatIsBeingRewritten) {
  Pair pair;
  pair.put(3);
  int transfer = 0;
  pair.network.before_transfer = [&] {
    if (++transfer != 2) return;
    pair.put(5);  // the next one takes the buffer that is being read
    pair.network.stops_halfway = true;
    EXPECT_THROW(pair.put(), std::runtime_error);
  };
  const Window::View view = pair.read.get(0);
  EXPECT_EQ(view.stamp(), 8U);
  expect_whole(view);
}

TEST(FetchedWindow, ShowsNothingRatherThanHalfAnArrayWhenTheWriterIsAlwaysFaster) {
  Pair pair;
  pair.put();
  pair.network.before_transfer = [&] { pair.put(6); };
  const Window::View view = pair.read.get(0);
  EXPECT_EQ(view.stamp(), 0U);
  EXPECT_TRUE(view.values().empty());
}

// The words of a transfer may be older than others of the same transfer.
TEST(FetchedWindow, DoesNotGiveAnArrayTheStampOfAnother) {
  Pair pair;
  pair.put(7);
  const Network before = pair.network;
  pair.put();
  int transfer = 0;
  const auto words = [&](int n) { return pair.network.blocks[0].data() + n; };
  std::vector<std::uint64_t> stamps(words(7), words(13));  // after the newest and six contents
  pair.network.before_transfer = [&] {  // the first sees old stamps beside new contents
    ++transfer;
    if (transfer == 1) std::copy_n(before.blocks[0].data() + 7, 6, words(7));
    if (transfer == 2) std::copy(stamps.begin(), stamps.end(), words(7));
  };
  const Window::View view = pair.read.get(0);
  EXPECT_EQ(view.stamp(), 8U);
  expect_whole(view);
}

TEST(FetchedWindow, ShowsAStampThatWasRaised) {
  Pair pair;
  pair.put();
  pair.written.restamp(9);
  EXPECT_EQ(pair.read.get(0).stamp(), 9U);
  EXPECT_EQ(pair.written.get(0).stamp(), 9U) << "so does its own node";
  pair.stamp = 9;
  pair.put();
  EXPECT_EQ(pair.read.get(0).stamp(), 10U);
}

}  // namespace
}  // namespace sagips::comm::testing
