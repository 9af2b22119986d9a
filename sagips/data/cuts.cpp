#include "sagips/data/cuts.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::data {
namespace {

using core::text;

// Longer signs first, so that "<=" is not read as "<".
constexpr auto at_most = [](const auto& value, double bound) { return value <= bound; };
constexpr auto at_least = [](const auto& value, double bound) { return value >= bound; };
constexpr auto equal = [](const auto& value, double bound) { return value == bound; };
constexpr auto unequal = [](const auto& value, double bound) { return value != bound; };
constexpr auto below = [](const auto& value, double bound) { return value < bound; };
constexpr auto above = [](const auto& value, double bound) { return value > bound; };
constexpr std::array<Comparison, 6> known_comparisons{{{"<=", ">=", -1, at_most, at_most},
                                                       {">=", "<=", 1, at_least, at_least},
                                                       {"==", "==", 0, equal, equal},
                                                       {"!=", "!=", 0, unequal, unequal},
                                                       {"<", ">", -1, below, below},
                                                       {">", "<", 1, above, above}}};

/// "70 < M < 110" as {"70", "M", "110"} and {<, <}.
struct Parts {
  std::vector<std::string> operands;
  std::vector<Comparison> comparisons;
};

[[noreturn]] void refuse(const std::string& condition, const std::string& problem) {
  throw core::ConfigError("cuts", text("'", condition, "' cannot be read: ", problem,
                                       ". Write it like '70 < M < 110' or 'pt1 > 20'."));
}

Parts parts_of(const std::string& condition) {
  Parts parts;
  std::string_view rest = condition;
  for (;;) {
    const std::size_t place = rest.find_first_of("<>=!");
    parts.operands.push_back(core::trim(rest.substr(0, place)));
    if (parts.operands.back().empty()) refuse(condition, "one side of a comparison is missing");
    if (place == std::string_view::npos) return parts;
    rest.remove_prefix(place);
    const auto* const found =
        std::find_if(known_comparisons.begin(), known_comparisons.end(),
                     [&](const Comparison& known) { return rest.starts_with(known.sign); });
    if (found == known_comparisons.end())
      refuse(condition, text("'", rest.front(), "' is no comparison"));
    rest.remove_prefix(found->sign.size());
    parts.comparisons.push_back(*found);
  }
}

// "20 < M" says of M what "M > 20" says.
Comparison mirrored(const Comparison& comparison) {
  return *std::find_if(
      known_comparisons.begin(), known_comparisons.end(),
      [&](const Comparison& known) { return known.sign == comparison.mirror_image; });
}

double number_of(const std::string& operand, const std::string& condition) {
  double number = 0.0;
  if (!core::parse_number(operand, number) || !std::isfinite(number))
    refuse(condition, text("'", operand, "' is no number"));
  return number;
}

bool is_number(const std::string& operand) {
  double ignored = 0.0;
  return core::parse_number(operand, ignored);
}

}  // namespace

Cut::Cut(const std::string& condition) : condition_(core::trim(condition)) {
  const Parts parts = parts_of(condition_);
  const auto& [operands, comparisons] = parts;
  if (comparisons.empty()) refuse(condition_, "there is no comparison");
  if (comparisons.size() > 2) refuse(condition_, "more than two comparisons");
  if (comparisons.size() == 1) {
    const bool column_first = !is_number(operands[0]) || is_number(operands[1]);
    column_ = operands[column_first ? 0 : 1];
    bounds_ = {{column_first ? comparisons[0] : mirrored(comparisons[0]),
                number_of(operands[column_first ? 1 : 0], condition_)}};
    return;
  }
  const bool one_direction =
      comparisons[0].direction == comparisons[1].direction && comparisons[0].direction != 0;
  if (!one_direction) refuse(condition_, "its two comparisons do not point the same way");
  column_ = operands[1];
  bounds_ = {{mirrored(comparisons[0]), number_of(operands[0], condition_)},
             {comparisons[1], number_of(operands[2], condition_)}};
}

NeededColumn Cut::column() const { return {column_, text("cut '", condition_, "'")}; }

bool Cut::passes(double value) const {
  return std::all_of(bounds_.begin(), bounds_.end(), [value](const Bound& bound) {
    return bound.comparison.holds(value, bound.number);
  });
}

torch::Tensor Cut::passes(const torch::Tensor& values) const {
  torch::Tensor all = torch::ones_like(values, torch::kBool);
  for (const Bound& bound : bounds_)
    all = all & bound.comparison.holds_of_each(values, bound.number);
  return all;
}

std::vector<std::size_t> passing_events(const Table& table, const std::vector<Cut>& cuts,
                                        std::vector<std::size_t>& left) {
  std::vector<std::size_t> kept(table.events());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  left.resize(cuts.size() + 1);
  left[0] += kept.size();
  for (std::size_t i = 0; i < cuts.size(); ++i) {
    const std::vector<double>& column = table.columns[find_column(table, cuts[i].column())];
    std::erase_if(kept, [&](std::size_t event) { return !cuts[i].passes(column[event]); });
    left[i + 1] += kept.size();
  }
  return kept;
}

void check_events_left(const std::string& file, const std::vector<Cut>& cuts,
                       const std::vector<std::size_t>& left) {
  if (left[0] == 0) throw core::DataError(file, "holds no events.");
  for (std::size_t i = 0; i < cuts.size(); ++i)
    if (left[i + 1] == 0)
      throw core::DataError(
          file, text("no event is left: of ", left[0], " events, ", left[i], " reached the cut '",
                     cuts[i].condition(), "' and it removed them all. Widen that cut."));
}

}  // namespace sagips::data
