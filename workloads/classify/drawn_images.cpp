#include "workloads/classify/drawn_images.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <span>

#include "sagips/core/random_numbers.hpp"

namespace sagips::workloads {

namespace {

using core::RandomNumbers;
using std::abs;

// Whether a point lies in a figure of size 1 around 0.
using Inside = bool (*)(double x, double y);
struct NamedFigure {
  const char* name;
  Inside inside;
};
constexpr NamedFigure figures[] = {
    {"disc", [](double x, double y) { return x * x + y * y < 1; }},
    {"ring", [](double x, double y) { return x * x + y * y < 1 && x * x + y * y > 0.4; }},
    {"square", [](double x, double y) { return std::max(abs(x), abs(y)) < 0.85; }},
    {"frame",
     [](double x, double y) {
       return std::max(abs(x), abs(y)) < 0.85 && std::max(abs(x), abs(y)) > 0.5;
     }},
    {"triangle", [](double x, double y) { return y > -0.6 && y < 1 - 1.7 * abs(x); }},
    {"plus",
     [](double x, double y) {
       return std::min(abs(x), abs(y)) < 0.25 && std::max(abs(x), abs(y)) < 1;
     }},
    {"bar", [](double x, double y) { return abs(x) < 1 && abs(y) < 0.3; }},
    {"pair", [](double x, double y) { return (abs(x) - 0.55) * (abs(x) - 0.55) + y * y < 0.2; }},
    {"half disc", [](double x, double y) { return x * x + y * y < 1 && y > 0; }},
    {"stripes",
     [](double x, double y) {
       return std::max(abs(x), abs(y)) < 0.9 && std::sin(3.2 * std::numbers::pi * y) > 0;
     }},
};

constexpr std::int64_t side = 32, colours = 3;

void draw_shape(std::int64_t number, std::size_t shown, const core::RandomStream& random,
                std::span<float> pixels) {
  RandomNumbers numbers(random, number);
  const double size = numbers.between(6, 13), angle = numbers.between(0, 2 * std::numbers::pi);
  const double x0 = numbers.between(size, side - size), y0 = numbers.between(size, side - size);
  const double c = std::cos(angle) / size, s = std::sin(angle) / size;
  double front[colours], back[colours], contrast = 0;
  do {  // a figure that nobody can tell from its ground shows nothing
    contrast = 0;
    for (std::int64_t k = 0; k < colours; ++k) {
      front[k] = numbers.between(0, 1);
      back[k] = numbers.between(0, 1);
      contrast = std::max(contrast, abs(front[k] - back[k]));
    }
  } while (contrast < 0.3);
  constexpr double noise = 0.1;
  for (std::int64_t row = 0; row < side; ++row)
    for (std::int64_t column = 0; column < side; ++column) {
      const double x = static_cast<double>(column) - x0, y = static_cast<double>(row) - y0;
      const bool is_front = figures[shown].inside(c * x + s * y, c * y - s * x);
      for (std::int64_t k = 0; k < colours; ++k)
        pixels[static_cast<std::size_t>((k * side + row) * side + column)] =
            static_cast<float>((is_front ? front : back)[k] + noise * numbers.normal());
    }
}

constexpr std::int64_t kinds = 5, along = 150, around = 94;
constexpr std::int64_t charged = 0, leptons = 4;  // photons, neutral ones and the soft lie between

void add_particle(std::span<float> pixels, std::int64_t kind, double place, double angle,
                  double energy) {
  const auto row = static_cast<std::int64_t>(std::floor(place));
  const auto column = (static_cast<std::int64_t>(std::floor(angle)) % around + around) % around;
  if (row < 0 || row >= along) return;  // outside of the cylinder
  pixels[static_cast<std::size_t>((kind * along + row) * around + column)] +=
      static_cast<float>(energy);
}

void add_jet(RandomNumbers& numbers, std::span<float> pixels) {
  const double place = numbers.between(15, along - 15), angle = numbers.between(0, around);
  const auto particles = static_cast<std::int64_t>(numbers.between(10, 30));
  for (std::int64_t i = 0; i < particles; ++i) {
    const auto kind = static_cast<std::int64_t>(charged + 3 * numbers.between(0, 1));
    add_particle(pixels, kind, place + 4 * numbers.normal(), angle + 4 * numbers.normal(),
                 -std::log(numbers.between(0, 1)));
  }
}

void draw_tracks(std::int64_t number, std::size_t shown, const core::RandomStream& random,
                 std::span<float> pixels) {
  constexpr int jets[] = {2, 1, 4};
  constexpr int soft = 60;  // particles of no jet
  RandomNumbers numbers(random, number);
  for (int jet = 0; jet < jets[shown]; ++jet) add_jet(numbers, pixels);
  for (int i = 0; i < soft; ++i)
    add_particle(pixels, static_cast<std::int64_t>(kinds * numbers.between(0, 1)),
                 numbers.between(0, along), numbers.between(0, around),
                 -0.3 * std::log(numbers.between(0, 1)));
  if (shown > 0)
    add_particle(pixels, leptons, numbers.between(15, along - 15), numbers.between(0, around),
                 numbers.between(2, 6));
}

std::vector<std::string> names_of_figures() {
  std::vector<std::string> names;
  for (const NamedFigure& figure : figures) names.emplace_back(figure.name);
  return names;
}

}  // namespace

const DrawnImages& shapes() {
  static const DrawnImages images{{colours, side, side}, names_of_figures(), draw_shape};
  return images;
}

const DrawnImages& tracks() {
  static const DrawnImages images{
      {kinds, along, around}, {"two jets", "jet and lepton", "four jets and lepton"}, draw_tracks};
  return images;
}

data::Examples drawn(const DrawnImages& images, std::int64_t first, std::int64_t count,
                     std::uint64_t seed) {
  std::vector<std::int64_t> sizes{count};
  sizes.insert(sizes.end(), images.shape.begin(), images.shape.end());
  data::Examples examples{torch::zeros(sizes), torch::empty({count}, torch::kFloat32)};
  const auto pixels = static_cast<std::size_t>(examples.inputs.numel() / count);
  const core::RandomStream random(seed, "drawn images");
  for (std::int64_t i = 0; i < count; ++i) {
    const std::size_t shown = static_cast<std::size_t>(first + i) % images.classes.size();
    examples.targets.data_ptr<float>()[i] = static_cast<float>(shown);
    images.draw(first + i, shown, random,
                {examples.inputs.data_ptr<float>() + static_cast<std::size_t>(i) * pixels, pixels});
  }
  return examples;
}

}  // namespace sagips::workloads
