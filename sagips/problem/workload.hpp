#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/config/config.hpp"
#include "sagips/core/registry.hpp"
#include "sagips/data/dataset.hpp"
#include "sagips/env/environment.hpp"
#include "sagips/problem/problem.hpp"

namespace sagips::problem {

/// One observable of a channel, for reading data and for figures.
struct Observable {
  std::string name;  ///< also the default column of a data file
  std::string unit;
};

/// What the config says of one of several channels.
struct ChannelSettings {
  bool enabled = true;
  double weight = 1;
  std::int64_t toy_events = 0;  ///< 0: as many as `toy.events` says
  data::DatasetConfig data;     ///< what its file_fields list; the rest is common to all channels

  void fields(core::FieldList& list);
};

/// What a workload plans for one channel, before there are data.
struct ChannelPlan {
  std::string name = "events";
  env::Pipeline pipeline{};
  std::optional<env::Density> density{};
  std::vector<Observable> observables{};
  /// Serve when the config names none, e.g. the window of the density.
  std::vector<std::string> cuts{};
  std::vector<env::Feature> features{};  ///< that moment matching compares beside its own
  /// What is hardly meant in measured events, such as another unit; empty: nothing.
  std::function<std::string(const data::Dataset& events)> remark{};
  /// Where the user names the channels; else `DataSettings` has them.
  std::optional<ChannelSettings> settings{};
  /// Whether the config's cuts on its observables select the pipeline's events, too. False where the
  /// pipeline knows of the selection, as one with a density inside a window does.
  bool cuts_select_events = false;
};

/// A function that the parameters stand for, as figures show it: a parton density, a line shape.
struct DensityCurve {
  std::string name;  ///< "u(x)"
  std::string axis;  ///< what it is a function of: "x", "M [GeV]"
  torch::Tensor x;   ///< shape: [points], float64
  /// shape: physical parameters [samples, parameters] -> [samples, points]
  std::function<torch::Tensor(const torch::Tensor& parameters)> values;
};

/// A problem to solve: parameters and the pipelines they feed. A folder of its own holds config,
/// pipeline and README.
class Workload : public Problem {
 public:
  /// Its own part of the config: parameters and pipeline.
  virtual void fields(core::FieldList& list) = 0;
  virtual std::vector<env::Parameter> parameters() const = 0;
  virtual std::vector<ChannelPlan> channels() const = 0;
  /// Every name a channel may have, whatever the config says.
  virtual std::vector<std::string> channel_names() const;
  /// What the parameters stand for, drawn with a band beside every result; may be empty.
  virtual std::vector<DensityCurve> densities() const { return {}; }
};

using WorkloadEntry = EntryOf<Workload>;

/// Settings of the GAN that train a handful of parameters in about a minute on a laptop, as YAML.
std::string laptop_settings();

/// A workload from a list of parameters and one pipeline, for programs of users.
struct SimpleWorkload {
  std::string name;
  std::string summary;
  std::vector<env::Parameter> parameters{};
  env::Pipeline pipeline{};
  std::vector<Observable> observables{};
  std::string settings{};                ///< YAML; empty: `laptop_settings`
  std::vector<env::Feature> features{};  ///< that moment matching compares beside its own
  std::vector<DensityCurve> densities{};
  /// Several data sets, each with a pipeline that sees all parameters; `pipeline`, `observables` and
  /// `features` are empty then.
  std::vector<ChannelPlan> channels{};

  // Implicit: a user hands it over where entries are taken.
  operator WorkloadEntry() const;  // NOLINT(google-explicit-constructor)
  operator Entry() const;          // NOLINT(google-explicit-constructor)
};

}  // namespace sagips::problem
