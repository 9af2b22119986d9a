// Stress-strain curves: toys, files, networks, and the same curves as an inverse problem.
#include "workloads/stress_strain/stress_strain.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <map>

#include "sagips/core/error.hpp"
#include "sagips/core/npy.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/hdf5.hpp"
#include "sagips/env/pipeline.hpp"
#include "sagips/optim/likelihood/maximum_likelihood.hpp"
#include "sagips/optim/moments/moments.hpp"
#include "sagips/problem/loaded_data.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/settings.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"
#include "workloads/stress_strain/measured_curve.hpp"
#include "workloads/stress_strain/toy_curves.hpp"

namespace sagips::workloads {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

constexpr std::int64_t points = 200;

// Whether numbers scatter around a mean as they should: beyond 5 standard errors once in 1.7e6 times.
void expect_mean(const torch::Tensor& numbers, double mean, const std::string& what) {
  const torch::Tensor flat = numbers.to(torch::kFloat64).flatten();
  const double error = flat.std().item<double>() / std::sqrt(static_cast<double>(flat.numel()));
  EXPECT_LT(std::abs(flat.mean().item<double>() - mean), 5 * error) << what;
}

TEST(ToyCurves, AreTheLawWithNoiseUpToTheFailure) {
  const ToyCurves toy;
  const data::Examples curves = toy.make(0, 3000, points, 1);
  ASSERT_EQ(curves.inputs.sizes(), (std::vector<std::int64_t>{3000, points, 3}));
  const torch::Tensor strain = curves.inputs.select(2, 0), stress = curves.inputs.select(2, 1),
                      flag = curves.inputs.select(2, 2);
  const torch::Tensor strength = curves.targets.narrow(1, 0, 1),
                      exponent = curves.targets.narrow(1, 1, 1);
  EXPECT_TRUE((flag * (1 - flag)).eq(0).all().item<bool>()) << "0 or 1";
  EXPECT_TRUE((flag.slice(1, 1) <= flag.slice(1, 0, -1)).all().item<bool>()) << "1 first";
  EXPECT_TRUE(strain.masked_select(flag == 0).eq(0).all().item<bool>());
  EXPECT_TRUE(stress.masked_select(flag == 0).eq(0).all().item<bool>());
  const torch::Tensor places = torch::arange(1, points + 1) * (toy.largest_strain / points);
  EXPECT_TRUE(torch::allclose(strain, places * flag, 1e-6));
  const torch::Tensor off =
      ((stress - strength * torch::pow(strain, exponent)) / toy.noise).masked_select(flag == 1);
  expect_mean(off, 0, "noise");
  expect_mean(off.square(), 1, "noise squared");
  expect_mean(off.square().square(), 3, "normal");
}

// Even in their ranges: mean in the middle, variance width^2 / 12. A curve of 200 points that fails evenly between shares
// a and 1 has on average 200 (1 + a) / 2 - 1/2 of them before.
TEST(ToyCurves, HaveEvenParametersAndFailures) {
  const ToyCurves toy;
  const data::Examples curves = toy.make(0, 3000, points, 1);
  const torch::Tensor strength = curves.targets.select(1, 0),
                      exponent = curves.targets.select(1, 1);
  expect_mean(strength, 700, "strength");
  expect_mean((strength - 700).square(), 1000.0 * 1000 / 12, "strength");
  expect_mean(exponent, 0.3, "exponent");
  expect_mean((exponent - 0.3).square(), 0.16 / 12, "exponent");
  expect_mean((strength - 700) * (exponent - 0.3), 0, "strength and exponent");
  const torch::Tensor lengths = curves.inputs.select(2, 2).sum(1);
  expect_mean(lengths, points * 0.6 - 0.5, "points before the failure");
  expect_mean((strength - 700) * (lengths - points * 0.6), 0, "failure and strength");
}

TEST(ToyCurves, AreFunctionsOfTheirNumbers) {
  const ToyCurves toy;
  const data::Examples all = toy.make(0, 20, points, 3), last = toy.make(15, 5, points, 3);
  EXPECT_TRUE(last.inputs.equal(all.inputs.slice(0, 15)));
  EXPECT_TRUE(last.targets.equal(all.targets.slice(0, 15)));
  EXPECT_FALSE(toy.make(0, 20, points, 4).inputs.equal(all.inputs));
}

TEST(ToyCurves, MayHaveDrawnStrainsAndTheOtherLaw) {
  ToyCurves toy;
  toy.lowest_strength = 5, toy.highest_strength = 15;
  toy.lowest_exponent = 2, toy.highest_exponent = 5;
  toy.largest_strain = 1, toy.earliest_failure = 1;
  toy.noise = 0.554;
  toy.strains = ToyCurves::Strains::random;
  toy.law.form = HardeningLaw::Form::root;
  const data::Examples curves = toy.make(0, 2000, points, 1);
  const torch::Tensor strain = curves.inputs.select(2, 0);
  EXPECT_TRUE((strain.slice(1, 1) >= strain.slice(1, 0, -1)).all().item<bool>());
  expect_mean(strain, 0.5, "strain");
  expect_mean((strain - 0.5).square(), 1.0 / 12, "strain");
  const torch::Tensor off =
      curves.inputs.select(2, 1) -
      curves.targets.narrow(1, 0, 1) * torch::pow(strain, 1 / curves.targets.narrow(1, 1, 1));
  expect_mean(off, 0, "noise");
  expect_mean(off.square(), 0.554 * 0.554, "noise squared");
}

run::Job job(const std::string& source, const std::vector<std::string>& assignments = {}) {
  run::Workloads workloads("workload");
  for (const problem::Entry& entry :
       std::vector<problem::Entry>{stress_strain_workload(), stress_strain_curve_workload()})
    workloads.add(entry.name, entry);
  return run::read_any_job(workloads, source, assignments);
}

TEST(StressStrain, NetworksHaveTheTalksCount) {
  for (const std::string settings : {"stress_strain", "stress_strain/convolution",
                                     "stress_strain/recurrent", "stress_strain/root"}) {
    const run::Job one = job(settings, {"data.rows=5", "data.validation_rows=5"});
    const data::ExampleSets sets = run::load_examples(one).sets;
    std::int64_t weights = 0;
    for (const auto& network : run::make_networks(one, *sets.training)) {
      for (const auto& parameter : network.network->parameters()) weights += parameter.size();
      EXPECT_EQ(network.network->output(), (nn::Shape{2})) << settings;
    }
    EXPECT_EQ(weights, 153441) << settings;
    EXPECT_EQ(one.learning().learner.batch, 75) << settings;
    EXPECT_EQ(one.learning().learner.optimizer.learning_rate, 4.7331e-4) << settings;
    EXPECT_EQ(sets.names(), (std::vector<std::string>{"strength", "exponent"}));
  }
}

TEST(StressStrain, IsWrittenAsItIsRead) {
  const TemporaryFolder folder;
  for (const std::string form : {"points", "channels"}) {
    const std::string file = folder.path() + "/" + form + ".npy";
    const run::Job toys = job("stress_strain", {"data.form=" + form, "data.rows=25"});
    const data::Examples expected =
        toys.learning().examples->load(toys.seed(), {}).training->first(25);
    toys.learning().examples->file_form()->write(
        file, *toys.learning().examples->load(toys.seed(), {}).training);
    const run::Job files =
        job("stress_strain", {"data.form=" + form, "data.curves=files", "data.file=" + file,
                              "data.held_out=0", "data.standardise=false"});
    const data::Examples read = run::load_examples(files).sets.training->first(25);
    EXPECT_TRUE(read.inputs.equal(expected.inputs)) << form;
    EXPECT_TRUE(read.targets.equal(expected.targets)) << form;
    const data::ExampleRowsPtr inputs =
        files.learning().examples->inputs_of({{"", file}}, run::reading_of());
    EXPECT_TRUE(inputs->first(25).inputs.equal(expected.inputs)) << "for predictions";
  }
}

/// Rows of curves of three points, one number of which is something else.
std::vector<float> rows_with(std::size_t place, float number) {
  std::vector<float> numbers;
  for (int row = 0; row < 4; ++row)
    numbers.insert(numbers.end(), {0.1F, 300, 1, 0.2F, 350, 1, 0, 0, 0, 700, 0.3F});
  numbers[place] = number;
  return numbers;
}

std::string refusal_of(const std::string& file, const std::vector<std::string>& more = {}) {
  std::vector<std::string> assignments = {"data.curves=files", "data.file=" + file, "data.points=3",
                                          "data.held_out=0"};
  assignments.insert(assignments.end(), more.begin(), more.end());
  return message_of<core::Error>([&] { run::load_examples(job("stress_strain", assignments)); });
}

TEST(StressStrain, ReadsEachKindOfFile) {
  const TemporaryFolder folder;
  const std::vector<float> numbers = rows_with(0, 0.1F);
  core::write_npy(folder.path() + "/curves.npy", numbers, {4, 11});
  data::write_hdf5(
      folder.path() + "/curves.h5", {{"curves", {4, 11}}}, 4,
      [&](std::size_t, std::size_t) { return std::vector<std::vector<float>>{numbers}; });
  std::ofstream text(folder.path() + "/curves.csv");
  for (std::size_t i = 0; i < numbers.size(); ++i)
    text << numbers[i] << (i % 11 == 10 ? "\n" : ",");
  text.close();
  for (const std::string ending : {"npy", "h5", "csv"}) {
    const run::Job one = job("stress_strain", {"data.curves=files", "data.points=3",
                                               "data.file=" + folder.path() + "/curves." + ending,
                                               "data.standardise=false", "data.held_out=0.25"});
    const data::ExampleSets sets = run::load_examples(one).sets;
    EXPECT_EQ(sets.training->rows(), 3) << ending;
    EXPECT_EQ(sets.validation->rows(), 1) << ending;
    const data::Examples read = sets.training->first(1);
    EXPECT_EQ(read.inputs.sizes(), (std::vector<std::int64_t>{1, 3, 3}));
    EXPECT_TRUE(
        torch::allclose(read.inputs[0][1], torch::tensor({0.2, 350.0, 1.0}).to(torch::kFloat32)));
    EXPECT_TRUE(torch::allclose(read.targets[0], torch::tensor({700.0, 0.3}).to(torch::kFloat32)));
  }
}

TEST(StressStrain, RefusesFilesThatAreNoCurves) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/curves.npy";
  const auto refused = [&](const std::vector<float>& numbers, std::size_t width) {
    core::write_npy(file, numbers, {numbers.size() / width, width});
    return refusal_of(file);
  };
  const auto expect = [](const std::string& message, const std::string& words) {
    EXPECT_NE(message.find(words), std::string::npos) << message;
  };
  expect(refused(rows_with(0, 0.1F), 4), "has rows of 4 numbers, and a curve has 11");
  std::vector<float> wide = rows_with(0, 0.1F);
  wide.resize(48);
  expect(refused(wide, 12), "has rows of 12 numbers, and a curve has 11: 3 points");
  expect(refused(rows_with(2 * 11 + 5, 0.5F), 11), "point 2 has 0.5 as its flag");
  expect(refused(rows_with(2 * 11 + 5, 0.5F), 11), ":3: ");
  expect(refused(rows_with(11, -0.1F), 11), "point 1 has -0.1 as its strain");
  expect(refused(rows_with(4, std::nanf("")), 11), "NaN or infinity, number 5");
  expect(refused(rows_with(9, INFINITY), 11), "NaN or infinity, number 10");
  expect(message_of<core::Error>(
             [&] { run::load_examples(job("stress_strain", {"data.curves=files"})); }),
         "data.file");
  expect(message_of<core::Error>(
             [&] { run::load_examples(job("stress_strain", {"data.lowest_exponent=0.9"})); }),
         "above highest_exponent=0.5. Lower it");
}

