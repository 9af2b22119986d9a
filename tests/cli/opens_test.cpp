// How often commands open the file of measured events: a large one may lie on a slow or shared disk.
#include <gtest/gtest.h>
#include <sys/inotify.h>
#include <unistd.h>

#include "tests/cli/command.hpp"

namespace {

/// Counts how often a file is opened while this lives.
class Opens {
 public:
  explicit Opens(const std::string& path) : events_(::inotify_init1(IN_NONBLOCK | IN_CLOEXEC)) {
    watching_ = events_ >= 0 && ::inotify_add_watch(events_, path.c_str(), IN_OPEN) >= 0;
  }
  ~Opens() { ::close(events_); }
  Opens(const Opens&) = delete;
  Opens& operator=(const Opens&) = delete;

  bool watching() const { return watching_; }
  /// Since the last call.
  int count() {
    int opens = 0;
    alignas(inotify_event) char bytes[4096];
    for (ssize_t length; (length = ::read(events_, bytes, sizeof bytes)) > 0;)
      opens += static_cast<int>(length / static_cast<ssize_t>(sizeof(inotify_event)));
    return opens;
  }

 private:
  int events_;
  bool watching_ = false;
};

TEST(Train, OpensItsEventFileOnce) {
  const Scratch scratch;
  ASSERT_EQ(scratch.sagips("generate resonance events=3000 out=toy.npy").exit_code, 0);
  Opens opens(scratch.path() + "/toy.npy");
  if (!opens.watching()) GTEST_SKIP() << "this system has no inotify";
  const std::string small =
      "train toy.yaml train.epochs=4 batch.samples=4 batch.events=16 run.figures=false ";
  for (const char* start : {"random", "moments"}) {
    const Outcome run = scratch.sagips(small + "generator.start=" + start + " run.name=" + start);
    ASSERT_EQ(run.exit_code, 0) << run.err;
    EXPECT_NE(scratch.read(std::string("runs/resonance/") + start + "/results.json")
                  .find("degrees_of_freedom"),
              std::string::npos)
        << "all events are looked at again, at the end";
    EXPECT_EQ(opens.count(), 1) << start;
  }
}

}  // namespace
