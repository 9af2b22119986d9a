#include "sagips/data/dataset.hpp"

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/whole_file.hpp"

namespace sagips::data {

void DatasetConfig::file_fields(core::FieldList& list) {
  list.add_path("file", file, "measured events: .npy, .csv, .hdf5 or .h5; '' makes toy data");
  list.add("hdf5_dataset", hdf5_dataset, "data set, or group of the columns, inside an HDF5 file");
  list.add("columns", columns,
           "observables: names in .csv and in a group of HDF5 data sets, else numbers from 0; "
           "[] takes the workload's own");
  list.add("cuts", cuts, "conditions that every kept event fulfils, such as '70 < M < 110'");
  list.add("weight_column", weight_column, "column of event weights; '' for none");
  list.add("reference", reference, "named numbers that the objective compares with, e.g. norm_1");
  list.add("maximum_events", maximum_events, "only the first ones that pass the cuts; 0: all",
           core::Range::at_least(0));
  core::needs(list, file.empty() || format_of(file) == FileFormat::hdf5, "an HDF5 file",
              {"hdf5_dataset"});
}

void DatasetConfig::fields(core::FieldList& list) {
  file_fields(list);
  list.add("fraction", fraction, "share of the events that is kept, drawn without replacement",
           {0.0, 1.0, true, false});
  list.add("bootstrap", bootstrap, "draw as many events again, with replacement (Efron)");
  list.add("seed", seed, "seed of toy events, sub-sample and held-out events; -1: run.seed",
           core::Range::between(-1, 9e15));
  list.add("bootstrap_seed", bootstrap_seed, "seed of the bootstrap; -1: data.seed",
           core::Range::between(-1, 9e15));
  core::needs(list, bootstrap, "bootstrap=true", {"bootstrap_seed"});
  list.add("held_out", held_out, "share of the events kept aside, never trained on",
           core::Range::between(0.0, 0.9));
  list.add("memory_GB", memory_GB,
           "events that take more in single precision are kept in a file of TMPDIR (or /tmp)",
           core::Range::between(0, 1e9));
}

std::vector<std::string> DatasetConfig::keys_of_a_file() const {
  const std::vector<std::pair<std::string, bool>> keys = {{"hdf5_dataset", !hdf5_dataset.empty()},
                                                          {"columns", !columns.empty()},
                                                          {"cuts", !cuts.empty()},
                                                          {"weight_column", !weight_column.empty()},
                                                          {"reference", !reference.empty()},
                                                          {"maximum_events", maximum_events > 0}};
  std::vector<std::string> set;
  for (const auto& [key, is_set] : keys)
    if (is_set) set.push_back(key);
  return set;
}

void DatasetConfig::check_toy_data(const std::string& group) const {
  const std::vector<std::string> keys = keys_of_a_file();
  if (keys.empty()) return;
  const std::string& key = keys.front();
  throw core::ConfigError(group + "." + key,
                          core::text("applies to a file of measured events, and ", group,
                                     ".file is empty (toy data would ignore it). Set ", group,
                                     ".file, or remove ", group, ".", key, "."));
}

EqualEvents equal_events(const torch::Tensor& values) {
  constexpr std::int64_t most = 1'000'000;
  EqualEvents found;
  found.events = std::min(values.size(0), most);
  const torch::Tensor rows = values.narrow(0, 0, found.events).contiguous();
  const torch::Tensor fractional = rows != rows.round();
  found.continuous = fractional.any(0).sum().item<std::int64_t>();
  const torch::Tensor fractional_rows = fractional.any(1).contiguous();
  const bool* const is_fractional = fractional_rows.data_ptr<bool>();
  const auto* const bytes = static_cast<const char*>(rows.data_ptr());
  const std::size_t width = static_cast<std::size_t>(rows.size(1)) * rows.element_size();
  std::unordered_set<std::string_view> seen;
  for (std::size_t i = 0; i < static_cast<std::size_t>(found.events); ++i)
    if (is_fractional[i] && !seen.emplace(bytes + i * width, width).second) ++found.equal;
  return found;
}

}  // namespace sagips::data
