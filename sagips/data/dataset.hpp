#pragma once
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/random.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::data {

/// Where measured events come from and what is kept of them.
struct DatasetConfig {
  std::string file;          ///< .npy, .csv, .hdf5 or .h5; empty: the workload makes toy data
  std::string hdf5_dataset;  ///< path inside an HDF5 file
  std::vector<std::string>
      columns;  ///< CSV: names; .npy and HDF5: "0", "1", ... ; empty: the workload's own choice
  std::vector<std::string> cuts;            ///< "70 < M < 110", "pt1 > 20", joined by and
  std::string weight_column;                ///< name or number as in `columns`
  std::map<std::string, double> reference;  ///< named reference numbers, e.g. norm_1
  std::int64_t maximum_events = 0;          ///< 0: all
  double fraction = 1.0;   ///< share of the events that is kept, drawn without replacement
  bool bootstrap = false;  ///< draw as many events again, with replacement
  /// What chance does to the data, apart from what it does to a training: toy events, sub-sample and
  /// held-out events; and which bootstrap it is. -1: run.seed, and data.seed.
  std::int64_t seed = -1, bootstrap_seed = -1;
  std::uint64_t seed_or(std::uint64_t other) const {
    return seed < 0 ? other : static_cast<std::uint64_t>(seed);
  }
  std::uint64_t bootstrap_seed_or(std::uint64_t other) const {
    return bootstrap_seed < 0 ? other : static_cast<std::uint64_t>(bootstrap_seed);
  }
  /// The rows of a .npy or HDF5 file that this rank reads; not a key of the config.
  core::RowShare rows;
  double held_out = 0.1;  ///< share kept aside for distances between events, never trained on
  double memory_GB = 4;   ///< see Dataset::memory_bytes

  void fields(core::FieldList& list);
  /// The fields that belong to one file.
  void file_fields(core::FieldList& list);
  /// The keys of one file, its name aside, that are set.
  std::vector<std::string> keys_of_a_file() const;
  /// Toy data come as the pipeline makes them, so what selects from a file must not be set then.
  /// throws: ConfigError that names the first such key, of this group of the config
  void check_toy_data(const std::string& group = "data") const;
};

/// Measured events.
/// shape: values [events, observables] float32; weights [events] float32 when there are any
struct Dataset {
  torch::Tensor values;
  std::optional<torch::Tensor> weights;
  std::vector<std::string> observables;
  std::map<std::string, double> reference;
  std::string origin;  ///< file, or "toy data: ..."
  /// Values that take more lie in a file that is mapped (see GrowingRows), also those of a part.
  std::uint64_t memory_bytes = std::uint64_t{4} << 30U;
  /// The lowest and the highest number of each observable in the file, before cuts; empty: not read here.
  std::vector<std::pair<double, double>> ranges{};

  std::int64_t size() const { return values.size(0); }
  std::int64_t dimensions() const { return values.size(1); }
};

/// Reads and checks a file: every value finite, columns present, at least one event after the cuts.
/// `default_columns` serves when the config names none. Does not sub-sample, bootstrap or hold out.
/// throws: DataError (file, row), ConfigError (a cut that cannot be read)
Dataset load_dataset(const DatasetConfig& config, const std::vector<std::string>& default_columns);

/// Events drawn with replacement, by weight when there are weights: draws number first, first + 1,
/// ... of the stream, so that ranks can share one long draw. shape: [count, observables]
torch::Tensor draw_events(const Dataset& dataset, std::int64_t count,
                          const core::RandomStream& stream, std::int64_t first = 0);

/// Numbers from 0 to size - 1 in random order. order: tells several of a stream apart
std::vector<std::int64_t> shuffled_rows(std::int64_t size, const core::RandomStream& stream,
                                        std::uint32_t order = 0);

/// How many events that do not have whole numbers alone are equal to an earlier one; `continuous` of the
/// observables have other values than whole numbers. Of the first million events.
struct EqualEvents {
  std::int64_t equal = 0, events = 0, continuous = 0;
};
EqualEvents equal_events(const torch::Tensor& values);

/// Draws as many events again, with replacement (Efron's bootstrap).
Dataset bootstrap(const Dataset& dataset, const core::RandomStream& stream);

/// round(fraction * size) events without replacement, order kept. throws: ConfigError when none is
/// left
Dataset subsample(const Dataset& dataset, double fraction, const core::RandomStream& stream);

/// Splits at random into (training, held out). At least one event stays on each side when held_out
/// > 0.
std::pair<Dataset, Dataset> hold_out(const Dataset& dataset, double held_out,
                                     const core::RandomStream& stream);

/// Splits at random into `count` parts of equal size, give or take one event: (all but part `number`,
/// counted from 0, and that part). throws: ConfigError when there are fewer events than parts
std::pair<Dataset, Dataset> fold(const Dataset& dataset, std::int64_t number, std::int64_t count,
                                 const core::RandomStream& stream);

}  // namespace sagips::data
