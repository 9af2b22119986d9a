#include "workloads/calorimeter3d/shower_source.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "sagips/core/error.hpp"
#include "sagips/data/hdf5.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"
#include "workloads/calorimeter3d/measures.hpp"

namespace sagips::workloads {
namespace {

using testing::message_of;
using testing::TemporaryFolder;
using Arrays = std::map<std::string, std::pair<std::vector<std::size_t>, std::vector<float>>>;

void write(const std::string& path, const Arrays& arrays) {
  std::vector<data::Hdf5Written> datasets;
  std::vector<std::vector<float>> numbers;
  for (const auto& [name, array] : arrays) {
    datasets.push_back({name, array.first});
    numbers.push_back(array.second);
  }
  data::write_hdf5(path, datasets, 1000, [&](std::size_t, std::size_t) { return numbers; });
}

ShowerSource source_of(const std::string& yaml) {
  ShowerSource source;
  core::FieldList list;
  source.fields(list);
  core::read_fields(core::ConfigDocument::from_text(yaml, "test"), list);
  return source;
}

torch::Tensor target(const data::Examples& examples, const char* name) {
  return examples.target_tensors().at(name).of(examples.targets).flatten();
}

const std::string small =
    "shape: [9, 11, 8]\ncell_mm: 10\nlayer_mm: 10\nlayer_radiation_lengths: 2\n";

TEST(DrawnShowers, AreTheSameInAnyOrder) {
  const ShowerSource source =
      source_of(small + "rows: 30\nvalidation_rows: 5\nthreshold_GeV: 1e-4");
  const data::ExampleSets sets = source.load(3, {});
  const data::Examples all = sets.training->first(30);
  EXPECT_EQ(all.inputs.sizes(), (std::vector<std::int64_t>{30, 1, 9, 11, 8}));
  const torch::Tensor order = torch::tensor({17, 2, 29}, torch::kInt64);
  const data::Examples some = sets.training->read(order);
  EXPECT_TRUE(torch::equal(some.inputs, all.inputs.index_select(0, order)));
  // sums in single precision, which LibTorch may take in another order
  EXPECT_TRUE(torch::allclose(some.targets, all.targets.index_select(0, order), 1e-6));
  EXPECT_FALSE(torch::equal(sets.validation->first(1).inputs, all.inputs.narrow(0, 0, 1)));
  EXPECT_FALSE(torch::equal(source.load(4, {}).training->first(30).inputs, all.inputs));
  EXPECT_NE(source.load(4, {}).training->fingerprint(0), sets.training->fingerprint(0));
}

TEST(DrawnShowers, TargetsBelongToTheCells) {
  const ShowerSource source = source_of(small + "rows: 50\nthreshold_GeV: 1e-4");
  const data::Examples all = source.load(3, {}).training->first(50);
  const torch::Tensor cells = source.transform().undo(all.inputs);
  EXPECT_TRUE(torch::allclose(energy_sum(cells), target(all, "sum"), 1e-4));
  EXPECT_TRUE(torch::allclose(shower_angle(cells), target(all, "angle"), 0, 0.05));
  const torch::Tensor energy = target(all, "energy");
  EXPECT_GE(energy.min().item<float>(), 0.02);
  EXPECT_LE(energy.max().item<float>(), 5);
  EXPECT_NEAR(energy.mean().item<double>(), 2.51, 4 * 1.44 / std::sqrt(50));
  EXPECT_GE(cells.masked_select(cells > 0).min().item<float>(), 0.99e-4);
}

// In memory, and streamed from the file.
TEST(ShowerFiles, WrittenShowersReadBack) {
  const TemporaryFolder folder;
  const ShowerSource drawn = source_of(small + "rows: 40\nlowest_energy_GeV: 40");
  const data::ExampleRowsPtr rows = drawn.load(3, {}).training;
  const data::Examples known = rows->first(40);
  write_showers(folder.file("a.h5"), *rows, drawn.transform());
  for (const char* memory : {"4", "0"}) {
    const ShowerSource source =
        source_of(small + "showers: clic\nfile: " + folder.file("*.h5") + "\nmemory_GB: " + memory);
    const data::ExampleSets sets = source.load(1, {});
    ASSERT_EQ(sets.training->rows(), 40);
    const data::Examples read = sets.training->first(40);
    EXPECT_EQ(sets.training->in_memory(), *memory == '4');
    EXPECT_TRUE(torch::allclose(read.inputs, known.inputs, 1e-4, 1e-7));
    for (const char* name : {"energy", "sum"})
      EXPECT_TRUE(torch::allclose(target(read, name), target(known, name), 1e-4)) << name;
    EXPECT_TRUE(torch::allclose(target(read, "angle"), target(known, "angle"), 0, 1e-3));
    EXPECT_TRUE(torch::equal(sets.training->first(40).inputs, read.inputs));  // what is held stays
  }
}

// theta and eta are the particle's, of which the cells know only as much as mtheta.
TEST(ShowerFiles, WrittenShowersHaveTheAngleThatTheyWereDrawnWith) {
  const TemporaryFolder folder;
  const ShowerSource drawn = source_of(small + "rows: 40\nvalidation_rows: 10");
  const data::ExampleSets sets = drawn.load(3, {});
  ShowerConfig config;
  config.geometry = {{9, 11, 8}, 10, 10, 2};
  const ShowerModel model(config, 3);
  std::vector<float> cells(static_cast<std::size_t>(config.geometry.cells()));
  for (const bool validation : {false, true}) {
    const data::ExampleRowsPtr rows = validation ? sets.validation : sets.training;
    drawn.file_form()->write(folder.file("a.h5"), *rows);
    const data::Table file = data::read_hdf5_columns(
        folder.file("a.h5"), "", {{"theta", ""}, {"eta", ""}, {"mtheta", ""}, {"energy", ""}});
    const torch::Tensor measured = target(rows->first(40), "angle");
    double difference = 0;
    for (std::size_t i = 0; i < file.columns[0].size(); ++i) {
      const auto particle = model.make(static_cast<std::uint32_t>(validation ? 40 + i : i), cells);
      EXPECT_NEAR(file.columns[0][i], particle.angle, 1e-6);
      EXPECT_NEAR(file.columns[1][i], -std::log(std::tan(particle.angle / 2)), 1e-5);
      const auto mtheta = measured[static_cast<std::int64_t>(i)].item<double>();
      EXPECT_NEAR(file.columns[2][i], mtheta, 1e-3);
      EXPECT_NEAR(file.columns[3][i], particle.energy_GeV, 1e-3);
      difference = std::max(difference, std::abs(mtheta - particle.angle));
    }
    EXPECT_GT(difference, 0.01);
  }
}

// Two showers of 2 x 2 x 1 cells.
Arrays clic_arrays() {
  return {{"ECAL", {{2, 2, 2, 1}, {20, 10, 0, 40, 2, 2, 2, 2}}},
          {"energy", {{2}, {70, 8}}},
          {"mtheta", {{2}, {1.5F, 1.2F}}},
          {"theta", {{2}, {9, 9}}},
          {"sum", {{2}, {70, 8}}}};
}
const std::string clic = "shape: [2, 2, 1]\nshowers: clic\nfile: ";

TEST(ShowerFiles, OfClicAreReadAsTheirAuthorsDo) {
  const TemporaryFolder folder;
  write(folder.file("a.h5"), clic_arrays());
  const auto sets = source_of(clic + folder.file("a.h5") + "\nthreshold_GeV: 0.3").load(1, {});
  ASSERT_EQ(sets.training->rows(), 1);  // the other one's sum is at most 10
  const data::Examples one = sets.training->first(1);
  const torch::Tensor cells = torch::tensor({20., 0., 0., 40.}, torch::kFloat32).pow(0.85);
  EXPECT_TRUE(torch::allclose(one.inputs.flatten(), cells, 1e-5));
  EXPECT_FLOAT_EQ(target(one, "energy").item<float>(), 0.7F);
  EXPECT_FLOAT_EQ(target(one, "angle").item<float>(), 1.5F);
  EXPECT_FLOAT_EQ(target(one, "sum").item<float>(), 1.2F);
}

// radius is the fastest, then the angle, then the layer
TEST(ShowerFiles, OfTheCaloChallengeAreInTheirOrder) {
  const TemporaryFolder folder;
  constexpr std::int64_t radii = 2, angles = 3, layers = 4;
  std::vector<float> voxels(24);
  for (std::size_t i = 0; i < voxels.size(); ++i) voxels[i] = static_cast<float>(100 * i);
  write(folder.file("a.hdf5"),
        {{"incident_energies", {{1, 1}, {40000}}}, {"showers", {{1, 24}, voxels}}});
  const ShowerSource source =
      source_of("shape: [2, 3, 4]\nshowers: calo_challenge\nfile: " + folder.file("a.hdf5"));
  const data::Examples one = source.load(1, {}).training->first(1);
  EXPECT_EQ(one.inputs.sizes(), (std::vector<std::int64_t>{1, 1, radii, angles, layers}));
  const torch::Tensor cells = source.transform().undo(one.inputs);
  for (std::int64_t r = 0; r < radii; ++r)
    for (std::int64_t a = 0; a < angles; ++a)
      for (std::int64_t l = 0; l < layers; ++l)
        EXPECT_NEAR(cells[0][0][r][a][l].item<double>(),
                    0.1 * static_cast<double>(r + radii * (a + angles * l)), 1e-5);
  EXPECT_FLOAT_EQ(target(one, "energy").item<float>(), 0.4F);
  EXPECT_NEAR(target(one, "sum").item<double>(), 27.6, 1e-4);
  EXPECT_EQ(one.target_tensors().size(), 2U);
}

TEST(ShowerFiles, RefusesOthersInOneLine) {
  const TemporaryFolder folder;
  const std::string path = folder.file("a.h5");
  const auto refused = [&](const Arrays& arrays, const std::string& settings, const char* says) {
    write(path, arrays);
    const std::string message = message_of<core::DataError>(
        [&] { source_of(settings + path + "\n").load(1, {}).training->first(1); });
    EXPECT_NE(message.find(says), std::string::npos) << message;
    EXPECT_NE(message.find(path), std::string::npos) << message;
  };
  const auto with = [](const char* name, std::vector<std::size_t> shape,
                       std::vector<float> values) {
    Arrays arrays = clic_arrays();
    arrays[name] = {std::move(shape), std::move(values)};
    return arrays;
  };
  Arrays no_angle = clic_arrays();
  no_angle.erase("mtheta");
  refused(no_angle, clic, "no data set 'mtheta' (it holds: ECAL, energy, sum, theta)");
  refused(clic_arrays(), "showers: clic\nfile: ", "cells, and data.shape is 51 x 51 x 25");
  refused(with("energy", {2}, {70000, 8000}), clic, "from 70000 to 70000 GeV");
  refused(with("energy", {2}, {900, 8}), clic, "0.00156 of the particle's energy");
  refused(with("energy", {2}, {-70, 8}), clic, "'energy' from -70.0 to -70.0 GeV");
  refused(with("energy", {2}, {NAN, 8}), clic, "row 1 holds NaN or infinity");
  refused(with("mtheta", {2}, {86, 68}), clic, "no polar angle in rad");
  refused(with("mtheta", {2}, {-1.5, 1}), clic, "no polar angle in rad");
  refused(with("sum", {2}, {0, 0}), clic, "holds no shower whose 'sum' is above 10");
  refused(with("ECAL", {2, 2, 2, 1}, {0, 0, 0, 0, 2, 2, 2, 2}), clic, "cells are all 0");
  refused(with("ECAL", {2, 2, 2, 1}, {-1, 0, 5, 0, 2, 2, 2, 2}), clic, "less than no energy");
  refused(with("ECAL", {2, 2, 2, 1}, {2000, 1000, 0, 4000, 2, 2, 2, 2}), clic,
          "cells have 2.00 of the particle's energy, which no calorimeter sees");
  refused(with("ECAL", {2, 2, 2, 1}, {NAN, 1, 5, 0, 2, 2, 2, 2}), clic, "NaN");
  refused({{"incident_energies", {{1, 1}, {100}}}, {"showers", {{1, 4}, {0, 0, 0, 0}}}},
          "shape: [2, 2, 1]\nshowers: calo_challenge\nfile: ", "cells are all 0");
  const auto refused_setting = [&](const std::string& yaml, const char* says) {
    const std::string message = message_of<core::ConfigError>([&] { source_of(yaml).load(1, {}); });
    EXPECT_NE(message.find(says), std::string::npos) << message;
  };
  refused_setting("showers: clic", "data.file");
  refused_setting(small + "threshold_GeV: 600", "data.threshold_GeV: no cell of the first showers");
}

}  // namespace
}  // namespace sagips::workloads
