#include "sagips/analysis/drawing/gnuplot.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <regex>
#include <sstream>
#include <system_error>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/process/child_process.hpp"
#include "sagips/core/text.hpp"

namespace sagips::analysis::drawing {
namespace {

/// Stands behind each picture in what gnuplot writes; no picture holds it.
constexpr const char* end_of_picture = "== sagips: end of a picture ==";

[[noreturn]] void fail(const std::string& action, int code) {
  throw core::Error(core::text("figure: cannot ", action, " (",
                               std::system_category().message(code),
                               "). Free memory or processes on this machine."));
}

/// A nameless file in memory. Unlike pipes, three of them cannot lock each other up when gnuplot
/// complains before it has read everything.
core::Descriptor memory_file(const std::string& content = {}) {
  core::Descriptor file(::memfd_create("gnuplot", MFD_CLOEXEC));
  if (file.number() < 0) fail("open a file in memory", errno);
  if (!core::write_all(file.number(), content)) fail("hand data to gnuplot", errno);
  ::lseek(file.number(), 0, SEEK_SET);
  return file;
}

std::string content_of(const core::Descriptor& file) {
  ::lseek(file.number(), 0, SEEK_SET);
  std::string content;
  if (!core::read_all(file.number(), content)) fail("read what gnuplot wrote", errno);
  return content;
}

/// Empty when gnuplot is not there.
std::optional<core::Ending> run_to_end(const core::ChildProgram& program) {
  try {
    return core::ChildProcess(program).wait();
  } catch (const core::StartError& error) {
    if (error.code() == ENOENT) return std::nullopt;
    fail("start gnuplot", error.code());
  }
}

/// What stands before each end; nothing of a picture that is empty, or that has no end.
std::vector<std::string> pictures_in(const std::string& output) {
  const std::string end = std::string(end_of_picture) + "\n";
  std::vector<std::string> pictures;
  std::size_t from = 0;
  for (auto at = output.find(end); at != std::string::npos && at > from;
       at = output.find(end, from)) {
    pictures.push_back(output.substr(from, at - from));
    from = at + end.size();
  }
  return pictures;
}

/// gnuplot echoes the command, points at the place, then says "line 12: what is wrong".
std::string first_complaint(const std::string& complaints) {
  static const std::regex message("line [0-9]+: (.+)");
  std::istringstream lines(complaints);
  std::string first;
  for (std::string line; std::getline(lines, line);) {
    std::smatch found;
    if (std::regex_search(line, found, message)) return found[1];
    if (first.empty()) first = core::trim(line);
  }
  return first.empty() ? "it ended without a word" : first;
}

}  // namespace

std::optional<std::vector<std::string>> run_gnuplot(const std::vector<std::string>& scripts) {
  std::string commands;
  for (const std::string& script : scripts)
    commands += script + "set output\nreset\nset print '-'\nprint '" + end_of_picture +
                "'\nset print\n";  // `set output` ends what the terminal writes
  const core::Descriptor input = memory_file(commands), output = memory_file(),
                         messages = memory_file();
  // -d: without the user's settings. By name, since "-" is read byte by byte: a million calls for a
  // picture of many points
  const auto ending = run_to_end({.arguments = {"gnuplot", "-d", "/dev/stdin"},
                                  .input = input.number(),
                                  .output = output.number(),
                                  .messages = messages.number()});
  if (!ending) return std::nullopt;
  std::vector<std::string> pictures = pictures_in(content_of(output));
  if (ending->exit_code != 0 || ending->signal != 0 || pictures.size() != scripts.size())
    throw core::Error(core::text("figure: gnuplot failed: ", first_complaint(content_of(messages)),
                                 ". Check that gnuplot 5.4 or newer with cairo is installed."));
  return pictures;
}

}  // namespace sagips::analysis::drawing
