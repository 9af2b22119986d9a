#include <optional>

#include "sagips/core/error.hpp"
#include "sagips/nn/layers/layers.hpp"

namespace sagips::nn {

using core::Range;

namespace {

enum class Cell { plain, gru, lstm };

constexpr const char* key_of(Cell cell) {
  return cell == Cell::gru ? "gru" : cell == Cell::lstm ? "lstm" : "rnn";
}

/// The form of its paper: the reset gate acts before the hidden weights do.
/// source: Cho et al., EMNLP 2014; gates in PyTorch's order
/// shapes: input [rows, steps, features]; weights of input and state, their biases -> [rows, steps, units]
torch::Tensor gru_of_cho(const torch::Tensor& input, std::span<const torch::Tensor> weights) {
  const std::int64_t units = weights[1].size(1), steps = input.size(1);
  const torch::Tensor from_input = torch::linear(input, weights[0], weights[2]);
  const auto of_state = [&](const torch::Tensor& state, std::int64_t gate, std::int64_t gates) {
    return torch::linear(state, weights[1].narrow(0, gate * units, gates * units),
                         weights[3].narrow(0, gate * units, gates * units));
  };
  torch::Tensor state = torch::zeros({input.size(0), units}, input.options());
  std::vector<torch::Tensor> states;
  for (std::int64_t step = 0; step < steps; ++step) {
    const torch::Tensor own = from_input.select(1, step);
    const torch::Tensor gates = torch::sigmoid(own.narrow(1, 0, 2 * units) + of_state(state, 0, 2));
    const torch::Tensor reset = gates.narrow(1, 0, units), update = gates.narrow(1, units, units);
    const torch::Tensor proposed =
        torch::tanh(own.narrow(1, 2 * units, units) + of_state(reset * state, 2, 1));
    state = proposed + update * (state - proposed);
    states.push_back(state);
  }
  return torch::stack(states, 1);
}

/// A layer over the steps of a sequence, weights as PyTorch has them.
/// source: GRU: Cho et al., EMNLP 2014; LSTM: Hochreiter and Schmidhuber, 1997
template <Cell cell>
class Recurrent final : public CopiedLayer<Recurrent<cell>> {
 public:
  void fields(core::FieldList& list) override {
    list.add(key_of(cell), units_, "units of a recurrent layer over samples [steps, features]",
             Range::between(1, 1e6));
    list.add("sequences", sequences_, "its output at every step; false: at the last one");
    list.add("bidirectional", bidirectional_,
             "a second one from the last step to the first, its output behind the other's");
    if constexpr (cell == Cell::gru)
      list.add(
          "reset_after", reset_after_,
          "the reset gate acts behind the hidden weights, as in PyTorch and cuDNN; false: before "
          "them, as published");
    list.add(
        "hidden_bias", hidden_bias_,
        "a second bias, on what the state is multiplied by, as in PyTorch; false: one alone, as in "
        "Keras");
    if constexpr (cell == Cell::lstm)
      list.add("forget_bias", forget_bias_,
               "bias that the forget gate begins with, the others with 0 (Keras: 1); null: as all",
               Range::between(-100, 100));
    initial_.field(list);
  }
  Shape declare(const Shape& input, LayerPlace& place) override {
    if (input.size() != 2) throw core::Error("It needs samples [steps, features].");
    const std::int64_t gates = cell == Cell::gru ? 3 : cell == Cell::lstm ? 4 : 1;
    for (const std::string direction : {"", "reverse_"}) {
      if (!direction.empty() && !bidirectional_) continue;
      place.parameter(direction + "input_weight", {gates * units_, input[1]}, units_, false);
      place.parameter(direction + "hidden_weight", {gates * units_, units_}, units_, false);
      place.parameter(direction + "input_bias", {gates * units_}, units_, true);
      if (hidden_bias_) place.parameter(direction + "hidden_bias", {gates * units_}, units_, true);
    }
    initial_.apply(place);
    if (forget_bias_) set_forget_bias(place);
    const std::int64_t directions = bidirectional_ ? 2 : 1, outputs = directions * units_;
    place.operations = directions * input[0] * gates * units_ * (input[1] + units_);
    return sequences_ ? Shape{input[0], outputs} : Shape{outputs};
  }
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors& tensors,
                           const Evaluation&) const override {
    torch::Tensor outputs = at_all_steps(input, tensors.weights);
    if (sequences_) return outputs;
    if (!bidirectional_) return outputs.select(1, -1);
    return torch::cat({outputs.select(1, -1).narrow(1, 0, units_),
                       outputs.select(1, 0).narrow(1, units_, units_)},
                      1);
  }

 private:
  // The second of four gates; one of two biases that are added.
  void set_forget_bias(LayerPlace& place) const {
    for (ParameterTensor& parameter : place.parameters)
      if (parameter.is_bias)
        parameter.initial = [value = parameter.name.ends_with("input_bias") ? *forget_bias_ : 0,
                             units = units_](const core::RandomStream&) {
          torch::Tensor bias = torch::zeros({4 * units});
          bias.narrow(0, units, units).fill_(value);
          return bias;
        };
  }

  // With zeros in place of biases that it does not have.
  std::vector<torch::Tensor> all_weights(std::span<const torch::Tensor> own) const {
    std::vector<torch::Tensor> all;
    for (const torch::Tensor& weight : own) {
      all.push_back(weight);
      if (!hidden_bias_ && all.size() % 4 == 3) all.push_back(torch::zeros_like(weight));
    }
    return all;
  }

  torch::Tensor at_all_steps(const torch::Tensor& input,
                             std::span<const torch::Tensor> given) const {
    const std::vector<torch::Tensor> weights = all_weights(given);
    const std::span<const torch::Tensor> own(weights);
    if (cell == Cell::gru && !reset_after_) {
      if (!bidirectional_) return gru_of_cho(input, own);
      return torch::cat(
          {gru_of_cho(input, own.first(4)), gru_of_cho(input.flip(1), own.last(4)).flip(1)}, 2);
    }
    const torch::Tensor start =
        torch::zeros({bidirectional_ ? 2 : 1, input.size(0), units_}, input.options());
    const bool training = torch::GradMode::is_enabled();  // without it cuDNN keeps no way back
    if constexpr (cell == Cell::lstm)
      return std::get<0>(torch::lstm(input, {start, start}, weights, /*has_biases=*/true, 1, 0,
                                     training, bidirectional_, /*batch_first=*/true));
    else if constexpr (cell == Cell::gru)
      return std::get<0>(torch::gru(input, start, weights, true, 1, 0, training, bidirectional_,
                                    /*batch_first=*/true));
    else
      return std::get<0>(torch::rnn_tanh(input, start, weights, true, 1, 0, training,
                                         bidirectional_, /*batch_first=*/true));
  }

  std::int64_t units_ = 50;
  bool sequences_ = false, bidirectional_ = false, reset_after_ = true, hidden_bias_ = true;
  std::optional<double> forget_bias_{};
  InitialValues initial_;
};

}  // namespace

std::vector<LayerKind> recurrent_layers() {
  return {kind_of<Recurrent<Cell::gru>>("gru"), kind_of<Recurrent<Cell::lstm>>("lstm"),
          kind_of<Recurrent<Cell::plain>>("rnn")};
}

}  // namespace sagips::nn
