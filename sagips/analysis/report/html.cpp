#include "sagips/analysis/report/html.hpp"

#include <algorithm>

namespace sagips::analysis::report {
namespace {

/// Bytes of the UTF-8 letter that begins here; 0: it is none.
std::size_t letter_size(std::string_view text) {
  const auto first = static_cast<unsigned char>(text[0]);
  const std::size_t size = first < 0x80   ? 1
                           : first < 0xC2 ? 0
                           : first < 0xE0 ? 2
                           : first < 0xF0 ? 3
                           : first < 0xF5 ? 4
                                          : 0;
  if (size == 0 || text.size() < size) return 0;
  for (std::size_t i = 1; i < size; ++i)
    if ((static_cast<unsigned char>(text[i]) & 0xC0) != 0x80) return 0;
  return size;
}

/// With a true minus sign.
std::string cell_text(const std::string& cell) {
  const bool is_negative = cell.size() > 1 && cell[0] == '-' && cell[1] >= '0' && cell[1] <= '9';
  return escape(is_negative ? "−" + cell.substr(1) : cell);
}

bool is_filled(const Table& table, std::size_t column) {
  return std::any_of(table.rows.begin(), table.rows.end(), [column](const auto& row) {
    return column < row.size() && !row[column].empty();
  });
}

std::string header_row(const Table& table, const std::vector<bool>& shown) {
  std::string cells;
  for (std::size_t i = 0; i < table.header.size(); ++i) {
    if (!shown[i]) continue;
    const bool explained = i < table.explanations.size() && !table.explanations[i].empty();
    const std::string why = explained ? " title=\"" + escape(table.explanations[i]) + "\"" : "";
    cells += element("th", "scope=\"col\"" + why, escape(table.header[i]));
  }
  return element("tr", "", cells);
}

}  // namespace

std::string escape(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const std::size_t size = letter_size(text);
    if (size == 0)
      result += '?';
    else if (text[0] == '&')
      result += "&amp;";
    else if (text[0] == '<')
      result += "&lt;";
    else if (text[0] == '>')
      result += "&gt;";
    else if (text[0] == '"')
      result += "&quot;";
    else
      result += text.substr(0, size);
    text.remove_prefix(std::max<std::size_t>(size, 1));
  }
  return result;
}

std::string element(const std::string& tag, const std::string& attributes,
                    const std::string& content) {
  return "<" + tag + (attributes.empty() ? "" : " " + attributes) + ">" + content + "</" + tag +
         ">\n";
}

std::string paragraph(const std::string& text, const std::string& style_class) {
  return element("p", style_class.empty() ? "" : "class=\"" + style_class + "\"", escape(text));
}

std::string details(const std::string& summary, const std::string& content) {
  return element("details", "", element("summary", "", escape(summary)) + content);
}

std::string wide_table(const std::string& attributes, const std::string& caption,
                       const std::string& head, const std::string& body) {
  const std::string inner = element("caption", "", escape(caption)) + element("thead", "", head) +
                            element("tbody", "", body);
  return element("div", "class=\"wide\" tabindex=\"0\"", element("table", attributes, inner));
}

std::string html(const Table& table) {
  std::vector<bool> shown;
  for (std::size_t i = 0; i < table.header.size(); ++i)
    shown.push_back(i == 0 || is_filled(table, i));
  std::string body;
  for (const auto& row : table.rows) {
    std::string cells;
    for (std::size_t i = 0; i < std::min(row.size(), shown.size()); ++i)
      if (shown[i])
        cells += i == 0 ? element("th", "scope=\"row\"", escape(row[i]))
                        : element("td", "", cell_text(row[i]));
    body += element("tr", "", cells);
  }
  const std::string style = table.style_class.empty() ? "" : "class=\"" + table.style_class + "\"";
  return wide_table(style, table.caption, header_row(table, shown), body) +
         (table.note.empty() ? "" : paragraph(table.note, "note"));
}

}  // namespace sagips::analysis::report
