#include "sagips/comm/task.hpp"

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>

#include "tests/core/message_of.hpp"

namespace sagips::comm {
namespace {

using sagips::testing::message_of;

/// Ready when told so; or it fails.
struct Switch final : Condition {
  bool ready() override {
    ++asked;
    if (broken) throw std::runtime_error("the link is gone");
    return on;
  }
  bool on = false, broken = false;
  int asked = 0;
};

/// Writes into the diary when it goes.
struct Witness {
  std::string& diary;
  char letter;
  ~Witness() { diary += letter; }
};

Task leaf(std::string& diary, char letter, Condition& condition) {
  diary += letter;
  co_await condition;
  diary += static_cast<char>(letter - 'a' + 'A');
}

Task nest(std::string& diary, Condition& first, Condition& second) {
  diary += '(';
  co_await leaf(diary, 'a', first);
  diary += '|';
  co_await leaf(diary, 'b', second);
  diary += ')';
}

Task outer(std::string& diary, Condition& first, Condition& second) {
  co_await nest(diary, first, second);
  diary += '.';
}

Task failing(Condition& condition) {
  co_await condition;
  throw std::runtime_error("inner trouble");
}

Task catching(std::string& diary, Condition& condition) {
  try {
    co_await failing(condition);
  } catch (const std::runtime_error& error) {
    diary += error.what();
  }
}

Task passing_on(std::string& diary, Condition& condition) {
  const Witness witness{diary, 'w'};
  co_await failing(condition);
  diary += "never";
}

Task witnessed(std::string& diary, char letter, Condition& condition) {
  const Witness witness{diary, letter};
  co_await condition;
}

Task witnessed_nest(std::string& diary, Condition& condition) {
  const Witness witness{diary, 'o'};
  co_await witnessed(diary, 'i', condition);
}

Task nothing(int& count) {
  ++count;
  co_return;
}

Task many(int& count, int times) {
  for (int k = 0; k < times; ++k) co_await nothing(count);
}

TEST(Task, DoesNotStartByItself) {
  std::string diary;
  Switch condition;
  const Task task = leaf(diary, 'a', condition);
  EXPECT_EQ(diary, "");
}

TEST(Flow, RunsATaskToItsFirstWaitAtOnce) {
  std::string diary;
  Switch condition;
  Flow flow(leaf(diary, 'a', condition));
  EXPECT_EQ(diary, "a");
  EXPECT_FALSE(flow.over());
  EXPECT_FALSE(flow.ready());
  condition.on = true;
  EXPECT_TRUE(flow.ready());
  EXPECT_EQ(diary, "aA");
  EXPECT_TRUE(flow.over());
}

TEST(Flow, ThatWasNeverGivenATaskIsOver) {
  Flow flow;
  EXPECT_TRUE(flow.over());
  EXPECT_TRUE(flow.ready());
}

TEST(Flow, RunsNestedTasksInTheOrderOfTheText) {
  std::string diary;
  Switch first, second;
  Flow flow(outer(diary, first, second));
  EXPECT_EQ(diary, "(a");
  second.on = true;  // not its turn
  EXPECT_FALSE(flow.ready());
  EXPECT_EQ(diary, "(a");
  first.on = true;
  EXPECT_TRUE(flow.ready());
  EXPECT_EQ(diary, "(aA|bB).");
}

TEST(Flow, AsksOnlyTheConditionThatIsWaitedFor) {
  std::string diary;
  Switch first, second;
  Flow flow(outer(diary, first, second));
  for (int k = 0; k < 5; ++k) flow.ready();
  EXPECT_EQ(first.asked, 6);
  EXPECT_EQ(second.asked, 0);
}

TEST(Flow, TakesOneTaskAfterAnother) {
  std::string diary;
  Switch condition;
  condition.on = true;
  Flow flow;
  for (const char letter : {'a', 'b', 'c'}) {
    flow.begin(leaf(diary, letter, condition));
    EXPECT_TRUE(flow.over());
  }
  EXPECT_EQ(diary, "aAbBcC");
}

TEST(Flow, RunsManyTasksThatEndAtOnce) {
  int count = 0;
  const Flow flow(many(count, 1000));
  EXPECT_EQ(count, 1000);
  EXPECT_TRUE(flow.over());
}

TEST(Flow, ThrowsWhatANestedTaskThrowsAtItsFirstStep) {
  std::string diary;
  Switch condition;
  condition.on = true;
  Flow flow;
  EXPECT_EQ(message_of<std::runtime_error>([&] { flow.begin(passing_on(diary, condition)); }),
            "inner trouble");
  EXPECT_EQ(diary, "w");
  EXPECT_TRUE(flow.over());
}

TEST(Flow, ThrowsWhatANestedTaskThrowsLater) {
  std::string diary;
  Switch condition;
  Flow flow(passing_on(diary, condition));
  EXPECT_FALSE(flow.ready());
  condition.on = true;
  EXPECT_EQ(message_of<std::runtime_error>([&] { flow.ready(); }), "inner trouble");
  EXPECT_EQ(diary, "w");
  EXPECT_TRUE(flow.over());
}

TEST(Flow, LetsATaskCatchWhatItsPartThrows) {
  std::string diary;
  Switch condition;
  Flow flow(catching(diary, condition));
  condition.on = true;
  EXPECT_TRUE(flow.ready());
  EXPECT_EQ(diary, "inner trouble");
}

TEST(Flow, ThrowsWhatAConditionThrowsAtOnce) {
  std::string diary;
  Switch condition;
  condition.broken = true;
  Flow flow;
  EXPECT_EQ(message_of<std::runtime_error>([&] { flow.begin(witnessed_nest(diary, condition)); }),
            "the link is gone");
  EXPECT_EQ(diary, "io");
}

TEST(Flow, ThrowsWhatAConditionThrowsLaterAndLetsGo) {
  std::string diary;
  Switch condition;
  {
    Flow flow(witnessed_nest(diary, condition));
    condition.broken = true;
    EXPECT_EQ(message_of<std::runtime_error>([&] { flow.ready(); }), "the link is gone");
  }
  EXPECT_EQ(diary, "io");
}

TEST(Flow, ThatIsNotOverLetsGoOfWhatItsTasksHold) {
  std::string diary;
  Switch condition;
  { const Flow flow(witnessed_nest(diary, condition)); }
  EXPECT_EQ(diary, "io") << "the inner task first, each once";
}

TEST(Together, IsReadyWhenAllAreOver) {
  std::string diary;
  Switch first, second;
  Together both;
  both.add(leaf(diary, 'a', first));
  both.add(leaf(diary, 'b', second));
  EXPECT_EQ(diary, "ab");
  second.on = true;
  EXPECT_FALSE(both.ready());
  EXPECT_EQ(diary, "abB");
  first.on = true;
  EXPECT_TRUE(both.ready());
  EXPECT_EQ(diary, "abBA");
  EXPECT_TRUE(both.ready());
}

TEST(Together, MovesEveryTaskAlthoughTheFirstWaits) {
  std::string diary;
  Switch never, first, second;
  Together both;
  both.add(leaf(diary, 'x', never));
  both.add(nest(diary, first, second));
  first.on = second.on = true;
  EXPECT_FALSE(both.ready());
  EXPECT_EQ(diary, "x(aA|bB)");
}

TEST(Together, OfNothingIsReady) {
  Together none;
  EXPECT_TRUE(none.ready());
}

TEST(Together, ThrowsWhatOneOfItsTasksThrows) {
  std::string diary;
  Switch never, condition;
  Together both;
  both.add(leaf(diary, 'a', never));
  both.add(failing(condition));
  EXPECT_FALSE(both.ready());
  condition.on = true;
  EXPECT_EQ(message_of<std::runtime_error>([&] { both.ready(); }), "inner trouble");
}

TEST(Until, AsksItsFunction) {
  int left = 3;
  Until done([&left] { return --left == 0; });
  EXPECT_FALSE(done.ready());
  EXPECT_FALSE(done.ready());
  EXPECT_TRUE(done.ready());
}

}  // namespace
}  // namespace sagips::comm
