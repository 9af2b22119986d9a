#include "sagips/core/csv.hpp"

#include <algorithm>
#include <string_view>

#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {

namespace {

/// Cuts a text into rows of cells.
class CsvScanner {
 public:
  CsvScanner(std::string_view content, const std::string& file)
      : rest_(without_byte_order_mark(content)), file_(file) {
    if (rest_.starts_with("\xff\xfe") || rest_.starts_with("\xfe\xff"))
      throw DataError(file_, "is text in UTF-16. Write it in UTF-8.");
  }

  /// The line where the row begins; 0 when only blank lines are left.
  std::size_t next(std::vector<std::string>& cells) {
    if (rest_.find_first_not_of(" \t\r\n") == std::string_view::npos) return 0;
    line_ = next_line_;
    std::size_t count = 0;
    do {
      if (count == cells.size()) cells.emplace_back();
      read_cell(cells[count++]);
    } while (take(','));
    cells.resize(count);
    if (line_ == 1 && count == 1) check_separator(cells[0]);
    if (take('\r') && !rest_.empty() && rest_.front() != '\n')
      refuse("has a carriage return in its middle");
    if (take('\n')) ++next_line_;
    return line_;
  }

 private:
  [[noreturn]] void refuse(const std::string& problem) const {
    throw DataError(file_, line_, text("the line ", problem, ". Correct it."));
  }
  // Looks at a first row with one cell. Names may hold a space, so numbers below them tell.
  void check_separator(const std::string& cell) const {
    std::string below(rest_.substr(0, rest_.find('\n', 1)));
    std::replace(below.begin(), below.end(), '\t', ' ');
    const auto is_number = [number = 0.0](const std::string& part) mutable {
      return trim(part).empty() || parse_number(trim(part), number);
    };
    const std::vector<std::string> parts = split(trim(below), ' ');
    const char* const found = cell.find(';') != std::string::npos    ? "semicolons"
                              : cell.find('\t') != std::string::npos ? "tabs"
                              : cell.find(' ') != std::string::npos && parts.size() > 1 &&
                                      std::all_of(parts.begin(), parts.end(), is_number)
                                  ? "spaces"
                                  : nullptr;
    if (found)
      throw DataError(file_, text("has cells separated by ", found, " ('", excerpt(cell),
                                  "'). Separate them by commas, with points in numbers."));
  }
  bool take(char wanted) {
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void read_cell(std::string& cell) {
    cell.clear();
    const std::size_t quote = rest_.find_first_not_of(' ');
    if (quote != std::string_view::npos && rest_[quote] == '"') rest_.remove_prefix(quote);
    if (take('"')) return read_quoted(cell);
    const std::size_t end = std::min(rest_.find_first_of(",\r\n"), rest_.size());
    cell = trim(rest_.substr(0, end));
    rest_.remove_prefix(end);
  }
  void read_quoted(std::string& cell) {
    for (;;) {
      const std::size_t end = rest_.find('"');
      if (end == std::string_view::npos) refuse("opens a quote that is never closed");
      cell += rest_.substr(0, end);
      rest_.remove_prefix(end + 1);
      if (!take('"')) break;
      cell += '"';
    }
    next_line_ += static_cast<std::size_t>(std::count(cell.begin(), cell.end(), '\n'));
    if (!rest_.empty() && std::string_view(",\r\n").find(rest_.front()) == std::string_view::npos)
      refuse("has text behind a closing quote");
  }

  std::string_view rest_;
  const std::string& file_;
  std::size_t line_ = 1;
  std::size_t next_line_ = 1;
};

}  // namespace

std::string_view without_byte_order_mark(std::string_view content) {
  constexpr std::string_view mark = "\xef\xbb\xbf";
  if (content.starts_with(mark)) content.remove_prefix(mark.size());
  return content;
}

void for_each_csv_row(
    const std::string& path,
    const std::function<void(const std::vector<std::string>& cells, std::size_t line)>& use) {
  for_each_csv_row(read_file(path), path, use);
}

void for_each_csv_row(
    const std::string& content, const std::string& path,
    const std::function<void(const std::vector<std::string>& cells, std::size_t line)>& use) {
  CsvScanner scanner(content, path);
  std::vector<std::string> cells;
  while (const std::size_t line = scanner.next(cells)) use(cells, line);
}

std::vector<std::vector<std::string>> read_csv_rows(const std::string& path) {
  std::vector<std::vector<std::string>> rows;
  for_each_csv_row(path, [&](const std::vector<std::string>& cells, std::size_t) {
    if (cells.size() > 1 || !cells.front().empty()) rows.push_back(cells);
  });
  return rows;
}

std::string csv_cell(const std::string& content) {
  const bool plain = content.find_first_of(",\"\n\r") == std::string::npos;
  if (plain && trim(content) == content) return content;
  std::string cell = "\"";
  for (const char letter : content) {
    if (letter == '"') cell += '"';
    cell += letter;
  }
  return cell + '"';
}

std::string csv_cell(double number) { return round_trip(number); }

}  // namespace sagips::core
