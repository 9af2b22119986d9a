#pragma once
#include <cstdint>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace sagips::core {

/// Joins the printed forms of all arguments. No public header may include fmt: LibTorch's folder
/// carries another one.
template <class... Parts>
std::string text(const Parts&... parts) {
  std::ostringstream out;
  (out << ... << parts);
  return out.str();
}

/// `value` with `digits` after the point; "nan" and "inf" in words.
std::string fixed(double value, int digits);

/// The same, but a number that this would show as 0 keeps two digits: 0.37 without any is "0.37".
std::string rounded(double value, int digits);

/// `value` with `digits` significant digits, in the shorter of the plain and the scientific form.
std::string significant(double value, int digits);

/// The shortest text that reads back as the same double (for files).
std::string round_trip(double value);

/// "1,234,567".
std::string with_thousands(std::int64_t count);

/// "45 s", "3 min 20 s", "2 h 05 min".
std::string duration(double seconds);

std::string join(const std::vector<std::string>& parts, std::string_view separator);
std::vector<std::string> split(std::string_view whole, char separator);
std::string trim(std::string_view whole);
/// A to Z as a to z.
std::string in_small_letters(std::string whole);

/// The candidate with the smallest edit distance (Levenshtein); empty when there is none within a
/// third of the length (at least 2).
std::string nearest(std::string_view word, const std::vector<std::string>& candidates);

/// ", did you mean 'x'?" or, without a near candidate, ", known: a, b, c".
std::string suggestion(std::string_view word, const std::vector<std::string>& candidates);

/// The beginning of a foreign text, at most 40 bytes, as a message may quote it.
std::string excerpt(std::string_view whole);

/// Letters of UTF-8.
std::size_t letters(std::string_view line);
/// At most this many letters, no blanks at the end; control characters, which could move the cursor of
/// a terminal, become blanks.
std::string cut_to_width(std::string_view line, std::size_t width);

/// Whole text as a number; false when anything is left over.
bool parse_number(std::string_view word, double& value);

}  // namespace sagips::core
