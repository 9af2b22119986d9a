#include <algorithm>

#include <optional>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/nn/device_layers.hpp"
#include "sagips/nn/direct_convolution.hpp"
#include "sagips/nn/kernel_function.hpp"
#include "sagips/nn/largest_of_boxes.hpp"
#include "sagips/nn/layers/layers.hpp"
#include "sagips/nn/tiled_convolution.hpp"

namespace sagips::nn {

using core::Range;
using core::text;

namespace {

// One number stands for all dimensions.
Shape for_each_dimension(const Shape& given, std::size_t dimensions, const char* what) {
  if (given.size() == 1) return Shape(dimensions, given[0]);
  if (given.size() != dimensions)
    throw core::Error(text(what, " has ", given.size(), " numbers, a sample ", dimensions,
                           dimensions == 1 ? " dimension." : " dimensions."));
  return given;
}

// How many dimensions a sample [channels, length, ...] has beside its channels.
std::size_t dimensions_of(const Shape& input) {
  if (input.size() < 2 || input.size() > 4)
    throw core::Error("It needs samples [channels, length, ...] of 1 to 3 dimensions.");
  return input.size() - 1;
}

void require_positive(const Shape& output) {
  if (std::any_of(output.begin(), output.end(), [](std::int64_t length) { return length < 1; }))
    throw core::Error("It is wider than its input.");
}

/// What both directions of a convolution have in common.
template <class T>
class ConvolutionLayer : public CopiedLayer<T> {
 protected:
  void shape_fields(core::FieldList& list) {
    list.add("kernel", kernel_, "its width in each dimension, or one for all", Range::at_least(1));
    list.add("stride", stride_, "steps from one place to the next", Range::at_least(1));
    list.add("dilation", dilation_, "steps from one of the kernel's numbers to the next",
             Range::at_least(1));
    list.add("groups", groups_, "parts of the channels, each of which sees its own part alone",
             Range::at_least(1));
    list.add("bias", has_bias_, "adds a bias");
    activation_.fields(list);
    initial_.field(list);
  }
  void take_options(const Shape& input) {
    const std::size_t dimensions = dimensions_of(input);
    kernel_ = for_each_dimension(kernel_, dimensions, "kernel");
    stride_ = for_each_dimension(stride_, dimensions, "stride");
    dilation_ = for_each_dimension(dilation_, dimensions, "dilation");
    if (input[0] % groups_ != 0 || channels_ % groups_ != 0)
      throw core::Error(text("groups is ", groups_, ", which does not divide ", input[0], " and ",
                             channels_, " channels."));
    activation_.check();
  }
  // From the kernel's first number to behind its last one.
  std::int64_t reach(std::size_t i) const { return dilation_[i] * (kernel_[i] - 1) + 1; }
  void declare_weights(std::int64_t out, std::int64_t in, LayerPlace& place) const {
    Shape weight{out, in};
    weight.insert(weight.end(), kernel_.begin(), kernel_.end());
    const std::int64_t fan_in = in * numbers_in(kernel_);  // as PyTorch counts it
    place.parameter("weight", weight, fan_in, false);
    if (has_bias_) place.parameter("bias", {channels_}, fan_in, true);
    initial_.apply(place);
  }
  torch::Tensor bias(const LayerTensors& tensors) const {
    return has_bias_ ? tensors.weights[1] : torch::Tensor();
  }

