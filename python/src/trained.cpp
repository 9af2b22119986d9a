#include "python/src/parts.hpp"

#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>

#include <mutex>

#include "python/src/calls.hpp"
#include "python/src/tensor.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/module.hpp"
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
    job_.settings.device = "cpu";  // rows are there
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
  /// The word of the module that is the whole network, with its arguments; empty: it is another one.
  std::string module() const {
    const std::vector<nn::LayerConfig>& layers = job_.learning().layers;
    return layers.size() == 1 && layers[0].repeat() == 1 ? nn::module_word(*layers[0].layer()) : "";
  }

 private:
  Named said(const data::Examples& examples) {
    const std::lock_guard lock(mutex_);
    if (networks_.empty()) networks_ = run::read_networks(job_, *data::hold(examples), file_);
    torch::Tensor values = examples.inputs;
    if (statistics_.inputs.mean.defined())
      values = statistics_.inputs.apply(values).to(torch::kFloat32);
    for (const auto& [part, replica] : networks_) values = (*part.network)(replica.leaves(), values, {});
    const optim::Loss loss =
        job_.learning().learner.without_targets().loss_for(*networks_.back().part.network, statistics_);
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
  using Released = nb::call_guard<nb::gil_scoped_release>;
  nb::class_<TrainedNetwork>(module, "TrainedNetwork")
      .def(nb::init<const std::string&, bool>(), nb::arg("folder"), nb::arg("best"), Released())
      .def("predict", nb::overload_cast<const at::Tensor&>(&TrainedNetwork::predict), Released())
      .def("predict", nb::overload_cast<const Named&>(&TrainedNetwork::predict), Released())
      .def("module", &TrainedNetwork::module, Released())
      .def("arrays", &TrainedNetwork::arrays, Released());
}

}  // namespace sagips::python
