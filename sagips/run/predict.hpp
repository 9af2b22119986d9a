#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/log.hpp"
#include "sagips/data/examples.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/run/settings.hpp"

namespace sagips::run {

/// What is asked of trained networks. What a run has no use for is refused.
struct PredictOptions {
  std::string
      out{};  ///< FILE.npy, of examples also as their source writes them; empty: predictions.npy in
              ///< the run's folder
  std::optional<std::int64_t>
      samples{};  ///< proposals of a generator; nothing: 1,000. Examples that a generator
  /// makes, for its conditions in turn; nothing: one for each of these
  /// Rows for networks that learn from some, or conditions of examples to be made (a number stands for all of
  /// them), by the names of their tensors; none: those kept aside.
  data::InputFiles inputs{};
  /// Of the noise of a generator of examples; nothing: that of the run.
  std::optional<std::int64_t> seed{};
  /// Takes the networks of the best evaluation, where there is one, else those of the end. Nothing: true.
  std::optional<bool> best{};
  std::string device = "cpu";  ///< where the networks are asked, as a config names it

  /// `out`, or the usual file of a run folder.
  std::string file_of(const std::string& folder) const {
    return out.empty() ? folder + "/predictions.npy" : out;
  }
  /// throws: ConfigError where one of the files to be written is one that the run or these inputs read
  void check_written(const std::string& folder, const std::vector<std::string>& written) const;
};

/// A metric of predictions, over networks where there are several.
struct PredictedMetric {
  std::string name{};
  double value = 0;                ///< of all networks together
  double mean = 0, deviation = 0;  ///< of each
};

/// What a generator proposes for a parameter, over its noise: `spread` is no error.
struct PredictedParameter {
  std::string name, unit;
  double mean = 0, spread = 0;
};

/// One of the outputs of networks, with its file.
struct PredictedOutput {
  std::string file{};
  /// [rows, ...]; NaN where no network may be asked; undefined: of made examples, which are in the file alone
  torch::Tensor values{};
  std::string spread_file{};   ///< with `deviations`; empty: there are none
  torch::Tensor deviations{};  ///< among several networks, as `values`
};

/// What trained networks say.
struct Predicted {
  enum class What { proposals, values, probabilities, examples };
  What what = What::values;
  std::vector<PredictedOutput> outputs{};  ///< one, or one a head; examples, then their conditions
  std::int64_t rows = 0;                   ///< that have values
  double per_second = 0;                   ///< examples made, without reading and writing
  std::vector<std::string> conditions{};   ///< of examples: "energy 0.02 to 5 [100 GeV]"
  std::vector<std::string> networks{};     ///< their files
  std::vector<PredictedMetric> metrics{};  ///< of rows with targets
  std::vector<PredictedParameter> parameters{};  ///< of proposals
  /// Files of deviations that lay beside those of the outputs and were of other predictions.
  std::vector<std::string> removed_spreads{}, foreign_spreads{};
};

/// Asks the networks of a run, or of an ensemble that has learned from rows, and writes what they say.
/// folder: of a finished run or ensemble; log: is warned of networks and inputs that are not to be trusted
/// throws: ConfigError for what it does not have; DataError for
/// files that are missing or do not fit; StorageError
Predicted predict(const Workloads& workloads, const std::string& folder,
                  const PredictOptions& options, core::Log& log);

}  // namespace sagips::run
