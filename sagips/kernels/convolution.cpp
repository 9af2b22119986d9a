#include "sagips/kernels/convolution.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <span>
#include <utility>

#include "sagips/kernels/convolution_passes.hpp"

namespace sagips::kernels {

namespace {

constexpr std::int64_t slack = 256;  // floats behind an array that whole vectors may read

/// Output channels that are summed at a time: as equal blocks as there are.
struct ChannelBlocks {
  ChannelBlocks(std::int64_t channels, const ConvolutionInstructions& set)
      : count((channels + set.channels - 1) / set.channels), all(channels) {}
  std::int64_t first(std::int64_t block) const { return all * block / count; }
  int size(std::int64_t block) const { return static_cast<int>(first(block + 1) - first(block)); }
  std::int64_t count, all;
};

/// The planes of an image that products need by now, each spread once.
class Planes {
 public:
  Planes(const ConvolutionShape& shape, const Layout& layout, const float* image,
         std::int64_t at_once)
      : shape_(shape),
        layout_(layout),
        image_(image),
        held_(static_cast<std::size_t>(at_once + shape.kernel[0] - 1), -1),
        far_(shape.in_channels * layout.plane + slack),
        data_(scratch(0, static_cast<std::int64_t>(held_.size()) * layout.points * far_)) {}

  std::int64_t far() const { return far_; }  // from one point to the next
  /// shape: [in_channels, plane] at the first point; null: it is zeros. x: of the padded image
  const float* at(std::int64_t x) {
    const std::int64_t own = x - shape_.before[0];
    if (own < 0 || own >= shape_.input[0]) return nullptr;
    const auto slot = static_cast<std::size_t>(x) % held_.size();
    float* const data = data_ + static_cast<std::int64_t>(slot) * layout_.points * far_;
    if (std::exchange(held_[slot], x) == x) return data;
    const std::int64_t numbers = shape_.input[1] * shape_.input[2],
                       above = shape_.before[1] * layout_.row,
                       below = shape_.behind[1] * layout_.row;
    for (std::int64_t c = 0; c < shape_.in_channels; ++c) {
      float* const plane = data + c * layout_.plane;
      layout_.set.spread_input({layout_, shape_.input[1], shape_.input[2], shape_.before[2],
                                image_ + (c * shape_.input[0] + own) * numbers, plane + above,
                                far_});
      // behind the rows, which write beyond their ends
      for (std::int64_t f = 0; f < layout_.points; ++f) {
        std::fill_n(plane + f * far_, above, 0.0F);
        std::fill_n(plane + f * far_ + layout_.plane - below,
                    below + (c + 1 == shape_.in_channels ? slack : 0), 0.0F);
      }
    }
    return data;
  }

