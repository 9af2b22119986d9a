#include "sagips/kernels/mlp_passes.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

#include <unistd.h>

#include "sagips/kernels/rows.hpp"

namespace sagips::kernels {

namespace {

constexpr std::int64_t panel_rows = 32;   // what a product writes stays in the first-level cache
constexpr std::int64_t many_inputs = 16;  // from here on a product beats sums, input by input

std::size_t size(std::int64_t number) { return static_cast<std::size_t>(number); }

std::int64_t whole_panels(std::int64_t rows, std::int64_t panel = panel_rows) {
  return (rows + panel - 1) / panel * panel;
}

}  // namespace

std::int64_t second_level_cache() {
  const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE);
  return bytes > 0 ? bytes : 1 << 20;
}

std::int64_t rows_in_cache(const MlpShape& shape, std::int64_t cache_bytes) {
  constexpr std::int64_t number = sizeof(float);
  // weights between hidden layers three times: as they are, transposed, and their gradients
  std::int64_t weights = 0, row = 2 * shape.widest_hidden() * number;
  for (std::size_t layer = 1; layer <= shape.hidden_layers(); ++layer) {
    row += shape.widths[layer] * number;
    if (layer > 1) weights += 3 * shape.widths[layer - 1] * shape.widths[layer] * number;
  }
  const std::int64_t rows = (cache_bytes * 3 / 4 - weights) / row;
  return std::clamp(rows / panel_rows * panel_rows, 2 * panel_rows, 16 * panel_rows);
}

/// What a thread works in: a block's input and activations, the deltas of two layers.
class MlpPasses::Scratch {
 public:
  Scratch(const MlpShape& shape, const Heights& how)
      : heights(how), inputs(size(shape.inputs())), activations(shape.hidden_layers()) {
    const std::size_t rows = size(how.block), outputs = size(shape.outputs());
    const std::size_t deltas = rows * size(shape.widest_hidden());
    const std::size_t first = shape.inputs() < many_inputs ? inputs * size(shape.widths[1]) : 0;
    std::vector<std::pair<float**, std::size_t>> wanted = {{&delta, deltas},
                                                           {&next_delta, deltas},
                                                           {&input, rows * inputs},
                                                           {&factors, rows * outputs},
                                                           {&input_gradient, rows * inputs},
                                                           {&output, rows * outputs},
                                                           {&first_weights, first}};
    for (std::size_t layer = 0; layer < activations.size(); ++layer)
      wanted.push_back({&activations[layer], rows * size(shape.widths[layer + 1])});
    constexpr std::size_t line = 16;
    std::size_t total = 0;
    for (auto& [place, count] : wanted) total += count = (count + line - 1) / line * line;
    thread_local AlignedFloats memory;
    memory.grow(total);
    float* next = memory.data();
    for (const auto& [place, count] : wanted) *place = std::exchange(next, next + count);
    std::fill_n(first_weights, first, 0.0F);
  }

  const Heights& heights;
  std::size_t inputs;
  std::vector<float*> activations;  ///< of each hidden layer, [rows, width]
  float* delta;                     ///< d output / d sums of the layer in hand, [rows, width]
  float* next_delta;                ///< of the layer below
  float *input, *input_gradient;    ///< [rows, inputs]
  float *factors, *output;          ///< [rows, outputs]
  float* first_weights;  ///< of few inputs: gradient of the first layer's weight, [inputs, width]
};

/// How gradients of the weights are collected on the way back.
struct MlpPasses::Learning {
  bool late;  ///< the deltas are free of the rows' factors, for the input gradient's sake
  std::span<float* const> gradients;
};

MlpPasses::Layer::Layer(std::int64_t from_size, std::int64_t to_size)
    : from(from_size),
      to(to_size),
      plain(size(to * from)),
      transposed(size(from * to)),
      bias(size(to)) {}

void MlpPasses::Layer::pack(const float* weight, const float* new_bias) {
  std::copy_n(new_bias, size(to), bias.data());
  std::copy_n(weight, size(to * from), plain.data());
  transpose(weight, transposed.data(), size(to), size(from));
}

MlpPasses::MlpPasses(const MlpShape& shape, std::int64_t block_rows,
                     std::shared_ptr<const Products> library)
    : shape_(shape),
      block_rows_(whole_panels(block_rows)),
      library_(std::move(library)),
      output_(*(shape.widths.end() - 2), shape.outputs()) {
  for (std::size_t layer = 0; layer < shape.hidden_layers(); ++layer)
    hidden_.emplace_back(shape.widths[layer], shape.widths[layer + 1]);
  whole_ = heights(panel_rows, block_rows_);
}