std::vector<std::string> warnings_of(const std::string& file, const std::string& law = "hollomon") {
  return run::load_examples(
             job("stress_strain", {"data.curves=files", "data.file=" + file, "data.points=50",
                                   "data.held_out=0.1", "data.law=" + law}))
      .sets.warnings;
}

TEST(StressStrain, WarnsOfCurvesOfAnotherUnitOrLaw) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/curves.npy";
  for (const std::string law : {"hollomon", "root"}) {
    ToyCurves toy;
    toy.noise = law == "root" ? 0.5 : 40;
    if (law == "root") {
      toy.law.form = HardeningLaw::Form::root;
      toy.lowest_strength = 5, toy.highest_strength = 15;
      toy.lowest_exponent = 2, toy.highest_exponent = 5;
      toy.largest_strain = 1;
    }
    const data::Examples curves = toy.make(0, 40, 50, 1);
    const auto write = [&](double strain, double stress) {
      const torch::Tensor factors = torch::tensor({strain, stress, 1.0}).to(torch::kFloat32);
      const torch::Tensor table =
          torch::cat({(curves.inputs * factors).flatten(1), curves.targets}, 1).contiguous();
      core::write_npy(file, std::span(table.const_data_ptr<float>(), 40 * 152), {40, 152});
    };
    write(1, 1);
    EXPECT_TRUE(warnings_of(file, law).empty()) << law;
    const auto expect = [&](const std::string& of_law, const std::string& words) {
      const std::vector<std::string> warnings = warnings_of(file, of_law);
      ASSERT_EQ(warnings.size(), 1U) << law;
      for (const std::string& part : {file, words, std::string("has strains of ")})
        EXPECT_NE(warnings[0].find(part), std::string::npos) << warnings[0];
    };
    expect(law == "root" ? "hollomon" : "root", "Likely: another law");
    write(100, 1);
    expect(law, "Likely: strains in per cent");
    write(1, 1e6);
    expect(law, "Likely: stresses in another unit");
  }
}