 private:
  const ConvolutionShape& shape_;
  const Layout& layout_;
  const float* image_;
  std::vector<std::int64_t> held_;
  std::int64_t far_;
  float* data_;
};

// Planes of the output whose gradients are in a second cache together, and floats of them in a first one.
constexpr std::int64_t planes_at_once = 4, first_cache = 6144;

/// Gradients of some planes of the output, as products need them.
struct Gradients {
  const float* at;  // [planes, out_channels, pitch] at the first point
  std::int64_t planes, far;
};

// sums: [points, blocks, in_channels] of what `add_slopes` adds to
void add_slopes_of_planes(const ConvolutionShape& shape, const Layout& layout, Planes& input,
                          std::int64_t first, const Gradients& gradients, float* sums) {
  const ChannelBlocks blocks(shape.out_channels, layout.set);
  std::vector<std::vector<const float*>> planes;
  for (std::int64_t x = 0; x < gradients.planes; ++x) {
    planes.emplace_back();
    for (std::int64_t a = 0; a < shape.kernel[0]; ++a)
      planes.back().push_back(input.at(first + x + a));
  }
  std::vector<const float*> here(static_cast<std::size_t>(shape.kernel[0]));
  for (std::int64_t f = 0; f < layout.points; ++f)
    for (std::int64_t block = 0; block < blocks.count; ++block) {
      const int channels = blocks.size(block);
      const std::int64_t pieces = (layout.pitch * channels + first_cache - 1) / first_cache,
                         piece = ((layout.pitch + pieces - 1) / pieces + 15) / 16 * 16;
      for (std::int64_t i = 0; i < shape.in_channels; ++i) {
        for (std::int64_t x = 0; x < gradients.planes; ++x)
          for (std::int64_t p = 0; p < layout.pitch; p += piece) {
            const auto& taps = planes[static_cast<std::size_t>(x)];
            std::transform(taps.begin(), taps.end(), here.begin(), [&](const float* plane) {
              return plane == nullptr ? nullptr : plane + f * input.far() + i * layout.plane + p;
            });
            layout.set.add_slopes(
                {layout, here,
                 gradients.at + f * gradients.far +
                     (x * shape.out_channels + blocks.first(block)) * layout.pitch + p,
                 std::min(piece, layout.pitch - p), sums},
                channels);
          }
        sums += channels * layout.weights() * layout.set.lanes;
      }
    }
}

// A sum of a plane of the output's gradient, in parts that are independent of each other.
float sum_of(std::span<const float> plane) {
  std::array<float, 16> sums{};
  std::size_t i = 0;
  for (; i + sums.size() <= plane.size(); i += sums.size())
    for (std::size_t k = 0; k < sums.size(); ++k) sums[k] += plane[i + k];
  for (; i < plane.size(); ++i) sums[0] += plane[i];
  return std::accumulate(sums.begin(), sums.end(), 0.0F);
}

// Adds what `add_slopes` has left at all points to the gradients of weights.
void take_sums(const ConvolutionShape& shape, const Layout& layout, const float* sums,
               float* weights) {
  const int lanes = layout.set.lanes;
  const ChannelBlocks blocks(shape.out_channels, layout.set);
  const std::int64_t last = layout.taps[2], kz = layout.tile == 0 ? 1 : shape.kernel[2];
  const AtPoints factors = layout.tile > 0 ? taps_at_points(shape.kernel[2]) : AtPoints{};
  for (std::int64_t f = 0; f < layout.points; ++f)
    for (std::int64_t block = 0; block < blocks.count; ++block) {
      const std::int64_t most = layout.set.steps(blocks.size(block));
      for (std::int64_t i = 0; i < shape.in_channels; ++i)
        for (std::int64_t tap = 0; tap < layout.weights();) {
          const std::int64_t steps = std::min(most, last - tap % last);
          for (std::int64_t c = blocks.first(block); c < blocks.first(block + 1); ++c)
            for (std::int64_t s = 0; s < steps; ++s, sums += lanes) {
              const float sum = std::accumulate(sums, sums + lanes, 0.0F);
              float* const own =
                  weights + (c * shape.in_channels + i) * shape.taps() + (tap + s) * kz;
              for (std::int64_t z = 0; z < kz; ++z)
                own[z] += layout.tile == 0 ? sum : static_cast<float>(factors[f][z]) * sum;
            }
          tap += steps;
        }
    }
}

}  // namespace

ConvolutionShape ConvolutionShape::below() const {
  ConvolutionShape turned{out_channels, in_channels, {}, kernel, {}, {}};
  for (std::size_t i = 0; i < 3; ++i) {
    turned.input[i] = output(i);
    turned.before[i] = kernel[i] - 1 - before[i];
    turned.behind[i] = kernel[i] - 1 - behind[i];
  }
  return turned;
}

std::vector<std::string> convolution_instructions() {
  std::vector<std::string> names;
  for (const NamedInstructions& one : instructions_here()) names.push_back(one.name);
  return names;
}

Convolution::Convolution(const ConvolutionShape& shape, const std::string& instructions)
    : shape_(shape),
      set_(instructions.empty() ? instructions_here().front().set
                                : named_instructions(instructions_here(), instructions).set) {}

AlignedFloats Convolution::pack(const float* weights) const {
  const Layout layout(shape_, *set_);
  AlignedFloats packed(static_cast<std::size_t>(layout.points * shape_.out_channels *
                                                shape_.in_channels * layout.weights()));
  float* to = packed.data();
  const std::int64_t taps = layout.weights(), kz = layout.tile == 0 ? 1 : shape_.kernel[2];
  const AtPoints factors = layout.tile > 0 ? taps_at_points(shape_.kernel[2]) : AtPoints{};
  const ChannelBlocks blocks(shape_.out_channels, layout.set);
  for (std::int64_t f = 0; f < layout.points; ++f)
    for (std::int64_t block = 0; block < blocks.count; ++block)
      for (std::int64_t i = 0; i < shape_.in_channels; ++i)
        for (std::int64_t tap = 0; tap < taps; ++tap)
          for (std::int64_t c = blocks.first(block); c < blocks.first(block + 1); ++c) {
            const float* const own =
                weights + (c * shape_.in_channels + i) * shape_.taps() + tap * kz;
            double sum = 0;
            for (std::int64_t z = 0; z < kz; ++z)
              sum += (layout.tile == 0 ? 1 : factors[f][z]) * own[z];
            *to++ = static_cast<float>(sum);
          }
  return packed;
}

AlignedFloats Convolution::pack_turned(const float* weights) const {
  const std::int64_t taps = shape_.taps();
  AlignedFloats turned(static_cast<std::size_t>(shape_.weights()));
  for (std::int64_t c = 0; c < shape_.out_channels; ++c)
    for (std::int64_t i = 0; i < shape_.in_channels; ++i)
      std::reverse_copy(weights + (i * shape_.out_channels + c) * taps,
                        weights + (i * shape_.out_channels + c + 1) * taps,
                        turned.data() + (c * shape_.in_channels + i) * taps);
  return pack(turned.data());
}

void Convolution::forward(const float* input, const float* packed_weights, const Behind& behind,
                          float* output, PlaneRange range) const {
  const Layout layout(shape_, *set_);
  const ChannelBlocks blocks(shape_.out_channels, layout.set);
  Planes planes(shape_, layout, input, 1);
  const std::int64_t pitch = layout.pitch + slack, ny = shape_.output(1), nz = shape_.output(2),
                     pair = shape_.in_channels * layout.weights(),
                     far = layout.set.channels * pitch;
  float* const sums = scratch(1, layout.points * far);
  std::vector<const float*> taps(static_cast<std::size_t>(shape_.kernel[0])), here(taps.size());
  for (std::int64_t x = range.first; x < range.first + range.count; ++x) {
    for (std::size_t a = 0; a < taps.size(); ++a)
      taps[a] = planes.at(x + static_cast<std::int64_t>(a));
    for (std::int64_t block = 0; block < blocks.count; ++block) {
      const std::int64_t first = blocks.first(block);
      for (std::int64_t f = 0; f < layout.points; ++f) {
        std::transform(taps.begin(), taps.end(), here.begin(), [&](const float* plane) {
          return plane == nullptr ? nullptr : plane + f * planes.far();
        });
        layout.set.add_up(
            {layout, shape_.in_channels, here,
             packed_weights + (f * shape_.out_channels + first) * pair, sums + f * far, pitch},
            blocks.size(block));
      }
      for (std::int64_t c = first; c < blocks.first(block + 1); ++c)
        layout.set.finish({layout, ny, nz, sums + (c - first) * pitch, far,
                           output + (c * shape_.output(0) + x) * ny * nz,
                           behind.bias == nullptr ? 0 : behind.bias[c], behind.negative_slope});
    }
  }
}

WeightGradients::WeightGradients(const Convolution& convolution)
    : shape_(convolution.shape_),
      set_(convolution.set_),
      biases_(static_cast<std::size_t>(shape_.out_channels)) {
  const Layout layout(shape_, *set_);
  const auto count =
      static_cast<std::size_t>(layout.points * shape_.out_channels * shape_.in_channels *
                               layout.weights() * layout.set.lanes);
  sums_.grow(count);
  std::fill_n(sums_.data(), count, 0.0F);
}

void WeightGradients::add(const float* input, const float* output_gradient, PlaneRange range) {
  const Layout layout(shape_, *set_);
  Planes planes(shape_, layout, input, planes_at_once);
  const std::int64_t ny = shape_.output(1), nz = shape_.output(2), outputs = shape_.out_channels,
                     far = planes_at_once * outputs * layout.pitch + slack;
  float* const gradient = scratch(1, layout.points * far);
  for (std::int64_t done = 0; done < range.count; done += planes_at_once) {
    const std::int64_t count = std::min(planes_at_once, range.count - done);
    for (std::int64_t x = 0; x < count; ++x)
      for (std::int64_t c = 0; c < outputs; ++c) {
        const float* const plane =
            output_gradient + (c * shape_.output(0) + range.first + done + x) * ny * nz;
        float* const to = gradient + (x * outputs + c) * layout.pitch;
        layout.set.spread_gradient({layout, ny, nz, 0, plane, to, far});
        for (std::int64_t f = 0; f < layout.points; ++f)
          std::fill(to + f * far + layout.used, to + f * far + layout.pitch, 0.0F);
        biases_[static_cast<std::size_t>(c)] += sum_of({plane, static_cast<std::size_t>(ny * nz)});
      }
    add_slopes_of_planes(shape_, layout, planes, range.first + done, {gradient, count, far},
                         sums_.data());
  }
}

void WeightGradients::give(float* weights, float* biases) const {
  take_sums(shape_, Layout(shape_, *set_), sums_.data(), weights);
  std::transform(biases_.begin(), biases_.end(), biases, biases, std::plus<>());
}

}  // namespace sagips::kernels
