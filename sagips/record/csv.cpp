#include "sagips/record/csv.hpp"

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

}  // namespace sagips::record
