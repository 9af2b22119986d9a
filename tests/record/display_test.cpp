#include "sagips/cli/display.hpp"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <string>
#include <vector>

#include "sagips/core/file.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::cli {
namespace {

using record::EpochDone;
using record::Evaluated;
using record::Event;
using record::RunFinished;
using record::RunStarted;
using record::StopReason;
using testing::TemporaryFolder;

const RunStarted start{"proxy1d", "runs/proxy1d/x", 1000, 0};
const Evaluated evaluation{20,
                           4,
                           {{"N_u", "", 2.0, false, 1.9, 0.05, 0.05},
                            {"mass", "GeV", std::nullopt, false, 91.25, 0.5, std::nullopt},
                            {"width", "GeV", std::nullopt, true, 2.4952, 0, std::nullopt}},
                           {{"ks_1", 0.125}}};

EpochDone epoch_at(std::int64_t epoch, double time_s) {
  return {epoch, time_s, 2.5e6, {{"generator", 1.25}, {"discriminator", 0.5}}};
}

/// What the display writes into a file.
std::string plain(const std::function<void(Display&)>& run, const DisplayConfig& config = {}) {
  const TemporaryFolder folder;
  const int file = ::open(folder.file("out").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  {
    Display display(file, config);
    run(display);
  }
  ::close(file);
  return core::read_file(folder.file("out"));
}

/// A pseudo-terminal, and what has been written to it.
class Terminal {
 public:
  Terminal(unsigned short columns, unsigned short rows) : near_(::posix_openpt(O_RDWR | O_NOCTTY)) {
    EXPECT_TRUE(near_ >= 0 && ::grantpt(near_) == 0 && ::unlockpt(near_) == 0);
    far_ = ::open(::ptsname(near_), O_RDWR | O_NOCTTY);
    const winsize size{rows, columns, 0, 0};
    ::ioctl(far_, TIOCSWINSZ, &size);
    termios settings{};
    ::tcgetattr(far_, &settings);
    settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);
    ::tcsetattr(far_, TCSANOW, &settings);
    ::fcntl(near_, F_SETFL, O_NONBLOCK);
  }
  ~Terminal() {
    ::close(near_);
    ::close(far_);
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;

  int descriptor() const { return far_; }
  /// All that came since the last call. The kernel keeps 4 KiB: read before that is full.
  std::string read() const {
    std::string content;
    std::array<char, 4096> buffer;
    for (;;) {
      const auto count = ::read(near_, buffer.data(), buffer.size());
      if (count <= 0) return content;
      content.append(buffer.data(), static_cast<std::size_t>(count));
    }
  }

 private:
  int near_, far_ = -1;
};

/// The little of a terminal that the display needs: lines, cursor up, erase, colours, cursor.
class Screen {
 public:
  void show(const std::string& bytes) {
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (bytes[i] == '\x1b')
        i = obey(bytes, i + 2);
      else if (bytes[i] == '\n')
        move(row_ + 1);
      else if (bytes[i] != '\r')
        lines_[row_] += bytes[i];
    }
  }
  std::vector<std::string> lines() const {
    auto shown = lines_;
    while (!shown.empty() && shown.back().empty()) shown.pop_back();
    return shown;
  }
  bool has_cursor() const { return has_cursor_; }

 private:
  void move(std::size_t row) {
    row_ = row;
    if (lines_.size() <= row_) lines_.resize(row_ + 1);
  }
  std::size_t obey(const std::string& bytes, std::size_t begin) {
    const std::size_t end = bytes.find_first_of("AJKhlm", begin);
    const std::string argument = bytes.substr(begin, end - begin);
    switch (bytes[end]) {
      case 'A':
        move(row_ - std::stoul(argument));
        break;
      case 'J':
        lines_.resize(row_ + 1);
        lines_[row_].clear();
        break;
      case 'K':
        lines_[row_].clear();
        break;
      default:
        if (argument == "?25") has_cursor_ = bytes[end] == 'h';
    }
    return end;
  }
  std::vector<std::string> lines_{""};
  std::size_t row_ = 0;
  bool has_cursor_ = true;
};

/// An environment variable for the length of a test.
class Variable {
 public:
  Variable(const char* name, const char* value) : name_(name) {
    if (const char* before = std::getenv(name)) before_ = before;
    if (value)
      ::setenv(name, value, 1);
    else
      ::unsetenv(name);
  }
  ~Variable() {
    if (before_)
      ::setenv(name_, before_->c_str(), 1);
    else
      ::unsetenv(name_);
  }
  Variable(const Variable&) = delete;
  Variable& operator=(const Variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> before_;
};

TEST(PlainDisplay, TellsARunInLines) {
  EXPECT_EQ(plain([](Display& display) {
              display(start);
              display(evaluation);
              display(epoch_at(250, 5));
              display(record::Warning{260, "a loss is not finite"});
              display(RunFinished{1000, 90, StopReason(StopReason::Kind::all_epochs), true});
            }),
            "proxy1d in runs/proxy1d/x, up to 1,000 epochs\n"
            "evaluation at epoch 20: N_u 1.9000 ± 0.050 (residual 5.0 %), mass 91.250 ± 0.50 GeV, "
            "width 2.4952 GeV fixed, distances ks_1 0.125\n"
            "epoch 250 of 1,000, 5 s, 2,500,000 events/s, losses (1 = even) generator 1.25, "
            "discriminator 0.500, 15 s left\n"
            "warning at epoch 260: a loss is not finite\n"
            "all epochs done: 1,000 epochs in 1 min 30 s\n");
}

TEST(PlainDisplay, ShowsWarningsAloneWhereItIsQuiet) {
  const auto run = [](Display& display) {
    display(start);
    display(evaluation);
    display(epoch_at(250, 5));
    display(record::Warning{260, "a loss is not finite"});
    display(RunFinished{1000, 90, StopReason(StopReason::Kind::all_epochs), true});
  };
  EXPECT_EQ(plain(run, {.quiet = true}), "warning at epoch 260: a loss is not finite\n");
}

TEST(PlainDisplay, ShowsAnEpochEveryFiveSecondsAtMost) {
  const std::string lines = plain([](Display& display) {
    for (int epoch = 1; epoch <= 100; ++epoch) display(epoch_at(epoch, epoch * 0.5));
  });
  // 0.5 s, 5.5 s, ... 45.5 s, and 50 s comes too early for the next.
  EXPECT_EQ(std::count(lines.begin(), lines.end(), '\n'), 10);
}

TEST(PlainDisplay, MeasuresProgressByTheNearerLimit) {
  const auto last_line = [](std::int64_t epochs, double minutes) {
    return plain([&](Display& display) {
      display(RunStarted{"w", "f", epochs, minutes});
      display(epoch_at(100, 60));
    });
  };
  EXPECT_NE(last_line(1000, 0).find(", 9 min 00 s left\n"), std::string::npos);
  EXPECT_NE(last_line(0, 3).find(", 2 min 00 s left\n"), std::string::npos);
  EXPECT_NE(last_line(1000, 3).find(", 2 min 00 s left\n"), std::string::npos);
  EXPECT_NE(last_line(200, 30).find(", 1 min 00 s left\n"), std::string::npos);
  EXPECT_EQ(last_line(0, 0).find("left"), std::string::npos);
  EXPECT_NE(last_line(1000, 3).find("up to 1,000 epochs or 3 min 00 s\n"), std::string::npos);
}

TEST(PlainDisplay, HasNoControlCharacters) {
  const std::string lines = plain([](Display& display) {
    display(start);
    display(evaluation);
  });
  EXPECT_EQ(lines.find('\x1b'), std::string::npos);
}

TEST(PlainDisplay, ServesATerminalThatCanDoNothing) {
  const Variable dumb("TERM", "dumb");
  const Terminal terminal(80, 24);
  Display display(terminal.descriptor(), {});
  display(start);
  EXPECT_EQ(terminal.read(), "proxy1d in runs/proxy1d/x, up to 1,000 epochs\n");
}

TEST(PlainDisplay, GoesOnWhenNobodyReads) {
  const int full = ::open("/dev/full", O_WRONLY | O_CLOEXEC);
  Display display(full, {});
  EXPECT_NO_THROW(display(start));
  ::close(full);
}

class LiveDisplay : public ::testing::Test {
 protected:
  const Variable term{"TERM", "xterm"};
  const Variable no_color{"NO_COLOR", nullptr};
  const DisplayConfig at_once{0, 5};
};

TEST_F(LiveDisplay, RedrawsOneBlockInPlace) {
  const Terminal terminal(80, 24);
  Screen screen;
  {
    Display display(terminal.descriptor(), at_once);
    display(start);
    for (int epoch = 1; epoch <= 50; ++epoch) {
      display(epoch_at(epoch, epoch * 0.25));
      if (epoch == 20) display(evaluation);
      screen.show(terminal.read());
    }
    EXPECT_FALSE(screen.has_cursor());
  }
  screen.show(terminal.read());
  EXPECT_TRUE(screen.has_cursor());
  EXPECT_EQ(screen.lines(),
            (std::vector<std::string>{
                "proxy1d  runs/proxy1d/x", "██░░░░░░░░░░░░░░░░░░░░░░░░░░░░ 5 %  3 min 58 s left",
                "epoch 50 of 1,000, 13 s, 2,500,000 events/s",
                "losses (1 = even)  generator 1.25  discriminator 0.500",
                "distances          ks_1 0.125", "  N_u    1.9000 ± 0.050     residual 5.0 %",
                "  mass   91.250 ± 0.50 GeV", "  width  2.4952 GeV fixed"}));
}

TEST_F(LiveDisplay, EndsWithTheLastStateAndTheReason) {
  const Terminal terminal(80, 24);
  Screen screen;
  Display display(terminal.descriptor(), DisplayConfig{1e9, 5});
  display(start);
  display(epoch_at(1000, 90));
  display(RunFinished{1000, 90, StopReason(StopReason::Kind::all_epochs), true});
  screen.show(terminal.read());
  const auto lines = screen.lines();
  ASSERT_GE(lines.size(), 2u);
  EXPECT_EQ(lines[2], "epoch 1,000 of 1,000, 1 min 30 s, 2,500,000 events/s");
  EXPECT_EQ(lines.back(), "all epochs done: 1,000 epochs in 1 min 30 s");
  EXPECT_TRUE(screen.has_cursor());
}

TEST_F(LiveDisplay, RedrawsOnlySoOften) {
  const Terminal terminal(80, 24);
  Display display(terminal.descriptor(), DisplayConfig{1e9, 5});
  display(start);
  terminal.read();
  for (int epoch = 1; epoch <= 100; ++epoch) display(epoch_at(epoch, epoch));
  EXPECT_EQ(terminal.read(), "");
}

TEST_F(LiveDisplay, LeavesWarningsAboveTheBlock) {
  const Terminal terminal(80, 24);
  Screen screen;
  Display display(terminal.descriptor(), at_once);
  display(start);
  display(epoch_at(1, 1));
  display(record::Warning{1, "first"});
  display(epoch_at(2, 2));
  display(record::Warning{2, "second"});
  display(epoch_at(3, 3));
  screen.show(terminal.read());
  const auto lines = screen.lines();
  ASSERT_EQ(lines.size(), 6u);
  EXPECT_EQ(lines[0], "warning at epoch 1: first");
  EXPECT_EQ(lines[1], "warning at epoch 2: second");
  EXPECT_EQ(lines[2], "proxy1d  runs/proxy1d/x");
  EXPECT_EQ(lines[4], "epoch 3 of 1,000, 3 s, 2,500,000 events/s");
}

TEST_F(LiveDisplay, CutsLinesAtTheWidthOfTheTerminal) {
  const Terminal terminal(20, 24);
  Screen screen;
  Display display(terminal.descriptor(), at_once);
  display(start);
  display(epoch_at(500, 1));
  display(evaluation);
  screen.show(terminal.read());
  const auto lines = screen.lines();
  ASSERT_EQ(lines.size(), 8u);
  EXPECT_EQ(lines[1], "███████████████░░░░░");
  EXPECT_EQ(lines[3], "losses (1 = even)  g");
}

TEST_F(LiveDisplay, NeverOutgrowsTheTerminal) {
  const Terminal terminal(80, 4);
  Screen screen;
  Display display(terminal.descriptor(), at_once);
  display(start);
  display(evaluation);
  for (int epoch = 1; epoch <= 5; ++epoch) display(epoch_at(epoch, epoch));
  screen.show(terminal.read());
  EXPECT_EQ(screen.lines().size(), 3u);
}

TEST_F(LiveDisplay, TakesTheWidthFromTheEnvironmentWhenTheTerminalHasNone) {
  const Variable columns("COLUMNS", "10");
  const Terminal terminal(0, 0);
  Screen screen;
  Display display(terminal.descriptor(), at_once);
  display(start);
  screen.show(terminal.read());
  EXPECT_EQ(screen.lines(), (std::vector<std::string>{"proxy1d  r"}));
}

TEST_F(LiveDisplay, HasColoursUnlessTheUserRefusesThem) {
  const Terminal terminal(80, 24);
  {
    Display display(terminal.descriptor(), at_once);
    display(start);
  }
  EXPECT_NE(terminal.read().find("\x1b[1mproxy1d"), std::string::npos);
  const Variable refused("NO_COLOR", "1");
  Display display(terminal.descriptor(), at_once);
  display(start);
  EXPECT_EQ(terminal.read().find("\x1b[1m"), std::string::npos);
}

TEST_F(LiveDisplay, CannotBeSteeredByNames) {
  const Terminal terminal(80, 24);
  Display display(terminal.descriptor(), at_once);
  display(RunStarted{"evil\x1b[2J", "f", 1, 0});
  EXPECT_EQ(terminal.read().find("\x1b[2J"), std::string::npos);
}

}  // namespace
}  // namespace sagips::cli