MlpPasses::Heights MlpPasses::heights(std::int64_t panel, std::int64_t block) const {
  Heights made{panel, block};
  const auto add = [&](const Layer& layer, bool transposed) {
    const std::int64_t rows = transposed ? layer.from : layer.to,
                       columns = transposed ? layer.to : layer.from;
    made.layers.push_back(
        {library_->multiply(panel, layer.from, layer.to),
         library_->multiply(panel, layer.to, layer.from),
         {library_->accumulate(block, rows, columns), library_->accumulate(panel, rows, columns)}});
  };
  for (const Layer& layer : hidden_) add(layer, &layer == hidden_.data() && !has_many_inputs());
  if (!has_one_output()) add(output_, false);
  return made;
}

// A batch of 75 is three panels of 25 in one block: no row is filled up, and gradients are added to once.
const MlpPasses::Heights& MlpPasses::heights_for(std::int64_t rows) const {
  if (rows >= block_rows_ || rows == 0) return whole_;
  const std::lock_guard lock(few_->mutex);
  const auto found = few_->known.find(rows);
  if (found != few_->known.end()) return found->second;
  const std::int64_t panels = whole_panels(rows) / panel_rows, panel = (rows + panels - 1) / panels;
  return few_->known.emplace(rows, heights(panel, panels * panel)).first->second;
}

bool MlpPasses::has_many_inputs() const { return shape_.inputs() >= many_inputs; }

void MlpPasses::pack(std::span<const float* const> parameters) {
  for (std::size_t i = 0; i < hidden_.size(); ++i)
    hidden_[i].pack(parameters[2 * i], parameters[2 * i + 1]);
  output_.pack(parameters[2 * hidden_.size()], parameters[2 * hidden_.size() + 1]);
}

// Cuts rows into blocks, the last one filled up with rows of zeros to whole panels.
// block(first row, rows, whole rows) does what comes between forward and input gradient.
template <class Block>
void MlpPasses::each_block(Scratch& scratch, const Rows& rows, const Block& block) const {
  const std::size_t inputs = scratch.inputs, outputs = size(shape_.outputs());
  const auto [panel_height, block_height] = std::pair(scratch.heights.panel, scratch.heights.block);
  for (std::int64_t first = 0; first < rows.rows; first += block_height) {
    const std::int64_t here = std::min(block_height, rows.rows - first),
                       whole = whole_panels(here, panel_height);
    float* const filled =
        std::copy_n(rows.input + size(first) * inputs, size(here) * inputs, scratch.input);
    std::fill_n(filled, size(whole - here) * inputs, 0.0F);
    forward(scratch, whole);
    std::copy_n(scratch.output, size(here) * outputs, rows.output + size(first) * outputs);
    block(first, here, whole);
    if (!rows.input_gradient) continue;
    input_gradient(scratch, whole);
    std::copy_n(scratch.input_gradient, size(here) * inputs,
                rows.input_gradient + size(first) * inputs);
  }
}

Panel MlpPasses::panel(const Scratch& scratch, std::size_t layer, std::int64_t first) const {
  const std::size_t width = size(hidden_[layer].to);
  return {.rows = size(scratch.heights.panel),
          .width = width,
          .activation = shape_.activation,
          .activations = scratch.activations[layer] + size(first) * width};
}

// All layers of a panel before the next panel: what a product wrote is read while it is warm.
void MlpPasses::forward(Scratch& scratch, std::int64_t rows) const {
  for (std::int64_t first = 0; first < rows; first += scratch.heights.panel) {
    const float* from = scratch.input + size(first) * scratch.inputs;
    for (std::size_t layer = 0; layer < hidden_.size(); ++layer) {
      const Panel to = panel(scratch, layer, first);
      scratch.heights.layers[layer].forward(from, hidden_[layer].transposed.data(), to.activations);
      activate(to, hidden_[layer].bias.data());
      from = to.activations;
    }
    float* const output = scratch.output + first * shape_.outputs();
    if (has_one_output()) {
      weighted_sums(from, output_.plain.data(), *output_.bias.data(), output,
                    size(scratch.heights.panel), size(output_.from));
    } else {
      scratch.heights.layers.back().forward(from, output_.transposed.data(), output);
      add_to_rows(output, output_.bias.data(), size(scratch.heights.panel), size(shape_.outputs()));
    }
  }
}

Panel MlpPasses::delta_panel(const Scratch& scratch, std::size_t layer, std::int64_t first,
                             float* delta, const Learning* learning) const {
  Panel panel = this->panel(scratch, layer, first);
  panel.delta = delta + size(first) * panel.width;
  if (learning) {
    panel.factors = scratch.factors + first * shape_.outputs();
    panel.late = learning->late;
    panel.bias_gradient = learning->gradients[2 * layer + 1];
  }
  return panel;
}

