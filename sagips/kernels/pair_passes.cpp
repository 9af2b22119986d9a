#include "sagips/kernels/pair_passes.hpp"

#include <algorithm>
#include <utility>

#include "sagips/core/vector_widths.hpp"
#include "sagips/kernels/rows.hpp"

namespace sagips::kernels {

namespace {

constexpr std::int64_t vector_floats = 16, row_step = 8;

std::int64_t whole_vectors(std::int64_t width) {
  return (width + vector_floats - 1) / vector_floats * vector_floats;
}
std::int64_t whole_rows(std::int64_t rows) { return (rows + row_step - 1) / row_step * row_step; }
std::size_t index(std::int64_t number) { return static_cast<std::size_t>(number); }

// shape: values [rows, width] -> sums [width], of all rows but one
SAGIPS_VECTOR_WIDTHS void sum_of_others(const float* values, std::int64_t rows, std::int64_t width,
                                        std::int64_t skipped, float* __restrict sums) {
  std::fill_n(sums, width, 0.0F);
  for (std::int64_t row = 0; row < rows; ++row, values += width) {
    if (row == skipped) continue;
    for (std::int64_t j = 0; j < width; ++j) sums[j] += values[j];
  }
}

SAGIPS_VECTOR_WIDTHS void add_numbers(const float* values, std::int64_t count,
                                      float* __restrict sums) {
  for (std::int64_t i = 0; i < count; ++i) sums[i] += values[i];
}

}  // namespace

/// What a thread works in: an event's particles that are present, one behind the other, and the sums over events.
class PairPasses::Event {
 public:
  Event(const PairPasses& passes, bool goes_back)
      : shape_(passes.shape_), wide_(passes.wide_), rows_(whole_rows(shape_.particles)) {
    const std::int64_t widest = *std::max_element(wide_.begin(), wide_.end());
    std::vector<std::pair<float**, std::int64_t>> wanted = {
        {&a, rows_ * wide_[0]}, {&b, rows_ * wide_[0]}, {&sums, widest}};
    values.resize(wide_.size());
    for (std::size_t i = 0; i < wide_.size(); ++i)
      wanted.emplace_back(&values[i], rows_ * wide_[i]);
    weight_gradients.resize(wide_.size() - 1);
    bias_gradients.resize(wide_.size() - 1);
    if (goes_back) {
      wanted.insert(wanted.end(), {{&delta, rows_ * widest},
                                   {&next_delta, rows_ * widest},
                                   {&a_gradient, rows_ * wide_[0]},
                                   {&b_gradient, rows_ * wide_[0]},
                                   {&ones, rows_}});
      for (std::size_t i = 0; i + 1 < wide_.size(); ++i) {
        wanted.emplace_back(&weight_gradients[i], wide_[i] * wide_[i + 1]);
        wanted.emplace_back(&bias_gradients[i], wide_[i + 1]);
      }
    }
    std::int64_t total = 0;
    for (auto& [place, count] : wanted) total += count = whole_vectors(count);
    memory_.grow(index(total));
    std::fill_n(memory_.data(), total, 0.0F);
    float* next = memory_.data();
    for (const auto& [place, count] : wanted) *place = std::exchange(next, next + count);
    if (goes_back) std::fill_n(ones, rows_, 1.0F);
  }

  void take(const Events& events, std::int64_t number) {
    const float* const halves = events.halves + number * shape_.half_numbers();
    particles.clear();
    for (std::int64_t i = 0; i < shape_.particles; ++i)
      if (!events.present || events.present[number * shape_.particles + i] != 0)
        particles.push_back(i);
    const std::int64_t width = shape_.widths[0], wide = wide_[0];
    for (std::size_t i = 0; i < particles.size(); ++i) {
      const float* const both = halves + particles[i] * 2 * width;
      std::copy_n(both, width, a + index(wide) * i);
      std::copy_n(both + width, width, b + index(wide) * i);
    }
    std::fill_n(b + count() * wide, (rows() - count()) * wide, 0.0F);
  }
  std::int64_t count() const { return static_cast<std::int64_t>(particles.size()); }
  std::int64_t rows() const { return std::max(row_step, whole_rows(count())); }

  /// The values of a layer, or their slopes on the way back.
  Panel panel(std::size_t layer) const {
    return {.rows = index(rows()),
            .width = index(wide_[layer]),
            .activation = shape_.activations[layer],
            .activations = values[layer],
            .delta = delta,
            .factors = ones};
  }

  std::vector<std::int64_t> particles;  ///< that are present
  float *a, *b;                         ///< [rows, first width]
  float* sums;
  std::vector<float*> values;  ///< of each layer [rows, width]
  float *delta = nullptr, *next_delta = nullptr, *ones = nullptr;
  float *a_gradient = nullptr, *b_gradient = nullptr;
  std::vector<float*> weight_gradients, bias_gradients;

