#include "sagips/record/csv.hpp"

#include <utility>

namespace sagips::record {

std::string csv_cell(const std::string& content) {
  if (content.find_first_of(",\"\n\r") == std::string::npos) return content;
  std::string cell = "\"";
  for (const char letter : content) {
    if (letter == '"') cell += '"';
    cell += letter;
  }
  return cell + '"';
}

std::vector<std::vector<std::string>> csv_rows(std::string_view content) {
  std::vector<std::vector<std::string>> rows;
  std::vector<std::string> row;
  std::string cell;
  bool quoted = false, begun = false;
  const auto end_row = [&] {
    if (begun) {
      row.push_back(std::exchange(cell, {}));
      rows.push_back(std::exchange(row, {}));
    }
    begun = false;
  };
  for (std::size_t i = 0; i < content.size(); ++i) {
    const char letter = content[i];
    if (quoted) {
      const bool is_end = letter == '"' && (i + 1 == content.size() || content[i + 1] != '"');
      if (is_end) quoted = false;
      if (!is_end) cell += letter;
      if (!is_end && letter == '"') ++i;  // a doubled quote is one
    } else if (letter == '\n') {
      end_row();
    } else if (letter != '\r') {
      begun = true;
      if (letter == '"')
        quoted = true;
      else if (letter == ',')
        row.push_back(std::exchange(cell, {}));
      else
        cell += letter;
    }
  }
  end_row();
  return rows;
}

}  // namespace sagips::record