  std::int64_t channels_ = 32;
  Shape kernel_{3}, stride_{1}, dilation_{1};
  std::int64_t groups_ = 1;
  bool has_bias_ = true;
  Activation activation_;
  InitialValues initial_;
};

class Convolution final : public ConvolutionLayer<Convolution> {
 public:
  void fields(core::FieldList& list) override {
    list.add("convolution", channels_, "channels that it makes", Range::between(1, 1e6));
    list.add_numbers_or(
        "padding", "same", padding_,
        "zeros put on both sides of its input: one number, one for each dimension, or "
        "two for each (before and behind); same: so that as much comes out as goes in "
        "(over the stride), an odd zero behind",
        Range::at_least(0));
    shape_fields(list);
  }
  Shape declare(const Shape& input, LayerPlace& place) override {
    take_options(input);
    const Shape sides = zeros_at_sides(input);
    Shape output{channels_};
    bool is_even = true;
    outside_.clear();
    even_padding_.clear();
    for (std::size_t i = 0; i < kernel_.size(); ++i) {
      const std::int64_t before = sides[2 * i], behind = sides[2 * i + 1],
                         room = input[i + 1] + before + behind - reach(i);
      output.push_back(room < 0 ? 0 : room / stride_[i] + 1);
      is_even = is_even && before == behind;
      even_padding_.push_back(before);
      outside_.insert(outside_.begin(), {before, behind});  // the last dimension first
    }
    require_positive(output);
    if (is_even)
      outside_.clear();
    else
      even_padding_.assign(kernel_.size(), 0);
    declare_weights(channels_, input[0] / groups_, place);
    place.operations = numbers_in(output) * (input[0] / groups_) * numbers_in(kernel_);
    choose_kernels(input, sides);
    return output;
  }
  bool repeats(const Shape& factor) override {
    if (!direct_shape_ || has_zeros_) return false;
    kernels::ConvolutionShape::Lengths all{1, 1, 1};
    std::copy(factor.begin(), factor.end(), all.end() - static_cast<std::ptrdiff_t>(factor.size()));
    repeated_.emplace(*direct_shape_, all);
    return true;
  }
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors& tensors,
                           const Evaluation&) const override {
    if (repeated_) return activation_((*repeated_)(input, tensors.weights[0], bias(tensors)));
    if ((direct_ || tiled_) && suits_kernels(input)) {
      const torch::Tensor sums = direct_ ? (*direct_)(input, tensors.weights[0], bias(tensors))
                                         : (*tiled_)(input, tensors.weights[0], bias(tensors));
      return fuses_activation_ ? sums : activation_(sums);
    }
    if (direct_shape_ && suits_gpu(*direct_shape_, input)) {
      const torch::Tensor sums =
          gpu_convolution(*direct_shape_, slope_, input, tensors.weights[0], bias(tensors));
      return fuses_activation_ ? sums : activation_(sums);
    }
    const Shape none(kernel_.size(), 0);
    return activation_(torch::convolution(
        outside_.empty() ? input : torch::constant_pad_nd(input, outside_), tensors.weights[0],
        bias(tensors), stride_, even_padding_, dilation_, /*transposed=*/false, none, groups_));
  }

 private:
  // Before and behind each dimension.
  // source: of `same`, TensorFlow's rule, which is PyTorch's where the stride is 1
  Shape zeros_at_sides(const Shape& input) const {
    const std::size_t dimensions = kernel_.size();
    if (padding_.size() == 2 * dimensions) return padding_;
    Shape sides;
    if (padding_.empty()) {
      for (std::size_t i = 0; i < dimensions; ++i) {
        const std::int64_t places = (input[i + 1] + stride_[i] - 1) / stride_[i],
                           zeros = std::max<std::int64_t>(
                               0, (places - 1) * stride_[i] + reach(i) - input[i + 1]);
        sides.insert(sides.end(), {zeros / 2, zeros - zeros / 2});
      }
      return sides;
    }
    for (const std::int64_t zeros : for_each_dimension(padding_, dimensions, "padding"))
      sides.insert(sides.end(), {zeros, zeros});
    return sides;
  }

  // Kernels of our own know steps of one place, and zeros that a part of the kernel covers.
  void choose_kernels(const Shape& input, const Shape& sides) {
    const std::size_t dimensions = kernel_.size();
    direct_shape_.reset();
    direct_.reset();
    tiled_.reset();
    repeated_.reset();
    has_zeros_ = std::any_of(sides.begin(), sides.end(), [](auto zeros) { return zeros > 0; });
    kernels::ConvolutionShape shape{input[0], channels_};
    for (std::size_t i = 0; i < dimensions; ++i) {
      const std::size_t place = i + shape.kernel.size() - dimensions;
      if (groups_ > 1 || stride_[i] > 1 || dilation_[i] > 1 ||
          std::max(sides[2 * i], sides[2 * i + 1]) >= kernel_[i])
        return;
      shape.input[place] = input[i + 1];
      shape.kernel[place] = kernel_[i];
      shape.before[place] = sides[2 * i];
      shape.behind[place] = sides[2 * i + 1];
    }
    direct_shape_ = shape;
    const auto function = activation_.fusable();
    fuses_activation_ = function && function->kind == kernels::PanelActivation::Kind::leaky_relu;
    slope_ = fuses_activation_ ? function->negative_slope : 1.0;
    if (DirectConvolution::pays(shape)) {
      direct_.emplace(shape, slope_);
    } else if (dimensions == 2 && kernel_[0] == kernel_[1]) {
      const kernels::ImageConvolutionShape image{input[0], channels_,  input[1],
                                                 input[2], kernel_[0], sides[0],
                                                 sides[1], sides[2],   sides[3]};
      if (kernels::ImageTiles::pay(image)) tiled_.emplace(image, slope_);
    }
  }

