#include "sagips/optim/learn/heads.hpp"

#include <algorithm>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/layers/layers.hpp"

namespace sagips::optim {

using core::ConfigError;
using core::text;

namespace {

// A tensor by its name, in words of a head's key where there is none.
const core::RowTensor& tensor_for(const std::string& key, const core::RowTensors& tensors,
                                  const std::string& name, const std::string& advice) {
  if (tensors.empty()) throw ConfigError(key, advice);
  try {
    return tensors.at(name);
  } catch (const core::Error& error) {
    throw ConfigError(key, text(error.what(), " ", advice));
  }
}

// Numbers of a part of all tensors, in the place of that part.
void add_standard(data::Standard& all, const data::Standard& one,
                  const std::vector<std::int64_t>& shape) {
  const auto add = [&](torch::Tensor& to, const torch::Tensor& from, double usual) {
    const torch::Tensor own = from.defined() ? from : torch::full({1}, usual, torch::kFloat64);
    const torch::Tensor flat = own.expand(shape).reshape({-1});
    to = to.defined() ? torch::cat({to, flat}) : flat;
  };
  add(all.mean, one.mean, 0);
  add(all.deviation, one.deviation, 1);
}

// What one head needs of the statistics of rows with the targets of all.
data::RowStatistics statistics_for(const data::RowStatistics& all, std::size_t head,
                                   const core::RowTensor& target, bool has_units) {
  data::RowStatistics own{.weight = all.weight};
  if (head < all.head_class_shares.size()) own.class_shares = all.head_class_shares[head];
  const bool fits =
      all.targets.mean.defined() && target.first + target.numbers() <= all.targets.mean.numel();
  if (!has_units || !fits) return own;  // who compares rows says what does not fit
  const auto part = [&](const torch::Tensor& of) {
    return of.narrow(0, target.first, target.numbers()).reshape(target.shape);
  };
  own.targets = {part(all.targets.mean), part(all.targets.deviation)};
  return own;
}

std::vector<Head> heads_of(const HeadConfigs& heads, const nn::Network& network,
                           const data::RowStatistics& statistics) {
  std::vector<Head> all;
  core::RowTensors targets;
  for (const HeadConfig& head : heads) {
    Head own{.name = head.name, .weight = head.weight, .names = head.names};
    own.output = tensor_for(head.key(), network.output_tensors(), head.name,
                            "Give the head layers, or the network an output of its name.");
    targets.add(head.name, head.target_shape(own.output.shape));
    own.target = targets[targets.size() - 1];
    own.loss = loss_of(head.loss, head.loss_options,
                       statistics_for(statistics, all.size(), own.target, head.has_units()),
                       own.output.shape.empty() ? 1 : own.output.shape[0], head.key() + ".");
    const std::int64_t numbers = own.output.numbers();
    if (!head.names.empty() && static_cast<std::int64_t>(head.names.size()) != numbers)
      throw ConfigError(head.key() + ".names",
                        text("has ", head.names.size(), ", and the head has ", numbers,
                             " outputs. Give one for each."));
    all.push_back(std::move(own));
  }
  return all;
}

}  // namespace

void HeadConfig::fields(core::FieldList& list) {
  list.list("layers", layers, "behind the network; none: it is the network's output of this name");
  list.add("loss", loss, "what is made small, as without heads");
  loss_options.fields(list);
  list.add("weight", weight, "factor of its loss in the sum over all heads",
           core::Range::at_least(0));
  list.add("target", target, "one of data.targets.tensors; empty: the one of its name");
  list.add("names", names, "of its classes, from 0, or of its values; empty: their numbers");
}

torch::Tensor Head::targets_of(const torch::Tensor& rows) const {
  const torch::Tensor own = target.of(rows);
  return loss.of_classes() ? own.flatten().to(torch::kInt64) : own;
}

std::vector<nn::LayerConfig> with_heads(std::vector<nn::LayerConfig> layers,
                                        const HeadConfigs& heads, const std::string& group) {
  std::vector<nn::Branch> branches;
  bool have_layers = false;
  for (const HeadConfig& head : heads) {
    branches.push_back({head.name, head.layers});
    have_layers = have_layers || !head.layers.empty();
  }
  if (have_layers) layers.push_back(nn::LayerConfig::heads(std::move(branches), group));
  return layers;
}

data::ExampleRowsPtr with_targets_of(const HeadConfigs& heads, const data::ExampleRowsPtr& rows,
                                     const std::string& key, const data::Reading& reading) {
  const data::Examples one = rows->first(1);
  const core::RowTensors given = one.target_tensors();
  std::vector<core::RowTensor> parts;
  data::ExampleTensors tensors{one.input_tensors(), {}};
  for (const HeadConfig& head : heads) {
    parts.push_back(
        tensor_for(head.key(), given, head.target_name(),
                   text("A head learns one of ", key, ".tensors: name its file there.")));
    tensors.targets.add(head.name, head.target_shape(parts.back().shape));
  }
  const auto change =
      [heads, parts, key, is_part = !rows->in_memory(),
       named = std::make_shared<const data::ExampleTensors>(tensors)](data::Examples& examples) {
        std::vector<torch::Tensor> targets;
        for (std::size_t i = 0; i < heads.size(); ++i) {
          torch::Tensor own = parts[i].of(examples.targets);
          if (heads[i].of_classes())
            own = data::class_numbers(own, text(key, ".tensors.", parts[i].name), is_part)
                      .to(torch::kFloat32)
                      .unsqueeze(1);
          targets.push_back(own.flatten(1));
        }
        examples.targets = torch::cat(targets, 1);
        examples.tensors = named;
      };
  return data::with_targets(rows, change, reading);
}

data::RowStatistics statistics_of(const HeadConfigs& heads, const data::ExampleRowsPtr& rows,
                                  bool of_inputs, bool of_targets, const data::Reading& reading) {
  const data::Examples one = rows->first(1);
  const core::RowTensors inputs = one.input_tensors(), targets = one.target_tensors();
  if (inputs.empty() && heads.empty())
    return data::statistics_of(*rows, of_inputs, of_targets, reading);
  data::RowStatistics all;
  for (std::size_t i = 0; i < std::max<std::size_t>({inputs.size(), heads.size(), 1}); ++i) {
    const bool has_input = i < inputs.size(), has_head = i < heads.size();
    const auto own = data::changed(rows, [=](data::Examples& examples) {
      if (has_input) examples.inputs = inputs[i].of(examples.inputs);
      if (!has_head) return;
      examples.targets = targets[i].of(examples.targets);
      if (heads[i].of_classes()) examples.targets = examples.targets.flatten().to(torch::kInt64);
    });
    const bool scales_input = of_inputs && (has_input ? inputs[i].is_scaled : i == 0),
               scales_target = of_targets && (has_head ? heads[i].has_units() : i == 0);
    const data::RowStatistics found =
        data::statistics_of(*own, scales_input, scales_target, reading);
    all.weight = found.weight;
    if (of_inputs && has_input) add_standard(all.inputs, found.inputs, inputs[i].shape);
    if (of_inputs && inputs.empty() && i == 0) all.inputs = found.inputs;
    if (of_targets && has_head) add_standard(all.targets, found.targets, targets[i].shape);
    if (heads.empty() && i == 0) all.targets = found.targets, all.class_shares = found.class_shares;
    if (has_head) all.head_class_shares.push_back(found.class_shares);
  }
  return all;
}

Loss loss_of_heads(const HeadConfigs& heads, const nn::Network& network,
                   const data::RowStatistics& statistics) {
  std::vector<std::string> unused = network.output_tensors().names();
  for (const HeadConfig& head : heads) std::erase(unused, head.name);
  auto all = std::make_shared<const std::vector<Head>>(heads_of(heads, network, statistics));
  if (!unused.empty())
    throw ConfigError("heads", text("none learns the network's output '", unused[0],
                                    "'. Add a head of its name, or leave it out."));
  Loss sum;
  sum.name = "heads";
  sum.heads = all;
  sum.rows = [all](const torch::Tensor& outputs, const torch::Tensor& targets) {
    torch::Tensor rows;
    for (const Head& head : *all) {
      const torch::Tensor own =
          head.weight * head.loss.rows(head.outputs_of(outputs), head.targets_of(targets));
      rows = rows.defined() ? rows + own : own;
    }
    return rows;
  };
  sum.meaning = [all](const torch::Tensor& outputs) {
    std::vector<torch::Tensor> parts;
    for (const Head& head : *all)
      parts.push_back(head.loss.predicted(head.outputs_of(outputs)).flatten(1));
    return torch::cat(parts, 1);
  };
  return sum;
}

}  // namespace sagips::optim