// From the output to the last hidden layer's delta.
void MlpPasses::start_backward(Scratch& scratch, std::int64_t rows,
                               const Learning* learning) const {
  const std::size_t last = hidden_.size() - 1;
  float* const weight_gradient = learning ? learning->gradients[2 * last + 2] : nullptr;
  for (std::int64_t first = 0; first < rows; first += scratch.heights.panel) {
    const Panel panel = delta_panel(scratch, last, first, scratch.delta, learning);
    if (has_one_output()) {
      start_delta(panel, output_.plain.data(), weight_gradient);
    } else {
      scratch.heights.layers.back().below(panel.factors, output_.plain.data(), panel.delta);
      through_activation(panel);
    }
  }
  if (!learning) return;
  add_rows(scratch.factors, size(rows), learning->gradients[2 * last + 3], size(shape_.outputs()));
  if (!has_one_output())
    add(scratch, last + 1, scratch.factors, output_.to, scratch.activations[last], output_.from,
        rows, weight_gradient);
}

// Down to the first layer's delta.
void MlpPasses::backward(Scratch& scratch, std::int64_t rows, const Learning* learning) const {
  start_backward(scratch, rows, learning);
  for (std::size_t layer = hidden_.size() - 1; layer > 0; --layer) {
    const Layer& above = hidden_[layer];
    for (std::int64_t first = 0; first < rows; first += scratch.heights.panel) {
      const Panel panel = delta_panel(scratch, layer - 1, first, scratch.next_delta, learning);
      scratch.heights.layers[layer].below(scratch.delta + first * above.to, above.plain.data(),
                                          panel.delta);
      through_activation(panel);
    }
    if (learning)
      add(scratch, layer, scratch.delta, above.to, scratch.activations[layer - 1], above.from, rows,
          learning->gradients[2 * layer]);
    std::swap(scratch.delta, scratch.next_delta);
  }
}

void MlpPasses::input_gradient(const Scratch& scratch, std::int64_t rows) const {
  const std::size_t inputs = scratch.inputs, width = size(hidden_[0].to);
  if (has_many_inputs()) {
    for (std::int64_t first = 0; first < rows; first += scratch.heights.panel)
      scratch.heights.layers[0].below(scratch.delta + size(first) * width, hidden_[0].plain.data(),
                                      scratch.input_gradient + size(first) * inputs);
    return;
  }
  for (std::size_t input = 0; input < inputs; ++input) {
    weighted_sums(scratch.delta, hidden_[0].transposed.data() + input * width, 0.0F, scratch.output,
                  size(rows), width);
    for (std::size_t row = 0; row < size(rows); ++row)
      scratch.input_gradient[row * inputs + input] = scratch.output[row];
  }
}

// to += a^T b. shape: a [rows, a_width], b [rows, b_width]
void MlpPasses::add(const Scratch& scratch, std::size_t layer, const float* a, std::int64_t a_width,
                    const float* b, std::int64_t b_width, std::int64_t rows, float* to) {
  const Gradient& gradient = scratch.heights.layers[layer].gradient;
  if (rows == scratch.heights.block) return gradient.block(a, b, to);
  for (std::int64_t first = 0; first < rows; first += scratch.heights.panel)
    gradient.panel(a + first * a_width, b + first * b_width, to);
}

void MlpPasses::evaluate(const Rows& rows) const {
  Scratch scratch(shape_, heights_for(rows.rows));
  each_block(scratch, rows, [&](std::int64_t, std::int64_t, std::int64_t whole) {
    if (rows.input_gradient) backward(scratch, whole, nullptr);
  });
}

// A row's factor enters the deltas at the start. Where the input gradient needs deltas without it,
// it enters what the deltas are multiplied with.
void MlpPasses::learn(const Rows& rows, const Slopes& slopes,
                      std::span<float* const> gradients) const {
  const Learning learning{.late = rows.input_gradient != nullptr, .gradients = gradients};
  const std::size_t outputs = size(shape_.outputs());
  const Layer& lowest = hidden_[0];
  Scratch scratch(shape_, heights_for(rows.rows));
  each_block(scratch, rows, [&](std::int64_t first, std::int64_t here, std::int64_t whole) {
    const std::size_t known = size(here) * outputs;
    slopes({scratch.output, known}, first, {scratch.factors, known});
    std::fill(scratch.factors + known, scratch.factors + size(whole) * outputs, 0.0F);
    backward(scratch, whole, &learning);
    if (learning.late) scale_rows(scratch.input, scratch.factors, size(whole), scratch.inputs);
    if (has_many_inputs())
      add(scratch, 0, scratch.delta, lowest.to, scratch.input, lowest.from, whole, gradients[0]);
    else  // transposed: few inputs would leave most of a vector empty
      add(scratch, 0, scratch.input, lowest.from, scratch.delta, lowest.to, whole,
          scratch.first_weights);
  });
  if (!has_many_inputs())
    add_transposed(scratch.first_weights, gradients[0], scratch.inputs, size(lowest.to));
}

}  // namespace sagips::kernels