  std::optional<kernels::ConvolutionShape> direct_shape_;
  std::optional<DirectConvolution> direct_;
  std::optional<TiledConvolution> tiled_;
  std::optional<RepeatedConvolution> repeated_;
  bool has_zeros_ = false, fuses_activation_ = false;
  double slope_ = 1;                  ///< of the leaky ReLU that kernels apply; 1: none
  Shape padding_{0};                  ///< empty: same
  Shape even_padding_{}, outside_{};  ///< the former where it is the same on both sides
};

class TransposedConvolution final : public ConvolutionLayer<TransposedConvolution> {
 public:
  void fields(core::FieldList& list) override {
    list.add("transposed_convolution", channels_, "channels that it makes", Range::between(1, 1e6));
    list.add("padding", padding_, "cut off both sides of its output", Range::at_least(0));
    shape_fields(list);
    list.add("output_padding", output_padding_, "added to one side of its output",
             Range::at_least(0));
  }
  Shape declare(const Shape& input, LayerPlace& place) override {
    take_options(input);
    padding_ = for_each_dimension(padding_, kernel_.size(), "padding");
    output_padding_ = for_each_dimension(output_padding_, kernel_.size(), "output_padding");
    Shape output{channels_};
    for (std::size_t i = 0; i < kernel_.size(); ++i)
      output.push_back((input[i + 1] - 1) * stride_[i] - 2 * padding_[i] + reach(i) +
                       output_padding_[i]);
    require_positive(output);
    declare_weights(input[0], channels_ / groups_, place);
    place.operations = numbers_in(input) * (channels_ / groups_) * numbers_in(kernel_);
    return output;
  }
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors& tensors,
                           const Evaluation&) const override {
    return activation_(torch::convolution(input, tensors.weights[0], bias(tensors), stride_,
                                          padding_, dilation_, /*transposed=*/true, output_padding_,
                                          groups_));
  }

 private:
  Shape padding_{0}, output_padding_{0};
};

enum class PoolingKind { largest, mean };

template <PoolingKind kind>
class Pooling final : public CopiedLayer<Pooling<kind>> {
 public:
  void fields(core::FieldList& list) override {
    list.add(kind == PoolingKind::largest ? "max_pooling" : "average_pooling", size_,
             kind == PoolingKind::largest ? "the largest number of each box of this size"
                                          : "the mean of each box of this size",
             Range::at_least(1));
  }
  Shape declare(const Shape& input, LayerPlace&) override {
    size_ = for_each_dimension(size_, dimensions_of(input), "its size");
    Shape output{input[0]};
    for (std::size_t i = 0; i < size_.size(); ++i) output.push_back(input[i + 1] / size_[i]);
    require_positive(output);
    return output;
  }
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors&,
                           const Evaluation&) const override {
    if (kind == PoolingKind::largest && suits_kernels(input)) return largest_of_boxes(input, size_);
    switch (size_.size()) {
      case 1:
        return kind == PoolingKind::largest ? torch::max_pool1d(input, size_)
                                            : torch::avg_pool1d(input, size_);
      case 2:
        return kind == PoolingKind::largest ? torch::max_pool2d(input, size_)
                                            : torch::avg_pool2d(input, size_);
      default:
        return kind == PoolingKind::largest ? torch::max_pool3d(input, size_)
                                            : torch::avg_pool3d(input, size_);
    }
  }

 private:
  Shape size_{2};
};

/// Each number is repeated along each dimension.
class Upsampling final : public CopiedLayer<Upsampling> {
 public:
  void fields(core::FieldList& list) override {
    list.add("upsampling", factor_, "times that each number is repeated in each dimension",
             Range::at_least(1));
  }
  Shape declare(const Shape& input, LayerPlace& place) override {
    factor_ = for_each_dimension(factor_, dimensions_of(input), "its factor");
    Shape output = input;
    for (std::size_t i = 0; i < factor_.size(); ++i) output[i + 1] *= factor_[i];
    place.only_repeats = factor_;
    return output;
  }
  torch::Tensor operator()(const torch::Tensor& input, const LayerTensors&,
                           const Evaluation&) const override {
    Shape size;
    for (std::size_t i = 0; i < factor_.size(); ++i)
      size.push_back(input.size(static_cast<std::int64_t>(i) + 2) * factor_[i]);
    switch (factor_.size()) {
      case 1:
        return torch::upsample_nearest1d(input, size);
      case 2:
        return torch::upsample_nearest2d(input, size);
      default:
        return torch::upsample_nearest3d(input, size);
    }
  }

 private:
  Shape factor_{2};
};

}  // namespace

std::vector<LayerKind> image_layers() {
  return {
      kind_of<Convolution>("convolution"), kind_of<TransposedConvolution>("transposed_convolution"),
      kind_of<Pooling<PoolingKind::largest>>("max_pooling"),
      kind_of<Pooling<PoolingKind::mean>>("average_pooling"), kind_of<Upsampling>("upsampling")};
}

}  // namespace sagips::nn
