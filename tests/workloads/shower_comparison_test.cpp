#include "workloads/calorimeter3d/shower_comparison.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "sagips/optim/adversarial/told_apart.hpp"
#include "workloads/calorimeter3d/shower_source.hpp"

namespace sagips::workloads {
namespace {

constexpr std::int64_t rows = 60;
const CellTransform transform;

// Cells of many orders of magnitude, none of them at the edge. shape: [rows, 1, 8, 9, 7] GeV
torch::Tensor random_energies(std::uint64_t seed) {
  const auto random = torch::make_generator<at::CPUGeneratorImpl>(seed);
  torch::Tensor cells = torch::zeros({rows, 1, 8, 9, 7});
  cells.slice(2, 1, 7).slice(3, 1, 8).slice(4, 1, 6).copy_(
      torch::pow(10, 4 * torch::rand({rows, 1, 6, 7, 5}, random) - 5) *
      (torch::rand({rows, 1, 6, 7, 5}, random) < 0.5));
  return cells;
}

torch::Tensor images(torch::Tensor energies) {
  energies = energies.clone();
  transform.apply(energies);
  return energies;
}

// Particles of 50 and 300 GeV, whose angle is that of the cells.
data::Examples examples(const torch::Tensor& energies, bool with_angle = true) {
  data::ExampleTensors tensors;
  torch::Tensor energy = torch::full({rows}, 0.5);
  energy.slice(0, rows / 2) = 3;
  std::vector<torch::Tensor> targets = {energy};
  tensors.targets.add("energy", {});
  if (with_angle) {
    targets.push_back(shower_columns(8, 9, 7).at("angle").of(shower_numbers(energies)));
    tensors.targets.add("angle", {});
  }
  return {.inputs = images(energies),
          .targets = torch::stack(targets, 1).to(torch::kFloat32),
          .tensors = std::make_shared<const data::ExampleTensors>(std::move(tensors))};
}

std::map<std::string, double> compared(const torch::Tensor& real, const torch::Tensor& made,
                                       std::int64_t at_once = rows, bool with_angle = true) {
  const data::Examples all = examples(real, with_angle);
  ShowerComparison comparison(transform, all.target_tensors());
  data::for_each_piece(rows, at_once, [&](const torch::Tensor& some) {
    comparison.add(all.chosen(some), images(made).index_select(0, some));
  });
  return comparison.numbers();
}

TEST(ShowerNumbers, AreThoseOfLoops) {
  const torch::Tensor energies = random_energies(3);
  const torch::Tensor numbers = shower_numbers(energies);
  const core::RowTensors columns = shower_columns(8, 9, 7);
  ASSERT_EQ(numbers.size(1), columns.numbers());
  const auto of = [&](const char* name, std::int64_t i) {
    return columns.at(name).of(numbers)[5].flatten()[i].item<double>();
  };
  const torch::Tensor shower = energies[5][0];
  const auto cells = shower.accessor<float, 3>();
  double sum = 0, hottest = 0, place[3] = {}, first[3] = {}, second[3] = {}, hits = 0, above = 0;
  double layer = 0, last_third = 0;
  const auto each = [&](const auto& use) {
    for (std::int64_t x = 0; x < 8; ++x)
      for (std::int64_t y = 0; y < 9; ++y)
        for (std::int64_t z = 0; z < 7; ++z)
          use(double{cells[x][y][z]}, std::array{double(x), double(y), double(z)});
  };
  each([&](double e, const auto& at) {
    sum += e;
    hits += e > 3e-4, above += e > 1e-2;
    if (at[1] == 4) layer += e;
    if (at[2] >= 4) last_third += e;  // of seven layers: two, two and three
    for (std::size_t k = 0; k < 3; ++k) first[k] += e * at[k];
    if (e > hottest) hottest = e, std::copy(at.begin(), at.end(), place);
  });
  each([&](double e, const auto& at) {
    for (std::size_t k = 0; k < 3; ++k) second[k] += e * std::pow(at[k] - first[k] / sum, 2) / sum;
  });
  for (std::int64_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(of("first", k), first[k] / sum, 1e-9) << k;
    EXPECT_NEAR(of("second", k), second[k], 1e-9) << k;
    EXPECT_EQ(of("hottest", k), place[k]) << k;
  }
  EXPECT_NEAR(of("sum", 0), sum, 1e-9);
  EXPECT_NEAR(of("y", 4), layer, 1e-9);
  EXPECT_NEAR(of("thirds", 2), last_third / sum, 1e-9);
  EXPECT_NEAR(of("hits", 0), hits / 504, 1e-12);
  EXPECT_NEAR(of("above", 4), above / 504, 1e-12);  // 10^-2 GeV
}

// The angle is computed in single precision, in another order for other rows.
bool has_angle(const std::string& number) {
  return number.find("angle") != std::string::npos || number == "figure_of_merit";
}

TEST(ShowerComparison, OfTheSameShowersFindsNothing) {
  const torch::Tensor energies = random_energies(5);
  for (const auto& [name, number] : compared(energies, energies))
    EXPECT_NEAR(number, 0, has_angle(name) ? 1e-4 : 1e-12) << name;
}

TEST(ShowerComparison, FindsWhatIsWrong) {
  const torch::Tensor energies = random_energies(5);
  auto found = compared(energies, 1.1 * energies);
  for (const char* name :
       {"error/sampling_fraction", "error/profiles", "error/worst_of_profiles", "figure_of_merit"})
    EXPECT_NEAR(found.at(name), 0.1, 1e-4) << name;
  EXPECT_NEAR(found.at("error/first_moments"), 0, 1e-6);
  EXPECT_NEAR(found.at("error/second_moments"), 0, 1e-5);

  found = compared(energies, energies.roll(1, 2));  // by a cell along x
  const torch::Tensor first = shower_columns(8, 9, 7).at("first").of(shower_numbers(energies));
  double expected = 0;  // 1 / mean x, a third of it, over the bins of all rows, 50 and 300 GeV
  for (const torch::Tensor& bin : {first, first.slice(0, 0, rows / 2), first.slice(0, rows / 2)})
    expected += 1 / bin.select(1, 0).mean().item<double>() / 3 / 3;
  EXPECT_NEAR(found.at("error/first_moments"), expected, 1e-5);
  EXPECT_NEAR(found.at("error/second_moments"), 0, 1e-5);
  EXPECT_NEAR(found.at("error/sampling_fraction"), 0, 1e-6);
  EXPECT_NEAR(found.at("separation/energy"), 0, 1e-12);
  EXPECT_GT(found.at("separation/centres"), 0.2);
}

TEST(ShowerComparison, OfMirroredShowersFindsTheirAngle) {
  const torch::Tensor energies = random_energies(5);
  const torch::Tensor angle = shower_columns(8, 9, 7).at("angle").of(shower_numbers(energies));
  const double mirrored = (std::numbers::pi - 2 * angle).abs().mean().item<double>();
  const auto found = compared(energies, energies.flip(3));
  EXPECT_NEAR(found.at("angle_error_deg"), mirrored * 180 / std::numbers::pi, 1e-3);
  EXPECT_FALSE(compared(energies, energies, rows, false).contains("error/angle"));
}

TEST(ShowerComparison, IsTheSameInPieces) {
  const torch::Tensor real = random_energies(5), made = random_energies(6);
  const auto whole = compared(real, made);
  for (const auto& [name, number] : compared(real, made, 7))
    EXPECT_NEAR(number, whole.at(name), has_angle(name) ? 1e-5 : 1e-9) << name;
}

TEST(ShowerComparison, BearsShowersOfNothing) {
  const torch::Tensor real = random_energies(5);
  for (const auto& [name, number] : compared(real, torch::zeros_like(real)))
    EXPECT_TRUE(std::isfinite(number)) << name;
}

TEST(ShowerComparison, CurvesHaveValuesOfBothKindsAndErrors) {
  const torch::Tensor energies = random_energies(5);
  for (const bool with_angle : {true, false}) {
    const data::Examples all = examples(energies, with_angle);
    ShowerComparison comparison(transform, all.target_tensors());
    comparison.add(all, all.inputs);
    EXPECT_EQ(comparison.matrices().at(0).names.size(), with_angle ? 13U : 12U);
    EXPECT_EQ(comparison.matrices().at(0).real.size(), with_angle ? 169U : 144U);
    for (const problem::ComparedCurve& curve : comparison.curves()) {
      const std::size_t values = curve.real.size();
      EXPECT_TRUE(values > 0 && curve.x.size() - values <= 1) << curve.figure;
      EXPECT_EQ(curve.real, curve.made) << curve.figure;
      EXPECT_TRUE(curve.real_errors.size() == values && curve.made_errors.size() == values)
          << curve.figure;
      if (curve.figure == "profiles_by_energy") {
        EXPECT_TRUE(curve.title == "50 ± 25 GeV" || curve.title == "300 ± 25 GeV") << curve.title;
      }
    }
  }
}

// Drawn showers of one energy: 200 on either side are judged, and the area is 0.5 +- 0.029 where nothing tells
// them apart. 4.5 deviations are a false alarm in 150,000.
TEST(ShowerComparison, ClassifierTellsWhatIsWrong) {
  ShowerSource source;
  core::FieldList list;
  source.fields(list);
  core::read_fields(
      core::ConfigDocument::from_text("shape: [9, 9, 8]\ncell_mm: 10\nlayer_mm: 10\n"
                                      "layer_radiation_lengths: 2\nlowest_energy_GeV: 50\n"
                                      "highest_energy_GeV: 50.001\nrows: 800\n",
                                      "test"),
      list);
  const data::Examples all = source.load(3, {}).training->first(800);
  core::RowTensors energy;  // angles, as measured, would tell whom a shower was not made for
  energy.add(all.target_tensors().at("energy"));
  const data::Examples real = all.chosen(torch::arange(400, torch::kInt64));
  const auto area = [&](const torch::Tensor& made) {
    const auto comparison = source.comparison(energy);
    comparison->add(real, made);
    return optim::area_told_apart(comparison->features(), core::RandomStream(1, "test"));
  };
  EXPECT_EQ(area(real.inputs), 0.5) << "equal scores count half";
  const torch::Tensor others = all.inputs.slice(0, 400);
  EXPECT_NEAR(area(others), 0.5, 0.13);
  EXPECT_GT(area(others * 1.05), 0.7);  // 6 % more energy
}

}  // namespace
}  // namespace sagips::workloads
