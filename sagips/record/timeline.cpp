#include "sagips/record/timeline.hpp"

#include <fcntl.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <system_error>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/run_files.hpp"

namespace sagips::record {
namespace {

namespace fs = std::filesystem;

constexpr std::array row_names{"step",   "loading", "compute",   "exchange",
                               "update", "GPU",     "evaluation"};
// Numbers in the trace. Perfetto takes process 0 for the kernel's (its issue 394), and a thread with the
// number of its process for the main one.
constexpr int first_process = 1, rows_of_process = 10'000;
constexpr std::size_t spans_at_once = 1024;
constexpr auto write_period = std::chrono::seconds(1);

std::string place(int rank, int row) {
  const int process = rank + first_process;
  return "\",\"pid\":" + std::to_string(process) +
         ",\"tid\":" + std::to_string(process * rows_of_process + row);
}

std::string metadata(const char* what, int rank, int row, const std::string& argument) {
  return core::text("{\"ph\":\"M\",\"name\":\"", what, place(rank, row), ",\"args\":{", argument,
                    "}}");
}

// In microseconds, without loss: a double has no room for the nanoseconds of the wall clock.
void append_time(std::string& text, std::int64_t ns) {
  std::array<char, 24> digits{};
  char* const begin = digits.data();
  text.append(begin, std::to_chars(begin, begin + digits.size(), ns / 1000).ptr);
  std::to_chars(begin, begin + digits.size(), 1000 + ns % 1000);  // "1" and all three digits
  digits[0] = '.';
  text.append(begin, 4);
}

std::int64_t nanoseconds(core::Tracer::Clock::duration time) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(time).count();
}

}  // namespace

Timeline::Timeline(int rank, TraceClock clock, std::size_t most_spans)
    : rank_(rank), clock_(clock), most_spans_(most_spans) {
  threads_[std::this_thread::get_id()] = 0;
  waiting_.reserve(spans_at_once);
}

void Timeline::add(const core::TracedSpan& span) noexcept {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  if (spans_ >= most_spans_) {
    ++left_out_;
    return;
  }
  ++spans_;
  const auto thread =
      threads_.try_emplace(std::this_thread::get_id(), static_cast<int>(threads_.size()));
  waiting_.emplace_back(span, thread.first->second);
  if (waiting_.size() >= spans_at_once || span.end - written_ >= write_period) write_out();
}