 private:
  const PairShape& shape_;
  const std::vector<std::int64_t>& wide_;
  std::int64_t rows_;
  AlignedFloats memory_;
};

PairPasses::PairPasses(const PairShape& shape, const std::shared_ptr<const Products>& products)
    : shape_(shape) {
  for (const std::int64_t width : shape.widths) wide_.push_back(whole_vectors(width));
  const std::int64_t most = whole_rows(shape.particles);
  for (std::int64_t rows = shape.some_absent ? row_step : most; rows <= most; rows += row_step) {
    Rows& all = rows_.emplace_back();
    for (std::size_t i = 1; i < wide_.size(); ++i) {
      all.forward.push_back(products->multiply(rows, wide_[i - 1], wide_[i]));
      all.below.push_back(products->multiply(rows, wide_[i], wide_[i - 1]));
      all.gradient.push_back(products->accumulate(rows, wide_[i], wide_[i - 1]));
    }
  }
}

std::int64_t PairPasses::weights() const {
  std::int64_t all = 0;
  for (std::size_t i = 1; i < shape_.widths.size(); ++i)
    all += (shape_.widths[i - 1] + 1) * shape_.widths[i];
  return all;
}

std::vector<PairPasses::Packed> PairPasses::pack(const float* weights) const {
  std::vector<Packed> all;
  for (std::size_t i = 1; i < wide_.size(); ++i) {
    const std::int64_t from = wide_[i - 1], to = wide_[i], inputs = shape_.widths[i - 1],
                       outputs = shape_.widths[i];
    Packed& packed =
        all.emplace_back(Packed{AlignedFloats(index(from * to)), AlignedFloats(index(from * to)),
                                AlignedFloats(index(to))});
    std::fill_n(packed.plain.data(), from * to, 0.0F);
    std::fill_n(packed.bias.data(), to, 0.0F);
    for (std::int64_t row = 0; row < outputs; ++row, weights += inputs)
      std::copy_n(weights, inputs, packed.plain.data() + row * from);
    std::copy_n(weights, outputs, packed.bias.data());
    weights += outputs;
    transpose(packed.plain.data(), packed.transposed.data(), index(to), index(from));
  }
  return all;
}

const PairPasses::Rows& PairPasses::products(const Event& event) const {
  return shape_.some_absent ? rows_[index(event.rows() / row_step - 1)] : rows_[0];
}

// What all senders make with a receiver.
void PairPasses::fill(Event& event, const std::vector<Packed>& packed,
                      std::int64_t receiver) const {
  std::copy_n(event.b, event.rows() * wide_[0], event.values[0]);
  activate(event.panel(0), event.a + receiver * wide_[0]);
  for (std::size_t i = 0; i < packed.size(); ++i) {
    products(event).forward[i](event.values[i], packed[i].transposed.data(), event.values[i + 1]);
    activate(event.panel(i + 1), packed[i].bias.data());
  }
}

// slope: of this receiver's message, in whole vectors
void PairPasses::go_back(Event& event, const std::vector<Packed>& packed, std::int64_t receiver,
                         const float* slope) const {
  const std::int64_t last = wide_.back();
  for (std::int64_t row = 0; row < event.count(); ++row)
    std::copy_n(slope, last, event.delta + row * last);
  std::fill_n(event.delta + receiver * last, last, 0.0F);
  std::fill_n(event.delta + event.count() * last, (event.rows() - event.count()) * last, 0.0F);
  for (std::size_t i = packed.size(); i > 0; --i) {
    Panel panel = event.panel(i);
    panel.bias_gradient = event.bias_gradients[i - 1];
    through_activation(panel);
    products(event).gradient[i - 1](event.delta, event.values[i - 1],
                                    event.weight_gradients[i - 1]);
    products(event).below[i - 1](event.delta, packed[i - 1].plain.data(), event.next_delta);
    std::swap(event.delta, event.next_delta);
  }
  Panel panel = event.panel(0);
  panel.bias_gradient = event.a_gradient + receiver * wide_[0];
  through_activation(panel);
  add_numbers(event.delta, event.count() * wide_[0], event.b_gradient);
}

void PairPasses::forward(const Events& events, const std::vector<Packed>& packed,
                         float* messages) const {
  Event event(*this, false);
  std::fill_n(messages, events.count * shape_.message_numbers(), 0.0F);
  for (std::int64_t i = 0; i < events.count; ++i, messages += shape_.message_numbers()) {
    event.take(events, i);
    for (std::int64_t receiver = 0; receiver < event.count(); ++receiver) {
      fill(event, packed, receiver);
      sum_of_others(event.values.back(), event.count(), wide_.back(), receiver, event.sums);
      std::copy_n(event.sums, shape_.outputs(),
                  messages + event.particles[index(receiver)] * shape_.outputs());
    }
  }
}

void PairPasses::backward(const Events& events, const std::vector<Packed>& packed,
                          const float* slopes, float* halves_gradient, float* gradient) const {
  Event event(*this, true);
  const std::int64_t width = shape_.widths[0], wide = wide_[0];
  std::fill_n(halves_gradient, events.count * shape_.half_numbers(), 0.0F);
  for (std::int64_t i = 0; i < events.count; ++i) {
    event.take(events, i);
    std::fill_n(event.a_gradient, event.count() * wide, 0.0F);
    std::fill_n(event.b_gradient, event.count() * wide, 0.0F);
    for (std::int64_t receiver = 0; receiver < event.count(); ++receiver) {
      fill(event, packed, receiver);
      std::copy_n(slopes + event.particles[index(receiver)] * shape_.outputs(), shape_.outputs(),
                  event.sums);
      go_back(event, packed, receiver, event.sums);
    }
    for (std::int64_t row = 0; row < event.count(); ++row) {
      float* const both = halves_gradient + event.particles[index(row)] * 2 * width;
      std::copy_n(event.a_gradient + row * wide, width, both);
      std::copy_n(event.b_gradient + row * wide, width, both + width);
    }
    slopes += shape_.message_numbers();
    halves_gradient += shape_.half_numbers();
  }
  for (std::size_t i = 0; i < packed.size(); ++i) {
    const std::int64_t inputs = shape_.widths[i], outputs = shape_.widths[i + 1];
    for (std::int64_t row = 0; row < outputs; ++row, gradient += inputs)
      add_numbers(event.weight_gradients[i] + row * wide_[i], inputs, gradient);
    add_numbers(event.bias_gradients[i], outputs, gradient);
    gradient += outputs;
  }
}

}  // namespace sagips::kernels
