#include "sagips/core/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {
namespace {

using TerminalSink = spdlog::sinks::ansicolor_stderr_sink_mt;
using FileSink = spdlog::sinks::basic_file_sink_mt;

// spdlog makes missing folders and names no reason; a first opening by hand tells why it cannot be.
void check_can_append(const std::string& path) {
  std::FILE* file = std::fopen(path.c_str(), "a");
  if (!file)
    throw StorageError(path, text("the log cannot be written (", std::strerror(errno),
                                  "). Choose a place with write permission."));
  std::fclose(file);
}

}  // namespace

bool can_redraw(int descriptor) {
  const char* kind = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && text(kind ? kind : "") != "dumb";
}

TerminalSize terminal_size(int descriptor) {
  winsize window{};
  if (::ioctl(descriptor, TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
    return {window.ws_col, window.ws_row > 0 ? window.ws_row : TerminalSize{}.rows};
  const char* told = std::getenv("COLUMNS");
  double columns = 0;
  const bool is_known = told != nullptr && parse_number(told, columns);
  if (!is_known || !(columns >= 1 && columns <= 10'000)) return {};
  return {static_cast<std::size_t>(columns), TerminalSize{}.rows};
}

struct Log::Sinks {
  std::shared_ptr<TerminalSink> terminal;
  bool quiet = false;
  spdlog::logger logger{"sagips"};
};

Log::Log() : Log(Config{}) {}

Log::Log(Config config) : sinks_(std::make_unique<Sinks>()) {
  const auto mode = config.colour ? spdlog::color_mode::always : spdlog::color_mode::never;
  sinks_->terminal = std::make_shared<TerminalSink>(mode);
  sinks_->terminal->set_pattern("%H:%M:%S %^%l%$  %v");
  sinks_->logger.sinks().push_back(sinks_->terminal);
  // A run that crashes must leave its last line behind; there are few lines a second.
  sinks_->logger.flush_on(spdlog::level::info);
  sinks_->quiet = config.quiet;
  set_terminal(config.terminal);
}

Log::~Log() = default;
Log::Log(Log&&) noexcept = default;
Log& Log::operator=(Log&&) noexcept = default;

void Log::add_file(const std::string& path) {
  check_can_append(path);
  try {
    auto file = std::make_shared<FileSink>(path);
    file->set_pattern("%Y-%m-%d %H:%M:%S %l  %v");
    sinks_->logger.sinks().push_back(std::move(file));
  } catch (const spdlog::spdlog_ex& failure) {
    throw StorageError(path, text("the log cannot be written (", failure.what(), ")"));
  }
}

// The string_view overloads take the line as it is; the others would read braces as a format.
void Log::info(const std::string& line) {
  sinks_->logger.log(spdlog::level::info, spdlog::string_view_t(line));
}

void Log::warning(const std::string& line) {
  sinks_->logger.log(spdlog::level::warn, spdlog::string_view_t(line));
}

void Log::error(const std::string& line) {
  sinks_->logger.log(spdlog::level::err, spdlog::string_view_t(line));
}

bool Log::set_terminal(bool on) {
  const bool before = sinks_->terminal->level() != spdlog::level::off;
  const auto shown = sinks_->quiet ? spdlog::level::warn : spdlog::level::trace;
  sinks_->terminal->set_level(on ? shown : spdlog::level::off);
  return before;
}

bool Log::is_quiet() const { return sinks_->quiet; }

void Log::flush() { sinks_->logger.flush(); }

}  // namespace sagips::core
