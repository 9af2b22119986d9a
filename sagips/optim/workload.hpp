#pragma once
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sagips/core/config.hpp"
#include "sagips/core/registry.hpp"
#include "sagips/env/environment.hpp"
#include "sagips/optim/rank_place.hpp"

namespace sagips::optim {

/// One observable of a channel, for reading data and for figures.
struct Observable {
  std::string name;  ///< also the default column of a data file
  std::string unit;
};

/// What a workload plans for one channel, before there are data.
struct ChannelPlan {
  std::string name = "events";
  env::Pipeline pipeline;
  std::optional<env::Density> density;
  std::vector<Observable> observables;
  std::vector<std::string>
      cuts;  ///< serve when the config names none, e.g. the window of the density
  std::vector<env::Feature> features{};  ///< that moment matching compares beside its own
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
class Workload {
 public:
  virtual ~Workload() = default;
  /// Its own part of the config: parameters and pipeline.
  virtual void fields(core::FieldList& list) = 0;
  virtual std::vector<env::Parameter> parameters() const = 0;
  virtual std::vector<ChannelPlan> channels() const = 0;
  /// Every name a channel may have, whatever the config says.
  virtual std::vector<std::string> channel_names() const;
  /// What the parameters stand for, drawn with a band beside every result; may be empty.
  virtual std::vector<DensityCurve> densities() const { return {}; }
};

/// A workload as the program knows it.
struct WorkloadEntry {
  std::string name;
  std::string summary;  ///< one line
  std::map<std::string, std::string>
      settings;  ///< YAML by name; "default" serves when only the workload is named
  std::function<std::unique_ptr<Workload>()> make;
};

/// Settings of the GAN that train a handful of parameters in about a minute on a laptop, as YAML.
std::string laptop_settings();

/// A workload from a list of parameters and one pipeline, for programs of users.
struct SimpleWorkload {
  std::string name;
  std::string summary;
  std::vector<env::Parameter> parameters;
  env::Pipeline pipeline;
  std::vector<Observable> observables;
  std::string settings;                  ///< YAML; empty: `laptop_settings`
  std::vector<env::Feature> features{};  ///< that moment matching compares beside its own
  std::vector<DensityCurve> densities{};

  // Implicit: a user hands it over where entries are taken.
  operator WorkloadEntry() const;  // NOLINT(google-explicit-constructor)
};

/// What of the data serves as held-out events.
enum class Split { all_training, held_out };

/// What belongs to one of several channels.
struct ChannelSettings {
  bool enabled = true;
  double weight = 1;
  std::int64_t toy_events = 0;  ///< 0: as many as `toy.events` says
  data::DatasetConfig data;     ///< what its file_fields list; the rest is common to all channels

  void fields(core::FieldList& list);
};

struct DataSettings {
  data::DatasetConfig data;
  std::int64_t toy_events = 100000;  ///< made at the parameters' toy values when data.file is empty
  env::AdversarialObjective::Config objective;
  std::map<std::string, ChannelSettings> channels;  ///< by name; empty: the workload has one

  /// Lists `channels` where a workload has several.
  void channel_fields(core::FieldList& list, const Workload& workload);
};

/// The workload's channels without those that are switched off.
/// throws: ConfigError when none is left
std::vector<ChannelPlan> channels_in_use(const Workload& workload, const DataSettings& settings);

/// What a rank of several gets of the data.
struct DataShare {
  RankPlace place;
  bool sharded = false;  ///< each rank reads rows of its own from the file
  bool divided = false;  ///< the ranks take parts of the training events that do not overlap
  double fraction = 1;   ///< of the training events, drawn without replacement by each rank
  /// Gives every rank what `load` gives on one of them; empty: each rank loads. collective
  using Load = std::function<data::Dataset()>;
  std::function<data::Dataset(const Load& load)> distribute;
};

/// Loads or makes the data of each channel and puts the environment together. Runs the pipelines'
/// dry run first.
/// throws: ConfigError when there are more ranks than events; what data::load_dataset and Pipeline::check throw
env::Environment make_environment(const Workload& workload, const DataSettings& settings,
                                  Split split, std::uint64_t seed, const DataShare& share = {});

}  // namespace sagips::optim
