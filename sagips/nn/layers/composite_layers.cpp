#include <optional>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/layers/chain.hpp"
#include "sagips/nn/layers/layers.hpp"

namespace sagips::nn {

using core::Error;
using core::text;

namespace {

enum class Join { concatenate, add, none };

/// A layer that holds chains beside each other, and makes one row of what they make.
class Branching : public Layer {
 public:
  std::shared_ptr<void> bind(std::span<torch::Tensor> weights,
                             std::span<torch::Tensor> buffers) const override {
    auto bound = std::make_shared<Bounds>();
    for (const Side& side : sides_) {
      bound->push_back(side.chain.bind(weights.first(side.chain.parameters()),
                                       buffers.first(side.chain.buffers())));
      weights = weights.subspan(side.chain.parameters());
      buffers = buffers.subspan(side.chain.buffers());
    }
    return bound;
  }

  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors& tensors,
                           const Evaluation& evaluation) const override {
    static const Chain::Bound nothing;
    const auto* const bound = static_cast<const Bounds*>(tensors.bound);
    std::span<const torch::Tensor> weights = tensors.weights;
    std::span<torch::Tensor> buffers = tensors.buffers;
    std::vector<torch::Tensor> outputs;
    for (std::size_t i = 0; i < sides_.size(); ++i) {
      const auto& [chain, taken] = sides_[i];
      outputs.push_back(chain(taken ? taken->of(input) : input, weights.first(chain.parameters()),
                              buffers.first(chain.buffers()), bound ? (*bound)[i] : nothing,
                              evaluation));
      weights = weights.subspan(chain.parameters());
      buffers = buffers.subspan(chain.buffers());
    }
    return together(std::move(outputs));
  }

 protected:
  void add_chain(Chain chain, LayerPlace& place, std::optional<core::RowTensor> taken = {}) {
    place.inside.insert(place.inside.end(), chain.layers().begin(), chain.layers().end());
    sides_.push_back({std::move(chain), std::move(taken)});
  }

  // What all chains make together. dimension: of a sample, along which they follow each other
  Shape joined(Join join, std::int64_t dimension, const std::vector<std::string>& names,
               LayerPlace& place) {
    join_ = join;
    Shape all = sides_[0].chain.output();
    if (join == Join::none) {
      for (std::size_t i = 0; i < sides_.size(); ++i)
        place.output_tensors.add(names[i], sides_[i].chain.output());
      return {place.output_tensors.numbers()};
    }
    const auto dimensions = static_cast<std::int64_t>(all.size());
    const std::int64_t along = dimension < 0 ? dimension + dimensions : dimension;
    if (join == Join::concatenate && (along < 0 || along >= dimensions))
      throw Error(text("dimension is ", dimension, ", and '", names[0], "' makes samples of ",
                       written(all), "."));
    for (std::size_t i = 1; i < sides_.size(); ++i) {
      const Shape& other = sides_[i].chain.output();
      Shape same = other;
      if (join == Join::concatenate && other.size() == all.size())
        same[static_cast<std::size_t>(along)] = all[static_cast<std::size_t>(along)];
      if (same != all)
        throw Error(text("'", names[0], "' makes ", written(sides_[0].chain.output()), ", and '",
                         names[i], "' ", written(other), ", which do not ",
                         join == Join::add ? "add" : "follow each other",
                         ". Make them fit by a further layer."));
      if (join == Join::concatenate)
        all[static_cast<std::size_t>(along)] += other[static_cast<std::size_t>(along)];
    }
    along_ = along + 1;
    return all;
  }

 private:
  struct Side {
    Chain chain;
    std::optional<core::RowTensor> taken;  ///< of the input; nothing: all of it
  };
  using Bounds = std::vector<Chain::Bound>;

