// Messages of any length to rank 0.
#include "sagips/comm/outbox.hpp"

#include <gtest/gtest.h>

#include "tests/comm/kit.hpp"

namespace sagips::comm::testing {
namespace {

using Content = std::vector<std::byte>;

TEST(Outbox, KeepsTheOrderOfEachSenderWhateverTheLengths) {
  on_threads({.ranks = 3}, [](Kit& kit) {
    Ranks ranks(kit.communicator);
    std::vector<std::vector<std::size_t>> lengths(3), numbers(3);
    std::vector<bool> has_left(3, false);
    Outbox outbox(ranks, ControlTag::study, [&](std::size_t place, const Outbox::Message& message) {
      lengths[place].push_back(message.content.size());
      numbers[place].push_back(static_cast<std::size_t>(message.number));
      has_left[place] = message.is_last;
      for (const std::byte value : message.content)
        EXPECT_EQ(value, std::byte(10 * place + numbers[place].size()));
    });
    if (!ranks.is_first()) {
      const auto rank = static_cast<std::size_t>(ranks.rank());
      for (std::size_t number = 1; number <= 4; ++number)
        outbox.send({.number = static_cast<std::int64_t>(number),
                     .is_last = number == 4,
                     .content = Content(number == 2 ? 0 : 1000 * rank + number,
                                        std::byte(10 * rank + number))});
      outbox.wait_until_empty("for messages");
      EXPECT_TRUE(outbox.is_empty());
      return;
    }
    for (std::size_t place = 1; place < 3; ++place) {
      Until all([&] { return outbox.take(place) && has_left[place]; });
      ranks.timeout().wait(all, {.partners = {static_cast<int>(place)}, .what = "with messages"});
      EXPECT_EQ(numbers[place], (std::vector<std::size_t>{1, 2, 3, 4}));
      EXPECT_EQ(lengths[place], (std::vector<std::size_t>{1000 * place + 1, 0, 1000 * place + 3,
                                                          1000 * place + 4}));
      EXPECT_FALSE(outbox.take(place)) << "nothing follows the last one";
    }
  });
}

TEST(Outbox, TakesOneMessageAtATimeOfThoseWhoSend) {
  on_threads({.ranks = 3}, [](Kit& kit) {
    Ranks ranks(kit.communicator);
    std::size_t taken = 0;
    Outbox outbox(ranks, ControlTag::study, [&](std::size_t, const Outbox::Message&) { ++taken; },
                  {0, 2});
    if (ranks.rank() == 2) {
      outbox.send({.number = 1});
      outbox.send({.number = 2});
      outbox.wait_until_empty("for messages");
    }
    if (!ranks.is_first()) return;
    for (std::size_t number = 1; number <= 2; ++number) {
      Until came([&] { return outbox.take(1); });
      ranks.timeout().wait(came, {.partners = {2}, .what = "with a message"});
      EXPECT_EQ(taken, number);
    }
  });
}

}  // namespace
}  // namespace sagips::comm::testing
