#include "sagips/core/error.hpp"
#include "sagips/nn/layers/layers.hpp"

namespace sagips::nn {

using core::Range;

namespace {

enum class Cell { plain, gru, lstm };

constexpr const char* key_of(Cell cell) {
  return cell == Cell::gru ? "gru" : cell == Cell::lstm ? "lstm" : "rnn";
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
  }
  Shape declare(const Shape& input, LayerPlace& place) override {
    if (input.size() != 2) throw core::Error("It needs samples [steps, features].");
    const std::int64_t gates = cell == Cell::gru ? 3 : cell == Cell::lstm ? 4 : 1;
    place.parameter("input_weight", {gates * units_, input[1]}, units_, false);
    place.parameter("hidden_weight", {gates * units_, units_}, units_, false);
    place.parameter("input_bias", {gates * units_}, units_, true);
    place.parameter("hidden_bias", {gates * units_}, units_, true);
    place.operations = input[0] * gates * units_ * (input[1] + units_);
    return sequences_ ? Shape{input[0], units_} : Shape{units_};
  }
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors& tensors,
                           const Evaluation& evaluation) const override {
    const torch::Tensor start = torch::zeros({1, input.size(0), units_}, input.options());
    const std::vector<torch::Tensor> weights(tensors.weights.begin(), tensors.weights.end());
    const bool training = evaluation.training != nullptr;
    torch::Tensor outputs;
    if constexpr (cell == Cell::lstm)
      outputs = std::get<0>(torch::lstm(input, {start, start}, weights, /*has_biases=*/true, 1, 0,
                                        training, /*bidirectional=*/false, /*batch_first=*/true));
    else if constexpr (cell == Cell::gru)
      outputs = std::get<0>(
          torch::gru(input, start, weights, true, 1, 0, training, false, /*batch_first=*/true));
    else
      outputs = std::get<0>(torch::rnn_tanh(input, start, weights, true, 1, 0, training, false,
                                            /*batch_first=*/true));
    return sequences_ ? outputs : outputs.select(1, -1);
  }

 private:
  std::int64_t units_ = 50;
  bool sequences_ = false;
};

}  // namespace

std::vector<LayerKind> recurrent_layers() {
  return {kind_of<Recurrent<Cell::gru>>("gru"), kind_of<Recurrent<Cell::lstm>>("lstm"),
          kind_of<Recurrent<Cell::plain>>("rnn")};
}

}  // namespace sagips::nn
