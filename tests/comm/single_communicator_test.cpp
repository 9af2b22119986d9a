#include <gtest/gtest.h>

#include "tests/comm/kit.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::comm::testing {
namespace {

TEST(SingleCommunicator, IsARankAlone) {
  const auto alone = make_single_communicator();
  EXPECT_EQ(alone->rank(), 0);
  EXPECT_EQ(alone->size(), 1);
  EXPECT_FALSE(alone->oversubscribed());
  EXPECT_EQ(alone->description(), "one process");
  EXPECT_EQ(alone->split(3)->size(), 1);
  Kit kit(*alone);
  kit.barrier();
  EXPECT_EQ(kit.gather(42), std::vector<std::uint64_t>{42});
}

TEST(SingleCommunicator, SumsWhatItHas) {
  const auto alone = make_single_communicator();
  const std::vector<float> mine{1, 2.5F};
  std::vector<float> sum(2, -5.0F);
  EXPECT_TRUE(alone->all_reduce(mine, sum).ready());
  EXPECT_EQ(sum, mine);
}

TEST(SingleCommunicator, SharesZeroedMemoryWithItself) {
  const auto alone = make_single_communicator();
  for (const std::size_t bytes : {0U, 64U, 130U}) {
    const auto memory = alone->share(bytes);
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->block(0)) % 64, 0U);
    for (std::size_t k = 0; k < bytes; ++k) ASSERT_EQ(memory->block(0)[k], std::byte{0});
  }
  const auto memory = alone->share(64);
  const std::uint32_t written = 7;
  std::uint32_t seen = 0;
  memory->store(8, std::as_bytes(std::span(&written, 1)));
  memory->publish();
  memory->fetch(0, 8, std::as_writable_bytes(std::span(&seen, 1)));
  EXPECT_EQ(seen, 7U);
}

TEST(SingleCommunicator, HasNobodyToWriteTo) {
  const auto alone = make_single_communicator();
  EXPECT_EQ(sagips::testing::message_of<CommError>([&] { alone->send(1, 1, {}); }),
            "a program that is alone names rank 1 in a message.");
}

}  // namespace
}  // namespace sagips::comm::testing
