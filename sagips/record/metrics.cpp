#include "sagips/record/metrics.hpp"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/event_json.hpp"
#include "sagips/record/thinned_epochs.hpp"

namespace sagips::record {
namespace {

struct CloseFile {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using Clock = std::chrono::steady_clock;
constexpr auto flush_period = std::chrono::seconds(1);

// Cuts a file after that many bytes, or after its last whole line where it is shorter (what was not
// yet on the disk when the power went); returns its length.
std::int64_t cut(const std::string& path, std::int64_t keep_bytes) {
  std::error_code problem;
  const auto there = std::filesystem::file_size(path, problem);
  if (problem || keep_bytes <= 0) return 0;
  const std::string begin =
      core::read_file(path).substr(0, std::min<std::uintmax_t>(there, keep_bytes));
  const std::size_t end = begin.rfind('\n');
  const std::int64_t length = end == std::string::npos ? 0 : static_cast<std::int64_t>(end) + 1;
  std::filesystem::resize_file(path, static_cast<std::uintmax_t>(length), problem);
  return problem ? 0 : length;
}

}  // namespace

struct MetricsWriter::Output {
  std::string path;
  ThinnedEpochs epochs;
  std::unique_ptr<std::FILE, CloseFile> file{};  // empty after a failed write
  Clock::time_point last_flush = Clock::now();
  std::int64_t bytes = 0;  // good ones

  void fail() {
    const std::string reason = std::system_category().message(errno);
    file.reset();
    throw core::StorageError(path, core::text("cannot write metrics (", reason,
                                              "); none follow. Free space on this file system."));
  }

  void flush() {
    last_flush = Clock::now();
    if (std::fflush(file.get()) != 0) fail();
  }

  void write(const Event& event) {
    if (!file) return;
    const std::string line = event_to_json(event) + "\n";
    if (std::fwrite(line.data(), 1, line.size(), file.get()) != line.size()) fail();
    bytes += static_cast<std::int64_t>(line.size());
    if (Clock::now() - last_flush >= flush_period) flush();
  }

  void write_epoch(const std::optional<EpochDone>& epoch) {
    if (epoch) write(*epoch);
  }
};

MetricsWriter::MetricsWriter(const std::string& path, double epoch_period_s,
                             std::int64_t keep_bytes)
    : output_(std::make_unique<Output>(Output{path, ThinnedEpochs(epoch_period_s)})) {
  output_->bytes = cut(path, keep_bytes);
  output_->file.reset(std::fopen(path.c_str(), output_->bytes > 0 ? "ae" : "we"));
  if (!output_->file) output_->fail();
}

std::int64_t MetricsWriter::bytes() const { return output_->bytes; }

void MetricsWriter::flush() {
  if (output_->file) output_->flush();
}

MetricsWriter::~MetricsWriter() {
  try {
    output_->write_epoch(output_->epochs.take_held_back());
  } catch (const core::StorageError&) {
    // The run is over and its results matter more than one line of metrics.
  }
}

void MetricsWriter::operator()(const Event& event) {
  if (const auto* epoch = std::get_if<EpochDone>(&event)) {
    output_->write_epoch(output_->epochs.next(*epoch));
    return;
  }
  const bool last = std::holds_alternative<RunFinished>(event);
  if (last) output_->write_epoch(output_->epochs.take_held_back());
  output_->write(event);
  if (last && output_->file) output_->flush();
}

std::vector<Event> read_metrics(const std::string& path) {
  const std::string whole = core::read_file(path);
  std::vector<Event> events;
  std::size_t row = 0;
  for (std::size_t begin = 0; begin < whole.size();) {
    const std::size_t end = whole.find('\n', begin);
    const std::string line = whole.substr(begin, end == std::string::npos ? end : end - begin);
    ++row;
    try {
      events.push_back(event_from_json(line));
    } catch (const std::exception& problem) {
      if (end == std::string::npos) break;
      throw core::DataError(path, row,
                            core::text("this line is no event (", problem.what(),
                                       "). Remove the line or use the file as it was written."));
    }
    if (end == std::string::npos) break;
    begin = end + 1;
  }
  return events;
}

}  // namespace sagips::record
