#include "sagips/data/cuts.hpp"

#include <array>
#include <cmath>
#include <numeric>
#include <string_view>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::data {
namespace {

using core::text;

struct Sign {
  std::string_view text;
  Comparison comparison;
};

// Longer signs first, so that "<=" is not read as "<".
constexpr std::array<Sign, 6> signs = {{{"<=", Comparison::at_most},
                                        {">=", Comparison::at_least},
                                        {"==", Comparison::equal},
                                        {"!=", Comparison::unequal},
                                        {"<", Comparison::below},
                                        {">", Comparison::above}}};

/// "70 < M < 110" as {"70", "M", "110"} and {below, below}.
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
    const Sign* found = nullptr;
    for (const Sign& sign : signs)
      if (!found && rest.starts_with(sign.text)) found = &sign;
    if (!found) refuse(condition, text("'", rest.front(), "' is no comparison"));
    rest.remove_prefix(found->text.size());
    parts.comparisons.push_back(found->comparison);
  }
}

// "20 < M" says of M what "M > 20" says.
Comparison mirrored(Comparison comparison) {
  switch (comparison) {
    case Comparison::below:
      return Comparison::above;
    case Comparison::at_most:
      return Comparison::at_least;
    case Comparison::above:
      return Comparison::below;
    case Comparison::at_least:
      return Comparison::at_most;
    default:
      return comparison;
  }
}

bool points_down(Comparison comparison) {
  return comparison == Comparison::below || comparison == Comparison::at_most;
}

bool points_up(Comparison comparison) {
  return comparison == Comparison::above || comparison == Comparison::at_least;
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
  const bool one_direction = (points_down(comparisons[0]) && points_down(comparisons[1])) ||
                             (points_up(comparisons[0]) && points_up(comparisons[1]));
  if (!one_direction) refuse(condition_, "its two comparisons do not point the same way");
  column_ = operands[1];
  bounds_ = {{mirrored(comparisons[0]), number_of(operands[0], condition_)},
             {comparisons[1], number_of(operands[2], condition_)}};
}

NeededColumn Cut::column() const { return {column_, text("cut '", condition_, "'")}; }

bool Cut::passes(double value) const {
  for (const Bound& bound : bounds_) {
    bool holds = false;
    switch (bound.comparison) {
      case Comparison::below:
        holds = value < bound.number;
        break;
      case Comparison::at_most:
        holds = value <= bound.number;
        break;
      case Comparison::above:
        holds = value > bound.number;
        break;
      case Comparison::at_least:
        holds = value >= bound.number;
        break;
      case Comparison::equal:
        holds = value == bound.number;
        break;
      case Comparison::unequal:
        holds = value != bound.number;
        break;
    }
    if (!holds) return false;
  }
  return true;
}

std::vector<std::size_t> passing_events(const Table& table, const std::vector<Cut>& cuts) {
  if (table.events() == 0) throw core::DataError(table.file, "holds no events.");
  std::vector<std::size_t> kept(table.events());
  std::iota(kept.begin(), kept.end(), std::size_t{0});
  for (const Cut& cut : cuts) {
    const std::vector<double>& column = table.columns[find_column(table, cut.column())];
    const std::size_t before = kept.size();
    std::erase_if(kept, [&](std::size_t event) { return !cut.passes(column[event]); });
    if (!kept.empty()) continue;
    throw core::DataError(table.file, text("no event is left: of ", table.events(), " events, ",
                                           before, " reached the cut '", cut.condition(),
                                           "' and it removed them all. Widen that cut."));
  }
  return kept;
}

}  // namespace sagips::data
