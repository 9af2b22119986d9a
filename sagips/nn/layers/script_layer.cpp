#include <ATen/MemoryOverlap.h>
#include <torch/csrc/jit/passes/inliner.h>
#include <torch/library.h>
#include <torch/script.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/layers/bound_module.hpp"
#include "sagips/nn/layers/layers.hpp"
#include "sagips/nn/module.hpp"
#include "sagips/nn/script.hpp"

namespace sagips::nn {

using core::DataError;
using core::Error;
using core::text;

namespace {

torch::Tensor script_dropout(const torch::Tensor& input, double probability, bool trains) {
  return trains ? dropout(input, probability) : input;
}

torch::Tensor script_dropout_in_place(torch::Tensor input, double probability, bool trains) {
  const torch::Tensor kept = script_dropout(input, probability, trains);
  return kept.is_same(input) ? input : input.copy_(kept);
}

/// Whole channels of a row at a time.
torch::Tensor script_feature_dropout(const torch::Tensor& input, double probability, bool trains) {
  if (!trains || input.dim() < 2) return script_dropout(input, probability, trains);
  Shape channels(static_cast<std::size_t>(input.dim()), 1);
  channels[0] = input.size(0);
  channels[1] = input.size(1);
  return input * dropout(torch::ones(channels, input.options()), probability);
}

/// LibTorch's dropout draws from one generator that all threads share: these stand in its place.
TORCH_LIBRARY(sagips, library) {
  library.def("dropout(Tensor input, float p, bool train) -> Tensor", &script_dropout);
  library.def("dropout_(Tensor(a!) input, float p, bool train) -> Tensor(a!)",
              &script_dropout_in_place);
  library.def("feature_dropout(Tensor input, float p, bool train) -> Tensor",
              &script_feature_dropout);
}

constexpr std::string_view counter = "num_batches_tracked";

bool is_constant_true(const torch::jit::Value* value) {
  const auto constant = torch::jit::toIValue(value);
  return constant && constant->isBool() && constant->toBool();
}

bool reads_counter(const torch::jit::Value* value) {
  const torch::jit::Node* node = value->node();
  return node->kind() == torch::jit::prim::GetAttr && node->s(torch::jit::attr::name) == counter;
}

// throws: DataError for what goes wrong in silence where several threads have a module each
void check_node(const std::string& path, const torch::jit::Node& node) {
  const std::string kind = node.kind().toQualString();
  if (kind == "prim::SetAttr" && node.s(torch::jit::attr::name) != counter)
    throw DataError(path, text("assigns to its attribute '", node.s(torch::jit::attr::name),
                               "' (each thread has a module of its own, and nobody collects them). "
                               "Register a buffer, and write into it: self.name.copy_(...)."));
  if (kind == "prim::fork")
    throw DataError(path, "runs parts of itself on other threads (torch.jit.fork). Call them.");
  if (kind == "aten::Float" && reads_counter(node.input(0)))
    throw DataError(path, "has a batch norm that averages over all batches. Give it a momentum.");
  if (kind == "aten::batch_norm" && is_constant_true(node.input(5)))
    throw DataError(path,
                    "has a batch norm that trains for ever (a trace keeps what it saw). Save it "
                    "with torch.jit.script.");
}

void check_and_rewrite(const std::string& path, torch::jit::Block& block) {
  for (auto place = block.nodes().begin(); place != block.nodes().end();) {
    torch::jit::Node* const node = *place++;
    check_node(path, *node);
    for (torch::jit::Block* inner : node->blocks()) check_and_rewrite(path, *inner);
    const std::string kind = node->kind().toQualString();
    for (const char* name : {"dropout", "dropout_", "feature_dropout"})
      if (kind == text("aten::", name)) {
        node->replaceWithNewSymbol(torch::jit::Symbol::fromQualString(text("sagips::", name)));
        node->destroy();
        break;
      }
  }
}

// A file may hold several tensors over the same numbers, also in lists (torch.nn.LSTM has one):
// gradients come to one of them. Copies of others that overlap would be independent.
void merge_tied(const std::string& path, const torch::jit::Module& module) {
  std::vector<NamedTensor> known;
  const auto one_of = [&](const std::string& name, const torch::Tensor& tensor) {
    for (const auto& [other, one] : known) {
      if (!tensor.is_alias_of(one)) continue;
      if (tensor.storage_offset() == one.storage_offset() && tensor.sizes() == one.sizes() &&
          tensor.strides() == one.strides())
        return one;
      if (at::get_overlap_status(tensor, one) != at::MemOverlapStatus::No)
        throw DataError(path, text("'", name, "' looks into the memory of '", other,
                                   "'. Register one tensor, and let both use that."));
    }
    return known.emplace_back(NamedTensor{name, tensor}).tensor;
  };
  for (const auto& parameter : module.named_parameters()) one_of(parameter.name, parameter.value);
  for (const torch::jit::Module& part : module.modules()) {
    const auto object = part._ivalue();
    for (std::size_t i = 0; i < object->type()->numAttributes(); ++i) {
      const std::string& name = object->type()->getAttributeName(i);
      const torch::jit::IValue value = object->getSlot(i);
      if (value.isTensor() && value.toTensor().defined())
        object->setSlot(i, one_of(name, value.toTensor()));
      if (!value.isTensorList()) continue;
      c10::List<torch::Tensor> list = value.toTensorList();
      for (std::size_t j = 0; j < list.size(); ++j) list.set(j, one_of(name, list.get(j)));
    }
  }
}

bool is_tensor(const c10::TypePtr& type) { return type->isSubtypeOf(*c10::TensorType::get()); }

bool is_dictionary(const c10::TypePtr& type) {
  const auto dictionary = type->cast<c10::DictType>();
  return dictionary && dictionary->getKeyType()->isSubtypeOf(*c10::StringType::get()) &&
         is_tensor(dictionary->getValueType());
}

/// What `forward` is called with, and what its outputs are called.
struct Signature {
  core::RowTensors pieces{};  ///< of a row; none: it takes rows as they are
  bool takes_dictionary = false;
  std::vector<std::string> outputs{};  ///< of a tuple

