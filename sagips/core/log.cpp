#include "sagips/core/log.hpp"

#include <spdlog/logger.h>
#include <spdlog/sinks/ansicolor_sink.h>
#include <spdlog/sinks/basic_file_sink.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <mutex>
#include <sstream>

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

std::string target_of(const std::string& process, int descriptor) {
  std::error_code error;
  return std::filesystem::read_symlink(text("/proc/", process, "/fd/", descriptor), error).string();
}

// "" where it cannot be told.
std::string parent_of(const std::string& process) {
  std::ifstream file(text("/proc/", process, "/stat"));
  std::string line, state, parent;
  std::getline(file, line);
  std::istringstream(line.substr(line.rfind(')') + 1)) >> state >> parent;
  return parent;
}

// A launcher gives its processes a terminal even when it writes what they print into a file. Whether it does
// is seen at the nearest process above whose output leads elsewhere; srun's own stands on another machine.
bool launcher_has_terminal(int descriptor) {
  const auto is_set = [](const char* name) { return std::getenv(name) != nullptr; };
  const bool mpirun = is_set("OMPI_COMM_WORLD_SIZE") || is_set("PMI_RANK") || is_set("PMIX_RANK");
  if (!mpirun && !is_set("SLURM_PROCID")) return true;
  if (is_set("OMPI_MCA_orte_output_filename")) return false;
  const std::string own = target_of("self", descriptor);
  std::string process = parent_of("self"), target = target_of(process, descriptor);
  while (mpirun && target == own && !process.empty())
    process = parent_of(process), target = target_of(process, descriptor);
  return target.starts_with("/dev/pts/") || target.starts_with("/dev/tty");
}

}  // namespace

bool can_redraw(int descriptor) {
  const char* kind = std::getenv("TERM");
  return ::isatty(descriptor) == 1 && text(kind ? kind : "") != "dumb" &&
         launcher_has_terminal(descriptor);
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
  std::mutex mutex;       ///< of `warnings`
  std::mutex line_mutex;  ///< of what stands below, and of a line among it
  std::function<void()> erase_below, draw_below;
  std::vector<Warning> warnings;
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
    for (const Warning& one : warnings()) file->log({"sagips", spdlog::level::warn, one.text});
    sinks_->logger.sinks().push_back(std::move(file));
  } catch (const spdlog::spdlog_ex& failure) {
    throw StorageError(path, text("the log cannot be written (", failure.what(), ")"));
  }
}

// The string_view overload takes the line as it is; the others would read braces as a format.
void Log::write(int level, const std::string& line) {
  const std::lock_guard lock(sinks_->line_mutex);
  if (sinks_->erase_below) sinks_->erase_below();
  sinks_->logger.log(static_cast<spdlog::level::level_enum>(level), spdlog::string_view_t(line));
  if (sinks_->draw_below) sinks_->draw_below();
}

void Log::set_below(std::function<void()> erase, std::function<void()> draw) {
  const std::lock_guard lock(sinks_->line_mutex);
  sinks_->erase_below = std::move(erase);
  sinks_->draw_below = std::move(draw);
}

void Log::info(const std::string& line) { write(spdlog::level::info, line); }

void Log::warning(const std::string& code, const std::string& line) {
  constexpr std::ptrdiff_t most = 100;  // of a code: a long job may say the same of each epoch
  {
    const std::lock_guard lock(sinks_->mutex);
    std::vector<Warning>& all = sinks_->warnings;
    Warning said{code, line};
    const auto alike = [&](const Warning& one) { return one.code == code; };
    if (std::count(all.begin(), all.end(), said) == 0 &&
        std::count_if(all.begin(), all.end(), alike) < most)
      all.push_back(std::move(said));
  }
  write(spdlog::level::warn, line);
}

std::vector<Warning> Log::warnings() const {
  const std::lock_guard lock(sinks_->mutex);
  return sinks_->warnings;
}

void Log::error(const std::string& line) { write(spdlog::level::err, line); }

bool Log::set_terminal(bool on) {
  const bool before = sinks_->terminal->level() != spdlog::level::off;
  const auto shown = sinks_->quiet ? spdlog::level::warn : spdlog::level::trace;
  sinks_->terminal->set_level(on ? shown : spdlog::level::off);
  return before;
}

bool Log::is_quiet() const { return sinks_->quiet; }

void Log::flush() { sinks_->logger.flush(); }

}  // namespace sagips::core