void Timeline::begin(const std::string& path, const std::string& start) {
  const std::lock_guard lock(mutex_);
  path_ = path;
  file_ = core::Descriptor(::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  const std::string name = core::text("\"name\":\"rank ", rank_, "\"");
  const std::string clock =
      core::text("\"clock\":\"wall clock of rank 0\",\"uncertainty_us\":",
                 core::significant(static_cast<double>(clock_.uncertainty_ns) * 1e-3, 3));
  std::string head =
      core::text("[\n", metadata("process_name", rank_, 0, name), ",\n",
                 metadata("process_sort_index", rank_, 0, core::text("\"sort_index\":", rank_)),
                 ",\n", metadata("clock_alignment", rank_, 0, clock));
  head += ",\n{\"ph\":\"i\",\"s\":\"p\",\"name\":" + nlohmann::json(start).dump();
  head += place(rank_, 0).substr(1) + ",\"ts\":";
  append_time(head, nanoseconds(Clock::now().time_since_epoch()) + clock_.offset_ns);
  head += "}";
  if (file_.number() >= 0 && core::write_all(file_.number(), head)) return;
  stopped_ = true;
  throw core::StorageError(path,
                           core::text("cannot be written (", std::system_category().message(errno),
                                      "). Free space or choose another run.folder."));
}

// How an event of a thread's kind of work goes on behind its name; when the row is first seen, its name and
// place in the trace come first.
const std::string& Timeline::row_of(std::string& text, core::TraceRow row, int thread) {
  const int number = thread * static_cast<int>(row_names.size()) + static_cast<int>(row);
  const auto index = static_cast<std::size_t>(number);
  if (rows_.size() <= index) rows_.resize(index + 1);
  if (rows_[index].empty()) {
    std::string name = row_names[static_cast<std::size_t>(row)];
    rows_[index] = "\",\"cat\":\"" + name + place(rank_, number) + ",\"ts\":";
    if (thread > 0) name += core::text(", thread ", thread);
    text += ",\n" + metadata("thread_name", rank_, number, "\"name\":\"" + name + "\"") + ",\n" +
            metadata("thread_sort_index", rank_, number, core::text("\"sort_index\":", number));
  }
  return rows_[index];
}

void Timeline::append(std::string& text, const core::TracedSpan& span, int thread) {
  const std::string& row = row_of(text, span.row, thread);
  text += ",\n{\"ph\":\"X\",\"name\":\"";
  text += span.name;
  text += row;
  append_time(text, nanoseconds(span.begin.time_since_epoch()) + clock_.offset_ns);
  text += ",\"dur\":";
  append_time(text, nanoseconds(span.end - span.begin));
  if (span.step > 0) text += ",\"args\":{\"step\":" + std::to_string(span.step);
  if (span.step > 0 && span.network != nullptr)
    text += ",\"network\":" + nlohmann::json(span.network).dump();
  text += span.step > 0 ? "}}" : "}";
}

void Timeline::write_out() noexcept {
  if (file_.number() < 0) return;
  constexpr std::size_t usual_length = 160;
  std::string text;
  text.reserve(waiting_.size() * usual_length);
  for (const auto& [span, thread] : waiting_) append(text, span, thread);
  waiting_.clear();
  written_ = Clock::now();
  if (core::write_all(file_.number(), text)) return;
  problem_ = std::system_category().message(errno);
  file_.close();
  stopped_ = true;
}

void Timeline::stop() {
  const std::lock_guard lock(mutex_);
  write_out();
  stopped_ = true;
}

void Timeline::end() {
  const std::lock_guard lock(mutex_);
  write_out();
  stopped_ = true;
  if (file_.number() >= 0) {
    const std::string rest =
        ",\n" + metadata("spans_left_out", rank_, 0, core::text("\"count\":", left_out_)) + "\n]\n";
    if (!core::write_all(file_.number(), rest)) problem_ = std::system_category().message(errno);
    if (!file_.close()) problem_ = std::system_category().message(errno);
  }
  if (!problem_.empty())
    throw core::StorageError(path_, core::text("the trace is not whole (", problem_,
                                               "). Free space on this file system."));
}

namespace {

// The events of a piece, separated by commas; the last may have been cut off when its process was killed.
std::string events_of(const std::string& piece) {
  const std::size_t first = piece.find('{');
  if (piece.empty() || piece.front() != '[' || first == std::string::npos) return {};
  std::size_t end = piece.rfind('}') + 1;  // 0: not even one
  const std::size_t last = piece.rfind("\n{", end) + 1;
  if (end > last && !nlohmann::json::accept(piece.substr(last, end - last)))
    end = last < 2 ? 0 : last - 2;  // before ",\n"
  return end > first ? piece.substr(first, end - first) : std::string();
}

std::vector<fs::path> pieces_in(const std::string& folder) {
  std::vector<fs::path> pieces;
  std::error_code none;
  for (const auto& entry : fs::directory_iterator(folder, none))
    if (entry.path().extension() == ".json") pieces.push_back(entry.path());
  std::sort(pieces.begin(), pieces.end());
  return pieces;
}

}  // namespace

void join_timeline(const std::string& run_folder) {
  const auto pieces = pieces_in(core::text(run_folder, "/", run_files::timeline.name));
  const std::string path = core::text(run_folder, "/", run_files::trace.name);
  std::error_code missing;
  const auto joined = fs::last_write_time(path, missing);
  const bool is_new = std::any_of(pieces.begin(), pieces.end(), [&](const fs::path& piece) {
    std::error_code ignored;
    return missing || fs::last_write_time(piece, ignored) >= joined;
  });
  if (!is_new) return;
  core::FileAside file(path);
  bool written = core::write_all(file.number(), "[");
  const char* separator = "\n";
  for (const fs::path& piece : pieces) {
    const std::string events = events_of(core::read_file(piece.string()));
    if (events.empty()) continue;
    written = written && core::write_all(file.number(), separator + events);
    separator = ",\n";
  }
  if (!written || !core::write_all(file.number(), "\n]\n"))
    throw core::StorageError(
        path, core::text("cannot be written (", std::system_category().message(errno),
                         "). Free space on this file system."));
  file.put_in_place();
}

}  // namespace sagips::record