TEST(StressStrainCurve, RemarksOnAnotherUnit) {
  const TemporaryFolder folder;
  const run::Job one = job("stress_strain_curve");
  const auto remarks = [&](double strain, double stress) {
    std::string rows = "strain,stress\n";
    for (int i = 1; i <= 100; ++i)
      rows += core::text(strain * 0.004 * i, ",", stress * 640 * std::pow(0.004 * i, 0.22), "\n");
    problem::DataSettings settings;
    settings.data.file = folder.make("curve.csv", rows);
    return problem::load_data(*one.inverse().workload, settings, 1).remarks();
  };
  EXPECT_TRUE(remarks(1, 1).empty()) << "cut at a strain of 0.3";
  for (const auto& [strain, stress, words] :
       {std::tuple(5.0, 1.0, "Likely: strains in per cent"),
        std::tuple(1.0, 1e6, "Likely: stresses in another unit"),
        std::tuple(1.0, 1e-3, "Likely: stresses in another unit")}) {
    const std::vector<std::string> found = remarks(strain, stress);
    ASSERT_EQ(found.size(), 1U) << words;
    EXPECT_NE(found[0].find(words), std::string::npos) << found[0];
    EXPECT_NE(found[0].find("strain.high=0.3"), std::string::npos) << found[0];
  }
}

