#pragma once
#include <string>
#include <string_view>
#include <vector>

namespace sagips::analysis::report {

/// Any text as HTML, in elements and in quoted attributes; bytes that are no UTF-8 become "?".
std::string escape(std::string_view text);

/// <tag attributes>content</tag>. attributes: as they stand in the tag; content: HTML
std::string element(const std::string& tag, const std::string& attributes,
                    const std::string& content);

/// A paragraph of plain text.
std::string paragraph(const std::string& text, const std::string& style_class = "");

/// What is folded away until a reader opens it. content: HTML
std::string details(const std::string& summary, const std::string& content);

/// A table that scrolls inside itself where the page is narrow. Cells are plain text; the first
/// column names its row. Columns that nobody fills are left out.
struct Table {
  std::string caption;
  std::vector<std::string> header;
  std::vector<std::vector<std::string>> rows{};
  std::string note{};                       ///< below it, small
  std::string style_class{};                ///< "text": cells are words, not numbers
  std::vector<std::string> explanations{};  ///< of the header's cells; shown when pointed at
};
std::string html(const Table& table);

/// The same of parts that are HTML already. attributes: of the table; head: its rows
std::string wide_table(const std::string& attributes, const std::string& caption,
                       const std::string& head, const std::string& body);

}  // namespace sagips::analysis::report
