#include "sagips/core/text.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>

namespace sagips::core {
namespace {

std::string words_for_non_finite(double value) {
  if (std::isnan(value)) return "nan";
  return value > 0 ? "inf" : "-inf";
}

// to_chars and not printf: a locale with a decimal comma would make unreadable files.
std::string formatted(double value, std::chars_format format, int precision) {
  // 1.8e308 has 309 digits before the point.
  std::string buffer(static_cast<std::size_t>(340 + std::max(precision, 0)), '\0');
  const auto end =
      std::to_chars(buffer.data(), buffer.data() + buffer.size(), value, format, precision);
  buffer.resize(static_cast<std::size_t>(end.ptr - buffer.data()));
  return buffer;
}

bool starts_letter(char byte) { return (byte & 0xC0) != 0x80; }  // of UTF-8

std::string two_digits(std::int64_t value) { return text(value < 10 ? "0" : "", value); }

std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = row[0];
    row[0] = i + 1;
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t replaced = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string fixed(double value, int digits) {
  if (!std::isfinite(value)) return words_for_non_finite(value);
  std::string shown = formatted(value, std::chars_format::fixed, std::max(digits, 0));
  // "-0.00" reads as if a sign had been measured.
  if (shown.find_first_of("123456789") == std::string::npos && shown.front() == '-')
    shown.erase(0, 1);
  return shown;
}

std::string rounded(double value, int digits) {
  const std::string shown = fixed(value, digits);
  const bool is_lost =
      value != 0 && std::isfinite(value) && shown.find_first_of("123456789") == std::string::npos;
  return is_lost ? significant(value, 2) : shown;
}

std::string significant(double value, int digits) {
  if (!std::isfinite(value)) return words_for_non_finite(value);
  const int after_first = std::max(digits, 1) - 1;
  const std::string scientific = formatted(value, std::chars_format::scientific, after_first);
  // The exponent is read from the rounded text: 9.996 with three digits is 10.0, not 9.996.
  const int exponent = std::atoi(scientific.c_str() + scientific.find('e') + 1);
  double rounded = 0.0;
  std::from_chars(scientific.data(), scientific.data() + scientific.size(), rounded);
  const std::string plain = fixed(rounded, std::max(after_first - exponent, 0));
  return plain.size() <= scientific.size() ? plain : scientific;
}

std::string round_trip(double value) {
  if (!std::isfinite(value)) return words_for_non_finite(value);
  char buffer[32];
  const auto end = std::to_chars(buffer, buffer + sizeof buffer, value);
  std::string shown(buffer, end.ptr);
  // "1e-04" to "1e-4": to_chars pads the exponent as printf does.
  const std::size_t exponent = shown.find('e');
  if (exponent == std::string::npos) return shown;
  if (shown[exponent + 1] == '+') shown.erase(exponent + 1, 1);
  const std::size_t digits = exponent + (shown[exponent + 1] == '-' ? 2 : 1);
  if (shown[digits] == '0') shown.erase(digits, 1);
  return shown;
}

std::string with_thousands(std::int64_t count) {
  const std::string digits = std::to_string(count);
  const std::size_t first = digits.front() == '-' ? 1 : 0;
  std::string grouped;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > first && (digits.size() - i) % 3 == 0) grouped += ',';
    grouped += digits[i];
  }
  return grouped;
}

std::string duration(double seconds) {
  if (!(std::abs(seconds) < 1e15)) return "unknown";
  const std::int64_t whole = std::max<std::int64_t>(std::llround(seconds), 0);
  constexpr std::int64_t minute = 60, hour = 3600, day = 86400;
  if (whole < minute) return text(whole, " s");
  if (whole < hour) return text(whole / minute, " min ", two_digits(whole % minute), " s");
  if (whole < 2 * day) return text(whole / hour, " h ", two_digits(whole % hour / minute), " min");
  return text(whole / day, " d ", two_digits(whole % day / hour), " h");
}

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  std::string whole;
  for (const std::string& part : parts) {
    if (&part != &parts.front()) whole += separator;
    whole += part;
  }
  return whole;
}

std::vector<std::string> split(std::string_view whole, char separator) {
  std::vector<std::string> parts;
  std::size_t start = 0;
  for (;;) {
    const std::size_t end = whole.find(separator, start);
    parts.emplace_back(whole.substr(start, end - start));
    if (end == std::string_view::npos) return parts;
    start = end + 1;
  }
}

std::string in_small_letters(std::string whole) {
  for (char& letter : whole)
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
  return whole;
}

std::string trim(std::string_view whole) {
  constexpr std::string_view blanks = " \t\r\n\f\v";
  const std::size_t first = whole.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return std::string(whole.substr(first, whole.find_last_not_of(blanks) - first + 1));
}

std::string nearest(std::string_view word, const std::vector<std::string>& candidates) {
  const std::size_t allowed = std::max<std::size_t>(2, word.size() / 3);
  std::size_t best_distance = std::numeric_limits<std::size_t>::max();
  const std::string* best = nullptr;
  for (const std::string& candidate : candidates) {
    const std::size_t distance = edit_distance(word, candidate);
    // A distance as long as the words means that they share nothing ("M" and "Q1").
    const bool shares_letters = distance < std::max(word.size(), candidate.size());
    if (distance > allowed || !shares_letters || distance >= best_distance) continue;
    best_distance = distance;
    best = &candidate;
  }
  return best ? *best : std::string{};
}

std::string suggestion(std::string_view word, const std::vector<std::string>& candidates) {
  const std::string near = nearest(word, candidates);
  if (!near.empty()) return text(", did you mean '", near, "'?");
  return candidates.empty() ? std::string{} : text(", known: ", join(candidates, ", "));
}

std::string excerpt(std::string_view whole) {
  constexpr std::size_t longest = 40;
  if (whole.size() <= longest) return std::string(whole);
  std::size_t end = longest;
  // Not inside a letter of UTF-8: its later bytes begin with the bits 10.
  while (end > 0 && (static_cast<unsigned char>(whole[end]) & 0xc0) == 0x80) --end;
  return text(whole.substr(0, end), "...");
}

std::size_t letters(std::string_view line) {
  return static_cast<std::size_t>(std::count_if(line.begin(), line.end(), starts_letter));
}

std::string cut_to_width(std::string_view line, std::size_t width) {
  std::string shown;
  std::size_t count = 0;
  for (const char byte : line) {
    if (starts_letter(byte) && ++count > width) break;
    shown += static_cast<unsigned char>(byte) < ' ' ? ' ' : byte;
  }
  shown.erase(shown.find_last_not_of(' ') + 1);
  return shown;
}

bool parse_number(std::string_view word, double& value) {
  if (word.starts_with('+')) word.remove_prefix(1);
  if (word.empty() || word.front() == '+') return false;
  double parsed = 0.0;
  const auto result = std::from_chars(word.data(), word.data() + word.size(), parsed);
  if (result.ec != std::errc{} || result.ptr != word.data() + word.size()) return false;
  value = parsed;
  return true;
}

}  // namespace sagips::core