  torch::Tensor together(std::vector<torch::Tensor> outputs) const {
    if (join_ == Join::concatenate) return torch::cat(outputs, along_);
    if (join_ == Join::none) {
      for (torch::Tensor& output : outputs) output = output.flatten(1);
      return torch::cat(outputs, 1);
    }
    torch::Tensor sum = outputs[0];
    for (std::size_t i = 1; i < outputs.size(); ++i) sum = sum + outputs[i];
    return sum;
  }

  std::vector<Side> sides_;  ///< once declared
  Join join_ = Join::concatenate;
  std::int64_t along_ = 1;  ///< dimension of rows
};

/// source: He et al., CVPR 2016
class Residual final : public CopiedLayer<Residual, Branching> {
 public:
  void fields(core::FieldList& list) override {
    list.list("residual", layers_, "layers whose output is added to their input");
    list.list("shortcut", shortcut_,
              "layers that the input goes through before it is added, where its shape changes");
  }
  Shape declare(const Shape& input, LayerPlace& place) override {
    if (layers_.empty()) throw Error("It holds no layers. Name at least one.");
    add_chain({layers_, input, {}, place.name + ".", place.key + ".residual", place}, place);
    add_chain({shortcut_, input, {}, place.name + ".shortcut.", place.key + ".shortcut", place},
              place);
    return joined(Join::add, 0, {"residual", "shortcut"}, place);
  }

 private:
  std::vector<LayerConfig> layers_, shortcut_;
};

class Branches final : public CopiedLayer<Branches, Branching> {
 public:
  Branches() = default;
  Branches(std::vector<Branch> branches, std::string key)
      : branches_(std::move(branches)), join_(Join::none), key_(std::move(key)) {}

  void fields(core::FieldList& list) override {
    list.named_groups("branches", branches_, "chains of layers beside each other");
    list.choice("join", join_,
                {{"concatenate", Join::concatenate}, {"add", Join::add}, {"none", Join::none}},
                "what is made of their outputs: one behind the other, their sum, or none: several "
                "tensors of their names");
    list.add("dimension", dimension_,
             "of a sample, from 0, along which they follow each other; -1: the last one");
  }
  Shape declare(const Shape& input, LayerPlace& place) override {
    if (branches_.empty()) throw Error("It holds no branches. Name at least one.");
    if (join_ != Join::concatenate && dimension_ != 0)
      throw Error("dimension has no effect without join=concatenate. Leave it out.");
    std::vector<std::string> names, unused = place.input_tensors.names();
    for (const Branch& branch : branches_) {
      names.push_back(branch.name);
      std::optional<core::RowTensor> taken;
      if (!place.input_tensors.empty()) {
        taken = place.input_tensors.at(branch.input.empty() ? branch.name : branch.input);
        std::erase(unused, taken->name);
      } else if (!branch.input.empty()) {
        throw Error(text("'", branch.name, "' takes '", branch.input,
                         "', and its input is one tensor without a name. Leave it out."));
      }
      const std::string key = key_.empty() ? place.key + ".branches" : key_;
      add_chain({branch.layers,
                 taken ? taken->shape : input,
                 {},
                 text(place.name, ".", branch.name, "."),
                 text(key, ".", branch.name, ".layers"),
                 place},
                place, taken);
    }
    if (!unused.empty())
      throw Error(text("no branch takes the tensor '", unused[0], "'. Add one, or leave it out."));
    return joined(join_, dimension_, names, place);
  }

 private:
  std::vector<Branch> branches_;
  Join join_ = Join::concatenate;
  std::int64_t dimension_ = 0;
  std::string key_;  ///< empty: below the layer
};

}  // namespace

void Branch::fields(core::FieldList& list) {
  list.list("layers", layers, "one behind the other; none: what goes in comes out");
  list.add("input", input,
           "tensor that it takes, where there are several; empty: that of the branch's name");
}

std::shared_ptr<Layer> heads_layer(std::vector<Branch> branches, const std::string& key) {
  return std::make_shared<Branches>(std::move(branches), key);
}

std::vector<LayerKind> composite_layers() {
  return {kind_of<Residual>("residual"), kind_of<Branches>("branches")};
}

}  // namespace sagips::nn
