#include "sagips/record/json_lines.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <system_error>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::record {

namespace {

// Without the beginning of a line that a crash has cut off.
void begin_new_line(int file, const std::string& path) {
  const off_t size = ::lseek(file, 0, SEEK_END);
  char last = '\n';
  if (size > 0 && ::pread(file, &last, 1, size - 1) != 1) refuse_to_write(path);
  if (last == '\n') return;
  const std::string content = core::read_file(path);
  const auto kept = content.rfind('\n');
  if (::ftruncate(file, kept == std::string::npos ? 0 : static_cast<off_t>(kept + 1)) != 0)
    refuse_to_write(path);
}

}  // namespace

void refuse_to_write(const std::string& path) {
  throw core::StorageError(path,
                           core::text("cannot be written (", std::system_category().message(errno),
                                      "). Free space or give the right to write."));
}

void append_json_line(const std::string& path, const Json& object) {
  const std::string line = file_text(object, -1);
  const core::Descriptor file(::open(path.c_str(), O_RDWR | O_APPEND | O_CREAT | O_CLOEXEC, 0666));
  if (file.number() < 0) refuse_to_write(path);
  begin_new_line(file.number(), path);
  if (!core::write_all(file.number(), line)) refuse_to_write(path);
}

void read_json_lines(const std::string& path, const std::string& what,
                     const std::function<void(const Json&)>& use) {
  const std::string content = core::read_file(path);
  std::size_t row = 0;
  for (std::size_t start = 0; start < content.size(); ++row) {
    const auto end = content.find('\n', start);
    if (end == std::string::npos) return;  // cut off
    try {
      use(Json::parse(content.substr(start, end - start)));
    } catch (const std::exception& error) {
      throw core::DataError(path, row + 1,
                            core::text("is no ", what, " (", error.what(), "). Remove the line."));
    }
    start = end + 1;
  }
}

}  // namespace sagips::record