TEST(StressStrainCurve, HasTheSlopesOfTheCurve) {
  for (const auto& [form, at] : {std::pair(HardeningLaw::Form::hollomon, std::pair(700.0, 0.25)),
                                 std::pair(HardeningLaw::Form::root, std::pair(10.0, 3.0))}) {
    HardeningLaw law;
    law.form = form;
    const MeasuredCurve stage(law, {.low = 0, .high = 0.3}, 10);
    const torch::Tensor middle = torch::tensor({{at.first, at.second}}, torch::kFloat64);
    const torch::Tensor factors = torch::linspace(-1, 1, 500, torch::kFloat64).pow(3);
    const auto value = [&](const torch::Tensor& parameters) {
      env::Noise noise(std::make_shared<env::PhiloxNoise>(core::RandomStream(1, "test")), 1, 500, 0,
                       torch::kFloat64);
      return (stage(parameters, noise).select(2, 1) * factors).sum();
    };
    const torch::Tensor variable = middle.clone().requires_grad_();
    const torch::Tensor slopes = torch::autograd::grad({value(variable)}, {variable})[0];
    for (std::int64_t i = 0; i < 2; ++i) {
      const double step = 1e-4 * middle[0][i].item<double>();
      torch::Tensor above = middle.clone(), below = middle.clone();
      above[0][i] += step, below[0][i] -= step;
      const double difference = (value(above) - value(below)).item<double>() / (2 * step);
      EXPECT_NEAR(slopes[0][i].item<double>() / difference, 1, 1e-6) << i;
    }
  }
}

env::Environment environment_of(const problem::Workload& workload, std::uint64_t seed,
                                std::int64_t events = points) {
  problem::DataSettings settings;
  settings.toy_events = events;
  return problem::load_data(workload, settings, seed).all();
}

