#pragma once
#include "sagips/data/examples.hpp"

namespace sagips::testing {

inline data::Examples all_of(const data::ExampleRows& rows) { return rows.first(rows.rows()); }

inline torch::Tensor all_of(const data::ArrayRows& rows) {
  return rows.read(torch::arange(rows.rows(), torch::kInt64));
}

inline torch::Tensor read_array(const data::ArraySource& source,
                                const std::vector<std::string>& without = {}) {
  return all_of(data::ArrayRows(source, {}, without));
}

}  // namespace sagips::testing