  std::vector<NamedTensor> named(const torch::jit::IValue& result) const {
    std::map<std::string, torch::Tensor> sorted;  // the same order in each copy
    if (result.isTuple()) {
      std::vector<NamedTensor> all;
      for (std::size_t i = 0; i < outputs.size(); ++i)
        all.push_back({outputs[i], result.toTupleRef().elements()[i].toTensor()});
      return all;
    }
    for (const auto& item : result.toGenericDict())
      sorted[item.key().toStringRef()] = item.value().toTensor();
    std::vector<NamedTensor> all;
    for (const auto& [name, tensor] : sorted) all.push_back({name, tensor});
    return all;
  }
};

class ScriptModule final : public BoundModule {
 public:
  ScriptModule(const torch::jit::Module& module, Signature signature)
      : module_(copy(module)),
        forward_(module_.get_method("forward")),
        signature_(std::move(signature)) {
    for (const auto& item : module_.named_parameters()) add_parameter(item.name, item.value);
    for (const auto& item : module_.named_buffers()) add_buffer(item.name, item.value);
  }

  torch::Tensor forward(const torch::Tensor& rows, bool trains) override {
    if (trains != trains_) module_.train(trains);
    trains_ = trains;
    // An optimised graph may round differently from the first, profiled calls.
    const torch::jit::GraphOptimizerEnabledGuard as_written(false);
    const torch::jit::IValue result = forward_(given(rows));
    if (result.isTensor()) return result.toTensor();
    return joined(signature_.named(result), rows.size(0));
  }

 private:
  static torch::jit::Module copy(const torch::jit::Module& module) {
    const torch::NoGradGuard no_grad;  // copies are leaves
    torch::jit::Module copied = module.deepcopy();
    const auto theirs = module.parameters(), own = copied.parameters();
    auto place = own.begin();
    for (const torch::Tensor& parameter : theirs) {
      torch::Tensor tensor = *place;
      tensor.requires_grad_(parameter.requires_grad());
      ++place;
    }
    return copied;
  }

  std::vector<torch::jit::IValue> given(const torch::Tensor& rows) const {
    if (signature_.pieces.empty()) return {rows};
    const torch::Tensor flat = rows.flatten(1);
    std::vector<torch::jit::IValue> pieces;
    c10::Dict<std::string, torch::Tensor> by_name;
    for (const core::RowTensor& piece : signature_.pieces) {
      if (signature_.takes_dictionary)
        by_name.insert(piece.name, piece.of(flat));
      else
        pieces.emplace_back(piece.of(flat));
    }
    if (signature_.takes_dictionary) return {by_name};
    return pieces;
  }

  torch::jit::Module module_;
  torch::jit::Method forward_;  // of this copy: a method keeps its module
  Signature signature_;
  std::optional<bool> trains_;
};

class ScriptLayer final : public BoundLayer {
 public:
  void fields(core::FieldList& list) override {
    list.add_path("script", path_, "TorchScript module, a .pt file");
    list.add("arguments", arguments_,
             "how a row is cut where forward takes several tensors: [100x16, 6]");
    list.add("outputs", outputs_, "names of the tensors of a tuple that forward gives");
  }
  std::shared_ptr<Layer> copy() const override { return std::make_shared<ScriptLayer>(*this); }
  Shape declare(const Shape& input, LayerPlace& place) override {
    place.script = path_;
    return BoundLayer::declare(input, place);
  }

