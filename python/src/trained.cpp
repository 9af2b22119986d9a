#include "python/src/trained.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <mutex>

#include "python/src/calls.hpp"
#include "python/src/tensor.hpp"
#include "sagips/core/config/config_value.hpp"
#include "sagips/core/text.hpp"
#include "sagips/optim/learn/heads.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/tensor_file.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/trained_networks.hpp"

namespace sagips::python {

namespace {

using Named = std::map<std::string, at::Tensor>;

/// The networks of a learning problem, made for the first rows that they see. What they say is in the graph of these.
class TrainedNetwork {
 public:
  TrainedNetwork(const std::string& folder, bool best)
      : job_(run::read_job_of_networks(
            workloads(), core::text(folder, "/", record::run_files::config.name))),
        file_(run::network_file(folder, best)) {
    job_.learning();
    statistics_ = run::read_standards(file_);
  }

  /// Predictions, of heads by their names, else by "".
  Named predict(const at::Tensor& rows) { return said({.inputs = rows.to(torch::kFloat32), .targets = {}}); }
  Named predict(const Named& rows) { return said(data::named_examples(rows, {})); }

  /// Weights and buffers by their names, as the file has them.
  Named arrays() const {
    Named all;
    for (const auto& [name, stored] : record::read_tensor_file(file_).tensors)
      all[name] = torch::tensor(stored.numbers(), torch::kFloat64).reshape(stored.shape);
    return all;
  }
  /// The word of the module that is the whole network; empty: it is another one.
  std::string module() const {
    std::vector<nn::LayerConfig> layers = job_.learning().layers;
    if (layers.size() != 1 || layers[0].kind() != "module" || layers[0].repeat() != 1) return {};
    core::FieldList list;
    layers[0].fields(list);
    return core::find_entry(list.entries(), "module")->write("");
  }

 private:
  Named said(const data::Examples& examples) {
    const std::lock_guard lock(mutex_);
    if (networks_.empty()) networks_ = run::read_networks(job_, *data::hold(examples), file_);
    torch::Tensor values = examples.inputs;
    if (statistics_.inputs.mean.defined())
      values = statistics_.inputs.apply(values).to(torch::kFloat32);
    for (const auto& [part, replica] : networks_) values = (*part.network)(replica.leaves(), values, {});
    optim::SupervisedConfig config = job_.learning().learner;
    config.metrics = {};
    config.loss_options = {};  // without targets nothing weighs classes
    for (optim::HeadConfig& head : config.heads) head.loss_options = {};
    const optim::Loss loss = config.loss_for(*networks_.back().part.network, statistics_);
    const torch::Tensor predicted = loss.predicted(values);
    if (!loss.heads) return {{"", predicted}};
    Named all;
    for (const optim::Head& head : *loss.heads) all[head.name] = head.outputs_of(predicted);
    return all;
  }

  run::Job job_;
  std::string file_;
  data::RowStatistics statistics_;
  std::vector<optim::WeightedNetwork> networks_{};
  std::mutex mutex_{};
};

}  // namespace

void add_trained(nb::module_& module) {
  nb::class_<TrainedNetwork>(module, "TrainedNetwork")
      .def("__init__",
           [](TrainedNetwork* network, const std::string& folder, bool best) {
             guarded([&] { new (network) TrainedNetwork(folder, best); });
           })
      .def("predict",
           [](TrainedNetwork& network, const at::Tensor& rows) {
             Named all;
             guarded([&] { all = network.predict(rows); });
             return all;
           })
      .def("predict",
           [](TrainedNetwork& network, const Named& rows) {
             Named all;
             guarded([&] { all = network.predict(rows); });
             return all;
           })
      .def("module", &TrainedNetwork::module)
      .def("arrays", [](const TrainedNetwork& network) {
        Named all;
        guarded([&] { all = network.arrays(); });
        return all;
      });
}

}  // namespace sagips::python
