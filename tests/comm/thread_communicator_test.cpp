#include "tests/comm/thread_communicator.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <stdexcept>
#include <thread>

#include "tests/comm/kit.hpp"
#include "tests/core/message_of.hpp"

namespace sagips::comm::testing {
namespace {

using sagips::testing::message_of;

void wait(Request&& request) {
  while (!request.ready()) std::this_thread::yield();
}

void send(Communicator& from, int to, int tag, const std::vector<float>& values) {
  wait(from.send(to, tag, as_message(values)));
}

float receive(Communicator& communicator, int from, int tag) {
  float value = 0;
  wait(communicator.receive(from, tag, as_message(std::span(&value, 1))));
  return value;
}

TEST(ThreadCommunicator, KeepsTheOrderOfEachTagWhateverTheDelays) {
  constexpr int many = 50;
  run_ranks({.ranks = 2, .delay_seed = 9, .maximum_delay_us = 200}, [](Communicator& here) {
    if (here.rank() == 0) {
      std::vector<float> values(std::size_t{2} * many);
      std::iota(values.begin(), values.end(), 0.0F);
      std::vector<Request> sent;
      for (std::size_t k = 0; k < values.size(); ++k)  // even ones under tag 1, odd ones under 2
        sent.push_back(here.send(1, 1 + static_cast<int>(k) % 2,
                                 as_message(std::span<const float>(&values[k], 1))));
      for (Request& request : sent) wait(std::move(request));
    } else {
      for (int k = 0; k < many; ++k) EXPECT_EQ(receive(here, 0, 2), static_cast<float>(2 * k + 1));
      for (int k = 0; k < many; ++k) EXPECT_EQ(receive(here, 0, 1), static_cast<float>(2 * k));
    }
  });
}

TEST(ThreadCommunicator, GivesLaterReceivesLaterMessagesThoughTheyAreAskedFirst) {
  run_ranks({.ranks = 2}, [](Communicator& here) {
    if (here.rank() == 0) {
      const std::vector<float> first{1}, second{2};
      Request one = here.send(1, 1, as_message(first)), two = here.send(1, 1, as_message(second));
      wait(std::move(one));
      wait(std::move(two));
    } else {
      std::array<float, 2> got{};
      Request one = here.receive(0, 1, as_message(std::span(got).first(1)));
      Request two = here.receive(0, 1, as_message(std::span(got).last(1)));
      wait(std::move(two));
      wait(std::move(one));
      EXPECT_EQ(got, (std::array{1.0F, 2.0F}));
    }
  });
}

TEST(ThreadCommunicator, TellsWhenRanksDisagreeAboutALength) {
  const auto disagree = [](Communicator& here) {
    if (here.rank() == 0)
      send(here, 1, 1, {1, 2, 3});
    else
      receive(here, 0, 1);
  };
  EXPECT_EQ(message_of<CommError>([&] { run_ranks({.ranks = 2}, disagree); }),
            "rank 1 expected 4 bytes and was sent 12 (the ranks disagree about a length).");
}

TEST(ThreadCommunicator, TellsWhenRanksDisagreeAboutTheLengthOfASum) {
  const auto disagree = [](Communicator& here) {
    const std::vector<float> mine(here.rank() == 0 ? 2 : 5, 1.0F);
    std::vector<float> sum(mine.size());
    wait(here.all_reduce(mine, sum));
  };
  const std::string message = message_of<CommError>([&] { run_ranks({.ranks = 2}, disagree); });
  EXPECT_NE(message.find("(the ranks disagree about a length)"), std::string::npos) << message;
}

TEST(ThreadCommunicator, EndsTheOthersWhenOneThrowsWhateverTheyWaitFor) {
  const auto body = [](Communicator& here) {
    const std::vector<float> one(1, 1.0F);
    std::vector<float> other(1), all(5);
    if (here.rank() == 0) throw std::runtime_error("rank 0 is out of memory");
    if (here.rank() == 1) receive(here, 0, 1);
    if (here.rank() == 2) send(here, 0, 2, one);
    if (here.rank() == 3) wait(here.all_reduce(one, other));
    here.all_gather(std::as_bytes(std::span(one)), std::as_writable_bytes(std::span(all)));
    ADD_FAILURE() << "rank " << here.rank() << " went on";
  };
  EXPECT_EQ(message_of<std::runtime_error>([&] { run_ranks({.ranks = 5}, body); }),
            "rank 0 is out of memory");
}

// Its buffer is gone: with MPI, the message would be cancelled.
TEST(ThreadCommunicator, DoesNotDeliverAMessageThatWasGivenUp) {
  on_threads({.ranks = 2}, [](Kit& kit) {
    Communicator& here = kit.communicator;
    if (here.rank() == 0) {
      const std::vector<float> gone(1000, 1.0F);
      const Request request = here.send(1, 1, as_message(gone));
    }
    kit.barrier();
    if (here.rank() == 1) {
      std::vector<float> values(1000);
      Request request = here.receive(0, 1, as_message(std::span(values)));
      EXPECT_FALSE(request.ready());
    }
  });
}

TEST(ThreadCommunicator, SumsOverAllRanksAgainAndAgain) {
  run_ranks({.ranks = 4}, [](Communicator& here) {
    for (int call = 0; call < 20; ++call) {
      const std::vector<float> mine{static_cast<float>(here.rank() + call), 1};
      std::vector<float> sum(2, -5.0F);
      wait(here.all_reduce(mine, sum));
      EXPECT_EQ(sum, (std::vector<float>{static_cast<float>(6 + 4 * call), 4}));
    }
  });
}

TEST(ThreadCommunicator, GathersInTheOrderOfRanks) {
  on_threads({.ranks = 5}, [](Kit& kit) {
    const auto rank = static_cast<std::uint64_t>(kit.communicator.rank());
    EXPECT_EQ(kit.gather(rank * rank), (std::vector<std::uint64_t>{0, 1, 4, 9, 16}));
  });
}

TEST(ThreadCommunicator, SharesZeroedMemoryWithinANodeOnly) {
  on_threads({.ranks = 3, .nodes = {0, 0, 1}}, [](Kit& kit) {
    const auto memory = kit.communicator.share(128);
    const int rank = kit.communicator.rank();
    for (int other = 0; other < 3; ++other)
      EXPECT_EQ(memory->block(other) != nullptr, (rank < 2) == (other < 2)) << other;
    for (int k = 0; k < 128; ++k) ASSERT_EQ(memory->block(rank)[k], std::byte{0});
    EXPECT_EQ(reinterpret_cast<std::uintptr_t>(memory->block(rank)) % 64, 0U);
    kit.barrier();
    const std::array<std::uint32_t, 2> words{7, static_cast<std::uint32_t>(rank)};
    memory->store(8, std::as_bytes(std::span(words)));
    memory->publish();
    kit.barrier();
    for (std::uint32_t other = 0; other < 3; ++other) {
      std::array<std::uint32_t, 2> seen{};
      memory->fetch(static_cast<int>(other), 8, std::as_writable_bytes(std::span(seen)));
      EXPECT_EQ(seen, (std::array<std::uint32_t, 2>{7, other}));
    }
  });
}

TEST(ThreadCommunicator, CountsTheRanksOfItsNode) {
  run_ranks({.ranks = 3, .nodes = {0, 0, 1}}, [](Communicator& here) {
    EXPECT_EQ(here.ranks_on_node(), here.rank() < 2 ? 2 : 1);
    EXPECT_EQ(here.size(), 3);
    EXPECT_EQ(here.description(), "threads");
  });
}

}  // namespace
}  // namespace sagips::comm::testing