 protected:
  MakeBoundModule maker(const Shape& input, const core::RowTensors& tensors) const override {
    auto module = std::make_shared<torch::jit::Module>(load_script(path_));
    const auto forward = module->find_method("forward");
    if (!forward) throw DataError(path_, "has no method forward.");
    if (!module->hasattr("training"))
      throw DataError(path_,
                      "is frozen, so its weights are constants. Save it without torch.jit.freeze.");
    const Signature signature = signature_of(forward->function().getSchema(), input, tensors);
    torch::jit::Inline(*forward->graph());
    check_and_rewrite(path_, *forward->graph()->block());
    merge_tied(path_, *module);
    return [module, signature](std::uint64_t) {
      return std::make_shared<ScriptModule>(*module, signature);
    };
  }
  std::string name() const override { return std::filesystem::path(path_).filename().string(); }
  bool draws_weights() const override { return false; }
  Advice advice() const override {
    return {"Of its random operations only torch.nn.Dropout and Dropout1d to 3d are replaced.",
            "Leave it out."};
  }

 private:
  core::RowTensors cut(const Shape& input) const {
    core::RowTensors pieces;
    for (const std::string& argument : arguments_) {
      Shape shape;
      for (const std::string& length : core::split(argument, 'x')) {
        double value = 0;
        if (!core::parse_number(core::trim(length), value) || value < 1 || value > 1e9 ||
            value != static_cast<double>(static_cast<std::int64_t>(value)))
          throw Error(text("'", argument, "' of its arguments is no shape. Write 100x16, or 6."));
        shape.push_back(static_cast<std::int64_t>(value));
      }
      pieces.add(argument, shape);
    }
    if (!pieces.empty() && pieces.numbers() != numbers_in(input))
      throw Error(text("Its arguments (", core::join(arguments_, ", "), ") take ", pieces.numbers(),
                       " numbers of a row, which has ", numbers_in(input), "."));
    return pieces;
  }

  // Arguments with a default keep it; several take the input's tensors of their names.
  Signature signature_of(const c10::FunctionSchema& schema, const Shape& input,
                         const core::RowTensors& tensors) const {
    const std::string method =
        text("its method is ", schema, ", and a layer makes tensors of tensors");
    Signature signature{.pieces = cut(input), .outputs = outputs_};
    std::vector<std::string> names;
    for (std::size_t i = 1; i < schema.arguments().size(); ++i) {  // the first is the module
      const c10::Argument& argument = schema.arguments()[i];
      if (argument.default_value()) continue;
      signature.takes_dictionary = names.empty() && is_dictionary(argument.type());
      if (!is_tensor(argument.type()) && !signature.takes_dictionary)
        throw DataError(path_, text(method, "."));
      names.push_back(argument.name());
    }
    check_outputs(schema, method);
    if (names.empty()) throw DataError(path_, text(method, "."));
    if (signature.takes_dictionary) {
      if (names.size() > 1 || tensors.empty())
        throw DataError(path_, text(method, "; a dictionary takes an input of several named ",
                                    "tensors, and stands alone."));
      signature.pieces = tensors;
    } else if (signature.pieces.empty() && names.size() > 1 && !tensors.empty()) {
      for (const std::string& name : names) signature.pieces.add(tensors.at(name));
    }
    const std::size_t given = signature.pieces.empty() ? 1 : signature.pieces.size();
    if (!signature.takes_dictionary && names.size() != given)
      throw DataError(
          path_, text("its forward takes ", names.size(), " tensors, and the config gives ", given,
                      ". `arguments: [100x16, 6]` cuts a row into several."));
    return signature;
  }

  // A dictionary has names of its own, a tuple needs them.
  void check_outputs(const c10::FunctionSchema& schema, const std::string& method) const {
    const c10::TypePtr type = schema.returns().size() == 1 ? schema.returns()[0].type()
                                                           : c10::TypePtr(c10::NoneType::get());
    const auto tuple = type->cast<c10::TupleType>();
    const std::size_t count = tuple ? tuple->elements().size() : 0;
    const bool fits =
        tuple ? std::all_of(tuple->elements().begin(), tuple->elements().end(), is_tensor)
              : is_tensor(type) || is_dictionary(type);
    if (!fits) throw DataError(path_, text(method, "."));
    if (count != outputs_.size())
      throw Error(text("Its forward gives a tuple of ", count, ", and `outputs` has ",
                       outputs_.size(), " names (a dictionary and one tensor need none)."));
  }

  std::string path_;
  std::vector<std::string> arguments_, outputs_;
};

}  // namespace

std::vector<LayerKind> script_layers() { return {kind_of<ScriptLayer>("script")}; }

}  // namespace sagips::nn
