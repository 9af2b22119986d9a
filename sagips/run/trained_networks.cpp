#include "sagips/run/trained_networks.hpp"

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/event_json.hpp"
#include "sagips/record/run_files.hpp"
#include "sagips/record/run_status.hpp"
#include "sagips/record/tensor_file.hpp"
#include "sagips/run/learning_task.hpp"

namespace sagips::run {

namespace {

namespace files = record::run_files;

constexpr const char* layer_prefix = "layer";

void take_values(const record::StoredTensor& stored, torch::Tensor& values) {
  const torch::NoGradGuard no_grad;
  values.copy_(torch::tensor(stored.numbers(), torch::kFloat64).reshape(stored.shape));
}

// "layer0.weight" of the network `body` as "layer4.weight", where four layers stand before those of it.
std::string among_all_layers(const std::string& name, std::size_t before) {
  const std::size_t digits = std::string(layer_prefix).size(), dot = name.find('.');
  return core::text(layer_prefix, std::stoul(name.substr(digits, dot - digits)) + before,
                    name.substr(dot));
}

std::string file_to_begin_from(const std::string& source) {
  if (std::filesystem::is_directory(source)) return network_file(source);
  if ((source.ends_with(".pt") || source.ends_with(".pth")) && std::filesystem::exists(source))
    throw core::DataError(
        source,
        "is PyTorch's. A TorchScript module is a layer, {script: FILE}; of weights of torch.save "
        "make a .safetensors file (safetensors.torch.save_file(module.state_dict(), FILE)).");
  return source;
}

/// What of one file is taken.
struct WeightFile {
  std::string path;
  record::TensorFile content;
  std::set<std::string> left;  ///< what nobody has taken