// Each point at strain e tells s^2 / noise^2 of the parameters, s the curve's slopes e^n and K e^n ln e there.
TEST(StressStrainCurve, HasTheInformationOfItsSlopes) {
  const auto workload = stress_strain_curve_workload().make();
  const env::Environment environment = environment_of(*workload, 1);
  const torch::Tensor strain = (torch::arange(100000, torch::kFloat64) + 0.5) * (0.3 / 100000),
                      power = torch::pow(strain, 0.25);
  const torch::Tensor slopes = torch::stack({power, 700 * power * torch::log(strain)});
  const torch::Tensor covariance =
      torch::inverse(torch::matmul(slopes, slopes.t()) / 100000 * (200 / 100.0));
  const std::vector<double> floors =
      optim::cramer_rao_errors(environment, optim::ReferenceUse::exact,
                               environment.parameters.truth(), static_cast<double>(points));
  for (std::int64_t i = 0; i < 2; ++i)
    EXPECT_NEAR(floors[static_cast<std::size_t>(i)], std::sqrt(covariance[i][i].item<double>()),
                2e-3 * floors[static_cast<std::size_t>(i)]);
  const torch::Tensor cells =
      environment.channels[0].density->probabilities(environment.parameters.truth());
  EXPECT_NEAR(cells.sum().item<double>(), 1, 1e-8);
}

TEST(StressStrainCurve, RefusesStrainsOutsideItsRange) {
  const auto workload = stress_strain_curve_workload().make();
  const env::Density density = *workload->channels()[0].density;
  EXPECT_NE(message_of<core::Error>([&] {
              density.sample(torch::tensor({{0.1, 300.0}, {0.4, 400.0}}), {}, "curve.csv");
            }).find("its strain lies outside 0 .. 0.3"),
            std::string::npos);
  EXPECT_NE(message_of<core::Error>([] {
              core::FieldList list;
              const auto other = stress_strain_curve_workload().make();
              other->fields(list);
              core::ConfigDocument document;
              document.override_with("strain.low=0.5");
              core::read_fields(document, list);
              other->channels();
            }).find("not below strain.high=0.3"),
            std::string::npos);
}

// Cells of its likelihood once filled the memory, where data were in GPa and ranges in MPa.
TEST(StressStrainCurve, RefusesANoiseOfAnotherUnit) {
  EXPECT_NE(message_of<core::ConfigError>([] {
              job("stress_strain_curve", {"noise=0.01"});
            }).find("Give data, noise and parameters.strength in one unit"),
            std::string::npos);
  EXPECT_EQ(job("stress_strain_curve", {"noise=0.2"}).inverse().workload->channels().size(), 1U);
}

// Both within 3.5 errors, and within 15 % of the smallest error that there is: of 20 curves and two parameters a right
// answer fails with a probability of 2 %; the seeds are fixed.
TEST(StressStrainCurve, IsSolvedWithinItsErrors) {
  at::set_num_threads(1);
  for (const std::string form : {"hollomon", "root"}) {
    const run::Job one = job(form == "root" ? "stress_strain_curve/root" : "stress_strain_curve");
    std::vector<double> floors;
    std::int64_t covered = 0;
    for (std::uint64_t seed = 0; seed < 10; ++seed) {
      const env::Environment environment = environment_of(*one.inverse().workload, seed);
      optim::SolveContext context;
      context.seed = seed;
      const optim::Solution solution = optim::MomentSolver({}).solve(environment, context);
      if (floors.empty())
        floors =
            optim::cramer_rao_errors(environment, optim::ReferenceUse::exact,
                                     environment.parameters.truth(), static_cast<double>(points));
      for (std::size_t i = 0; i < 2; ++i) {
        const double pull =
            (solution.values[i] - *environment.parameters.all()[i].truth) / solution.errors[i];
        EXPECT_LT(std::abs(pull), 3.5) << form << " " << seed;
        EXPECT_NEAR(solution.errors[i] / floors[i], 1, 0.15) << form << " " << seed;
        covered += std::abs(pull) < 1 ? 1 : 0;
      }
    }
    EXPECT_GE(covered, 7) << form << ", of 20; 13.7 expected, parameters are correlated";
  }
}

}  // namespace
}  // namespace sagips::workloads
