#include "sagips/cli/display.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "sagips/core/log.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/event_json.hpp"

namespace sagips::cli {
namespace {

using core::text;
using record::EpochDone;
using record::Evaluated;
using record::NamedNumber;
using record::ParameterState;
using record::RunFinished;
using record::RunStarted;

constexpr int bar_width = 30;
constexpr std::size_t title_width = 19;  // of what stands before numbers

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

double wall_time_s() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string padded(std::string cell, std::size_t width) {
  cell.append(width - std::min(width, core::letters(cell)), ' ');
  return cell;
}

/// How far a run is, by the limit that is nearer.
struct Progress {
  double share = 0;
  double left_s = 0;
};

std::optional<Progress> progress(const RunStarted& start, const EpochDone& epoch) {
  std::optional<Progress> nearest;
  const auto take = [&](double share, double left_s) {
    if (!nearest || share > nearest->share) nearest = Progress{std::min(share, 1.0), left_s};
  };
  if (start.epochs > 0) {
    const auto all = static_cast<double>(start.epochs), done = static_cast<double>(epoch.epoch);
    take(done / all, done > 0 ? epoch.time_s / done * std::max(all - done, 0.0) : 0);
  }
  if (start.minutes > 0)
    take(epoch.time_s / (60 * start.minutes), std::max(60 * start.minutes - epoch.time_s, 0.0));
  return nearest;
}

std::string numbers_text(const std::vector<NamedNumber>& numbers, std::string_view separator) {
  std::vector<std::string> parts;
  parts.reserve(numbers.size());
  for (const NamedNumber& number : numbers)  // those of single classes and targets have no room
    if (number.name.find('/') == std::string::npos)
      parts.push_back(text(number.name, " ", core::significant(number.value, 3)));
  return core::join(parts, separator);
}

// A rank that serves others has none.
std::string rate_text(const EpochDone& epoch) {
  if (!std::isfinite(epoch.events_per_second)) return {};
  return text(", ", core::with_thousands(std::llround(epoch.events_per_second)), " ", epoch.unit,
              "/s");
}

// Parts of a loss ("generator.real") have no room; metrics.jsonl and the curves have them.
std::string losses_text(const EpochDone& epoch, const std::string& separator) {
  std::vector<record::NamedNumber> whole;
  for (const record::NamedNumber& loss : epoch.losses)
    if (loss.name.find('.') == std::string::npos) whole.push_back(loss);
  return numbers_text(whole, separator);
}

std::string losses_title(const EpochDone& epoch) {
  return epoch.unit == "events" ? "losses (1 = even)" : "batches";
}

std::string metrics_title(const Evaluated& evaluation) {
  return evaluation.parameters.empty() ? "rows kept aside" : "distances";
}

std::string limits_text(const RunStarted& start) {
  std::vector<std::string> limits;
  if (start.epochs > 0) limits.push_back(core::with_thousands(start.epochs) + " epochs");
  if (start.minutes > 0) limits.push_back(core::duration(60 * start.minutes));
  return limits.empty() ? "no limit" : "up to " + core::join(limits, " or ");
}

std::string epoch_text(const RunStarted& start, const EpochDone& epoch) {
  const std::string all =
      start.epochs > 0 ? text(" of ", core::with_thousands(start.epochs)) : std::string{};
  return text("epoch ", core::with_thousands(epoch.epoch), all, ", ", core::duration(epoch.time_s));
}

std::string value_text(const ParameterState& parameter) {
  const std::string unit = parameter.unit.empty() ? "" : " " + parameter.unit;
  const std::string value = core::significant(parameter.value, 5);
  if (parameter.fixed) return text(value, unit, " fixed");
  return text(value, " ± ", core::significant(parameter.spread, 2), unit);
}

std::string residual_text(const ParameterState& parameter) {
  if (!parameter.residual || parameter.fixed) return {};
  return text("residual ", core::rounded(100 * *parameter.residual, 1), " %");
}

std::string finish_text(const RunFinished& end) {
  return text(end.reason.text, ": ", core::with_thousands(end.epochs), " epochs in ",
              core::duration(end.time_s));
}

std::string plain_epoch(const RunStarted& start, const EpochDone& epoch) {
  std::string line = text(epoch_text(start, epoch), rate_text(epoch));
  if (!epoch.losses.empty()) line += text(", ", losses_title(epoch), " ", losses_text(epoch, ", "));
  if (const auto done = progress(start, epoch))
    line += text(", ", core::duration(done->left_s), " left");
  return line;
}

std::string plain_evaluation(const Evaluated& evaluation) {
  std::vector<std::string> parts;
  for (const ParameterState& parameter : evaluation.parameters) {
    const std::string residual = residual_text(parameter);
    parts.push_back(text(parameter.name, " ", value_text(parameter),
                         residual.empty() ? "" : " (" + residual + ")"));
  }
  if (!evaluation.metrics.empty())
    parts.push_back(metrics_title(evaluation) + " " + numbers_text(evaluation.metrics, ", "));
  return text("evaluation at epoch ", core::with_thousands(evaluation.epoch), ": ",
              core::join(parts, ", "));
}

struct Line {
  std::string content;
  const char* colour = "";  // an ANSI sequence
};
constexpr const char* bold = "\x1b[1m";
constexpr const char* blue = "\x1b[34m";
constexpr const char* yellow = "\x1b[33m";
constexpr const char* dim = "\x1b[2m";

std::string bar(double share) {
  const int full = static_cast<int>(std::lround(bar_width * share));
  std::string content;
  for (int i = 0; i < bar_width; ++i) content += i < full ? "█" : "░";
  return text(content, " ", core::fixed(100 * share, 0), " %");
}

void add_progress(const RunStarted& start, const EpochDone& epoch, std::vector<Line>& block) {
  if (const auto done = progress(start, epoch))
    block.push_back({text(bar(done->share), "  ", core::duration(done->left_s), " left"), blue});
  block.push_back({text(epoch_text(start, epoch), rate_text(epoch))});
  if (!epoch.losses.empty())
    block.push_back({padded(losses_title(epoch), title_width) + losses_text(epoch, "  ")});
}

void add_evaluation(const Evaluated& evaluation, std::vector<Line>& block) {
  if (!evaluation.metrics.empty())
    block.push_back(
        {padded(metrics_title(evaluation), title_width) + numbers_text(evaluation.metrics, "  ")});
  std::size_t name_width = 0, value_width = 0;
  for (const ParameterState& parameter : evaluation.parameters) {
    name_width = std::max(name_width, core::letters(parameter.name));
    value_width = std::max(value_width, core::letters(value_text(parameter)));
  }
  for (const ParameterState& parameter : evaluation.parameters)
    block.push_back(
        {text("  ", padded(parameter.name, name_width), "  ",
              padded(value_text(parameter), value_width), "  ", residual_text(parameter)),
         parameter.fixed ? dim : ""});
}

std::string painted(const Line& line, std::size_t width, bool has_colour) {
  const std::string content = core::cut_to_width(line.content, width);
  const std::string colour = has_colour ? line.colour : "";
  return colour.empty() ? content : text(colour, content, "\x1b[0m");
}

}  // namespace

Display::Display(int descriptor, DisplayConfig config)
    : descriptor_(descriptor),
      config_(config),
      is_live_(!config.quiet && core::can_redraw(descriptor)),
      has_colour_(environment("NO_COLOR").empty()) {}

Display::~Display() {
  if (lines_drawn_ > 0) write("\x1b[?25h");
}

void Display::operator()(const record::Event& event) {
  if (const auto* start = std::get_if<RunStarted>(&event)) start_ = *start;
  if (const auto* epoch = std::get_if<EpochDone>(&event)) epoch_ = *epoch;
  if (const auto* evaluation = std::get_if<Evaluated>(&event)) {
    if (evaluation->parameters.empty() && evaluation->metrics.empty()) return;  // data.held_out=0
    evaluation_ = *evaluation;
  }
  if (is_live_)
    show_live(event);
  else
    show_plain(event);
}

void Display::show_plain(const record::Event& event) {
  if (config_.quiet && !std::holds_alternative<record::Warning>(event)) return;
  if (const auto* start = std::get_if<RunStarted>(&event))
    write(text(start->workload, " in ", start->folder, ", ", limits_text(*start), "\n"));
  if (const auto* evaluation = std::get_if<Evaluated>(&event))
    write(plain_evaluation(*evaluation) + "\n");
  if (const auto* warning = std::get_if<record::Warning>(&event))
    write(text("warning at epoch ", warning->epoch, ": ", warning->message, "\n"));
  if (const auto* end = std::get_if<RunFinished>(&event)) write(finish_text(*end) + "\n");
  if (const auto* epoch = std::get_if<EpochDone>(&event)) {
    if (last_time_s_ && epoch->time_s - *last_time_s_ < config_.plain_period_s) return;
    last_time_s_ = epoch->time_s;
    write(plain_epoch(start_, *epoch) + "\n");
  }
}

void Display::show_live(const record::Event& event) {
  if (const auto* warning = std::get_if<record::Warning>(&event)) {
    erase();
    const Line line{text("warning at epoch ", warning->epoch, ": ", warning->message), yellow};
    write(painted(line, std::string::npos, has_colour_) + "\n");
    redraw();
  } else if (const auto* end = std::get_if<RunFinished>(&event)) {
    redraw();
    write(finish_text(*end) + "\n\x1b[?25h");
    lines_drawn_ = 0;
  } else if (!last_time_s_ || wall_time_s() - *last_time_s_ >= config_.live_period_s) {
    redraw();
  }
}

void Display::erase() {
  if (lines_drawn_ > 0) write(text("\x1b[", lines_drawn_, "A\r\x1b[J"));
  lines_drawn_ = 0;
}

void Display::redraw() {
  std::vector<Line> block{{text(start_.workload, "  ", start_.folder), bold}};
  if (epoch_) add_progress(start_, *epoch_, block);
  if (evaluation_) add_evaluation(*evaluation_, block);
  const core::TerminalSize size = core::terminal_size(descriptor_);
  // The cursor cannot climb above the first row: a block that is too high loses its end.
  if (size.rows > 1 && block.size() > size.rows - 1) block.resize(size.rows - 1);
  // In one write, so that the terminal never shows half a block.
  std::string picture = "\x1b[?25l";
  if (lines_drawn_ > 0) picture += text("\x1b[", lines_drawn_, "A\r");
  // Cleared before it is written: after a full line the cursor still stands on its last letter.
  for (const Line& line : block)
    picture += "\x1b[2K" + painted(line, size.columns, has_colour_) + "\n";
  write(picture + "\x1b[J");
  lines_drawn_ = block.size();
  last_time_s_ = wall_time_s();
}

void Display::write(const std::string& content) const {
  for (std::size_t done = 0; done < content.size();) {
    const auto count = ::write(descriptor_, content.data() + done, content.size() - done);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) return;  // nobody looks any more; the run goes on
    done += static_cast<std::size_t>(count);
  }
}

}  // namespace sagips::cli