  explicit WeightFile(const std::string& file)
      : path(file), content(record::read_tensor_file(file)) {
    for (const auto& [name, stored] : content.tensors) left.insert(name);
  }
  const record::StoredTensor& find(const std::string& name, const std::string& among_all) {
    const auto own = content.tensors.find(name);
    const auto found = own != content.tensors.end() ? own : content.tensors.find(among_all);
    if (found == content.tensors.end()) {
      std::vector<std::string> names;
      for (const auto& [known, stored] : content.tensors) names.push_back(known);
      throw core::DataError(
          path,
          core::text("has no '", name, "', with which the network here would ",
                     "begin (it is of another network). It has ", core::join(names, ", "), "."));
    }
    left.erase(found->first);
    return found->second;
  }
  std::string description(std::int64_t weights) const {
    std::string line =
        core::text("begins from ", path, ": ", core::with_thousands(weights), " weights");
    if (!left.empty())
      line += core::text("; not used of it: ", core::join({left.begin(), left.end()}, ", "));
    return line;
  }
};

// Classes of other names have other metrics.
bool has_metrics_of(const record::Evaluated& one, const record::Evaluated& other) {
  return std::all_of(other.metrics.begin(), other.metrics.end(), [&](const auto& wanted) {
    return std::any_of(one.metrics.begin(), one.metrics.end(),
                       [&](const auto& known) { return known.name == wanted.name; });
  });
}

// Weights behind standardised rows mean other numbers than those behind rows as they are.
void check_standards(const WeightFile& source, LearningProblem::Standardise own, bool begins,
                     bool ends) {
  using Standardise = LearningProblem::Standardise;
  const bool inputs = source.content.tensors.contains("inputs.mean"),
             targets = source.content.tensors.contains("targets.mean"),
             own_inputs = own == Standardise::inputs || own == Standardise::both,
             own_targets = own == Standardise::targets || own == Standardise::both;
  if ((!begins || inputs == own_inputs) && (!ends || !targets || own_targets)) return;
  throw core::ConfigError(
      "data.standardise",
      core::text(source.path, " is of a training with ",
                 inputs    ? targets ? "true" : "inputs"
                 : targets ? "targets"
                           : "false",
                 " (its weights would meet other numbers here). Set the same."));
}

}  // namespace

void for_each_array(
    std::span<optim::WeightedNetwork> networks,
    const std::function<void(const std::string& name, torch::Tensor& values)>& use) {
  for (auto& [part, replica] : networks) {
    const std::string place = networks.size() > 1 ? part.name + "." : "";
    nn::Leaves& leaves = replica.leaves();
    for (std::size_t i = 0; i < part.network->parameters().size(); ++i)
      use(place + part.network->parameters()[i].name, leaves.tensors[i]);
    for (std::size_t i = 0; i < part.network->buffers().size(); ++i)
      use(place + part.network->buffers()[i].name, leaves.buffers[i]);
  }
}

void write_networks(const std::string& path, std::span<optim::WeightedNetwork> networks,
                    const std::map<std::string, torch::Tensor>& beside) {
  record::TensorFile file;
  for (const auto& [name, values] : beside) {
    const torch::Tensor dense = values.contiguous();
    file.tensors[name] = {record::StoredTensor::Type::f64,
                          dense.sizes().vec(),
                          {static_cast<const char*>(dense.data_ptr()), dense.nbytes()}};
  }
  for_each_array(networks, [&](const std::string& name, torch::Tensor& values) {
    const torch::Tensor dense = values.detach().to(torch::kCPU).contiguous();
    file.tensors[name] = record::StoredTensor::of(
        {dense.data_ptr<float>(), static_cast<std::size_t>(dense.numel())}, dense.sizes().vec());
  });
  record::write_tensor_file(path, file);
}

std::string finished_file(const std::string& folder, const std::string& name) {
  std::string path = core::text(folder, "/", name);
  if (std::filesystem::exists(path)) return path;
  const auto record = record::read_run_record(folder);
  std::string why = " (no network was trained there). Give the folder of a run of sagips train.";
  if (record && record->command == "train")
    why = record->status == record::RunStatus::failed
              ? " (its training failed, see log.txt). Begin it anew."
              : " yet (its training goes on, or was interrupted before its end). Wait for its end, "
                "or start its command again, which goes on.";
  throw core::DataError(folder, core::text("has no ", name, why));
}

std::string network_file(const std::string& folder, bool best) {
  std::string of_best = core::text(folder, "/", files::best_network.name);
  if (best && std::filesystem::exists(of_best)) return of_best;
  return finished_file(folder, files::network.name);
}

void take_array(const record::TensorFile& content, const std::string& file, const std::string& name,
                torch::Tensor& values) {
  const record::StoredTensor& stored = content.tensor(name, file);
  if (stored.shape != values.sizes().vec())
    throw core::DataError(file, core::text("'", name, "' has another shape than the config's ",
                                           "network. The folder's files do not belong together."));
  take_values(stored, values);
}

std::vector<optim::WeightedNetwork> read_networks(const Job& job, const data::ExampleRows& rows,
                                                  const std::string& file) {
  std::vector<optim::WeightedNetwork> networks;
  const torch::Device device = job.settings.made_device();
  for (const optim::NetworkPart& part : make_networks(job, rows))
    networks.push_back({part, nn::Replica(part.network, nn::SharedPart::all, device)});
  const record::TensorFile content = record::read_tensor_file(file);
  for_each_array(networks, [&](const std::string& name, torch::Tensor& values) {
    take_array(content, file, name, values);
  });
  return networks;
}

std::vector<std::string> begin_from(const LearningProblem& learning,
                                    std::span<optim::WeightedNetwork> networks) {
  std::map<std::string, WeightFile> sources;
  std::map<std::string, std::int64_t> weights;
  std::size_t before = 0, index = 0;
  for (auto& one : networks) {
    const std::string& own = learning.networks.empty() ? "" : learning.networks[index].start_from;
    const std::string& named = own.empty() ? learning.start_from : own;
    const std::string place = networks.size() > 1 ? one.part.name + "." : "";
    if (!named.empty()) {
      const std::string path = file_to_begin_from(named);
      WeightFile& source = sources.try_emplace(path, path).first->second;
      check_standards(source, learning.standardise, index == 0, index + 1 == networks.size());
      for_each_array({&one, 1}, [&](const std::string& name, torch::Tensor& values) {
        const record::StoredTensor& stored =
            source.find(place + name, among_all_layers(name, before));
        if (stored.shape != values.sizes().vec())
          throw core::DataError(
              path, core::text("'", place, name, "' has the shape ", nn::written(stored.shape),
                               ", and the network here ", nn::written(values.sizes().vec()),
                               ". Name it for the networks that are to begin from it alone "
                               "(networks.NAME.start_from)."));
        take_values(stored, values);
        weights[path] += values.numel();
      });
    }
    before += one.part.network->layers().size();
    ++index;
  }
  std::vector<std::string> lines;
  for (const auto& [path, source] : sources) lines.push_back(source.description(weights[path]));
  return lines;
}

BestNetworks::BestNetworks(std::span<optim::WeightedNetwork> networks)
    : networks_(networks), weights_(torch::zeros_like(now())) {}

torch::Tensor BestNetworks::now() const {
  std::vector<torch::Tensor> arrays;
  for_each_array(networks_, [&](const std::string&, torch::Tensor& values) {
    arrays.push_back(values.detach().to(torch::kCPU, torch::kFloat32).flatten());
  });
  return torch::cat(arrays);
}

void BestNetworks::put(const torch::Tensor& flat) {
  const torch::NoGradGuard no_grad;
  std::int64_t place = 0;
  for_each_array(networks_, [&](const std::string&, torch::Tensor& values) {
    values.copy_(flat.narrow(0, place, values.numel()).reshape(values.sizes()));
    place += values.numel();
  });
}

void BestNetworks::remember(std::int64_t epoch) { under_way_[epoch] = now(); }

// What was the best is scored again: a run may go on with another metric.
void BestNetworks::judge(const record::Evaluated& evaluated, const Score& score) {
  const auto found = under_way_.find(evaluated.epoch);
  if (found == under_way_.end()) return;
  const auto own = score(evaluated),
             before = best_ && has_metrics_of(*best_, evaluated) ? score(*best_) : std::nullopt;
  const bool counts = evaluated.epoch > 0 && own && std::isfinite(*own);
  if (evaluated.epoch > 0 && !evaluated.metrics.empty() && !counts) ++undefined_;
  if (counts && !(before && *before <= *own)) {
    weights_.copy_(found->second);
    best_ = evaluated;
  }
  under_way_.erase(under_way_.begin(), std::next(found));  // earlier ones never come
}

void BestNetworks::with_best(const std::function<void()>& use) {
  const torch::Tensor present = now();
  put(weights_);
  use();
  put(present);
}

void BestNetworks::conclude(const Job& job, record::Results& results, core::Log& log,
                            const std::function<void()>& write) {
  const train::EarlyStopConfig& watched = job.settings.early_stop;
  if (undefined_ > 0)
    log.warning(
        "metric-undefined",
        core::text(watched.metric, " was not a finite number at ", undefined_,
                   undefined_ == 1 ? " evaluation" : " evaluations",
                   best_ ? ", of which none is the best" : ", so that no network is the best",
                   " (early_stop.metric names another one)"));
  if (!best_) return;
  results.numbers.push_back({"best_epoch", static_cast<double>(best_->epoch)});
  for (const auto& metric : best_->metrics)
    results.numbers.push_back({metric.name + "_best", metric.value});
  with_best(write);
  if (watched.restore) restore();
  log.info(core::text("best ", watched.metric, " at epoch ", best_->epoch, ": ",
                      files::best_network.name,
                      watched.restore ? ", which the results are of" : ""));
}

void BestNetworks::state(nn::StateList& list) {
  std::string words = best_ ? record::event_to_json(*best_) : "";
  list.field("evaluated", words);
  list.field("weights", weights_);
  if (list.gives()) return;
  best_.reset();
  if (!words.empty()) best_ = std::get<record::Evaluated>(record::event_from_json(words));
}

}  // namespace sagips::run
