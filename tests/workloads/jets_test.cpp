// Toy jets, what networks see of them, and the files of JEDI-net.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/data/hdf5.hpp"
#include "sagips/run/learning_task.hpp"
#include "sagips/run/settings.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"
#include "workloads/jets/jet_forms.hpp"
#include "workloads/jets/jets.hpp"

namespace sagips::workloads {
namespace {

using testing::message_of;
using testing::TemporaryFolder;

constexpr std::int64_t many = 400;

/// Jets of one origin, with what sums them up.
struct Sample {
  double multiplicity = 0, multiplicity_error = 0;
  std::vector<double> masses;  ///< GeV, in order
};

Sample sample(Origin origin, const ToyJets& toy = {}) {
  const core::RandomStream random(1, "toy jets");
  Sample all;
  double squares = 0;
  for (std::int64_t i = 0; i < many; ++i) {
    const std::vector<Particle> jet = toy.make(origin, random, i);
    std::array<float, jet_numbers> numbers{};
    write_numbers(jet, numbers);
    all.masses.push_back(static_cast<double>(numbers[14]) * momentum_unit_GeV);
    const auto count = static_cast<double>(jet.size());
    all.multiplicity += count / many, squares += count * count / many;
  }
  all.multiplicity_error = std::sqrt((squares - all.multiplicity * all.multiplicity) / many);
  std::sort(all.masses.begin(), all.masses.end());
  return all;
}

double median(const Sample& of) { return of.masses[of.masses.size() / 2]; }

// By chance this fails once in 1e9 (6 standard deviations of a difference); it is 15 of them.
TEST(ToyJets, GluonsMakeMoreParticlesThanQuarks) {
  const Sample gluon = sample(Origin::gluon), quark = sample(Origin::quark);
  EXPECT_GT(gluon.multiplicity - quark.multiplicity,
            6 * std::hypot(gluon.multiplicity_error, quark.multiplicity_error));
}

// Nothing is radiated, and hadrons scatter by 0.3 GeV: a median is the particle's mass to one part in 60.
TEST(ToyJets, ProngsHaveTheMassOfWhatDecays) {
  ToyJets toy;
  toy.strong_coupling = 0;
  for (const auto& [origin, mass] :
       {std::pair(Origin::w, 80.4), std::pair(Origin::z, 91.2), std::pair(Origin::top, 172.6)})
    EXPECT_NEAR(median(sample(origin, toy)), mass, mass / 60);
  EXPECT_LT(median(sample(Origin::quark, toy)), 10);
}

TEST(ToyJets, RadiationKeepsMomentum) {
  ToyJets toy{.lowest_pt_GeV = 1000, .highest_pt_GeV = 1000};
  const core::RandomStream random(1, "toy jets");
  for (std::int64_t i = 0; i < 50; ++i) {
    double pt = 0;
    for (const Particle& each : toy.make(static_cast<Origin>(i % 5), random, i)) pt += each.pt;
    EXPECT_LT(pt, 1000 * (1 + 1e-9));
    EXPECT_GT(pt, 850) << "some falls out of the cone";
  }
}

const std::vector<Particle> three = {{300, 0.5, 3.1}, {200, 0.4, -3.1}, {100, 0.7, 3.0}};

TEST(JetForms, ParticlesAreThoseOfTheJet) {
  std::array<float, 64> numbers{};
  write_particles(three, numbers);
  const auto at = [&](std::size_t particle, std::size_t number) {
    return static_cast<double>(numbers[particle * 16 + number]);
  };
  double energies = 0, pt = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    const Particle& each = three[i];
    EXPECT_NEAR(at(i, 0), each.pt * std::cos(each.phi) / 100, 1e-5);
    EXPECT_NEAR(at(i, 1), each.pt * std::sin(each.phi) / 100, 1e-5);
    EXPECT_NEAR(at(i, 2), each.pt * std::sinh(each.eta) / 100, 1e-5);
    EXPECT_NEAR(at(i, 3), std::hypot(at(i, 0), at(i, 1), at(i, 2)), 1e-5) << "no mass";
    EXPECT_NEAR(at(i, 5), each.pt / 100, 1e-5);
    EXPECT_NEAR(at(i, 7), each.eta, 1e-6);
    EXPECT_NEAR(at(i, 10), each.phi, 1e-6);
    EXPECT_NEAR(at(i, 13), std::hypot(at(i, 8), at(i, 11)), 1e-6);
    EXPECT_NEAR(at(i, 13), std::hypot(at(i, 9), at(i, 12)), 1e-6) << "turned";
    EXPECT_NEAR(at(i, 14), std::tanh(each.eta), 1e-6);
    EXPECT_LT(at(i, 13), 0.5) << "across the cut of phi";
    energies += at(i, 4), pt += at(i, 6);
  }
  EXPECT_NEAR(energies, 1, 1e-6);
  EXPECT_NEAR(pt, 1, 0.01) << "along nearly the same direction";
  for (std::size_t k = 0; k < 16; ++k) EXPECT_EQ(at(3, k), 0);
  double along = 0, across = 0;
  for (std::size_t i = 0; i < 3; ++i)
    along += three[i].pt * at(i, 9) * at(i, 9), across += three[i].pt * at(i, 12) * at(i, 12);
  EXPECT_GT(along, across);
}

TEST(JetForms, ImagesHoldTheMomentumAroundTheAxis) {
  std::vector<float> pixels(10000);
  write_image(three, pixels);
  double sum = 0;
  for (const float pixel : pixels) sum += static_cast<double>(pixel);
  EXPECT_NEAR(sum, 6, 1e-5);
  EXPECT_EQ(std::count_if(pixels.begin(), pixels.end(), [](float pixel) { return pixel > 0; }), 3);
}

// By hand, of three particles with shares a, b, c at the corners of a triangle.
TEST(JetForms, NumbersAreSumsOverPairsAndTriples) {
  std::array<float, jet_numbers> numbers{};
  write_numbers(three, numbers);
  const double a = 1.0 / 2, b = 1.0 / 3, c = 1.0 / 6, turn = 2 * std::numbers::pi;
  const double ab = std::hypot(0.1, 6.2 - turn), ac = std::hypot(0.2, 0.1),
               bc = std::hypot(0.3, 6.1 - turn);
  const double e2 = a * b * ab + a * c * ac + b * c * bc, e3 = a * b * c * ab * ac * bc;
  const double two = a * b * ab * ab + a * c * ac * ac + b * c * bc * bc;
  const double least = std::min({ab, ac, bc}), most = std::max({ab, ac, bc});
  const std::map<std::size_t, double> by_hand = {
      {0, -a * std::log(a) - b * std::log(b) - c * std::log(c)},
      {1, a * b + a * c + b * c},
      {2, e2},
      {3, two},
      {4, e3 / (e2 * e2)},
      {6, e3 / std::pow(e2, 3)},
      {8, std::sqrt(a * a + b * b + c * c)},
      {9, e3 / std::pow(two, 1.5)},
      {10, a * b * c * least / e2},
      {12, a * b * c * ab * ac * bc / most / (e2 * e2)},
      {15, 0.03}};
  for (const auto& [place, value] : by_hand)
    EXPECT_NEAR(numbers[place], value, 1e-5 * (1 + value)) << place;
  std::array<float, jet_numbers> alone{};
  write_numbers({three[0]}, alone);
  for (const float number : alone) EXPECT_TRUE(std::isfinite(number));
}

run::Job job(const std::string& source, const std::vector<std::string>& assignments = {}) {
  run::Workloads workloads("workload");
  const problem::Entry entry = jets_workload();
  workloads.add(entry.name, entry);
  return run::read_any_job(workloads, source, assignments);
}

TEST(Jets, NetworksHaveThePublishedCounts) {
  for (const auto& [settings, count] :
       std::map<std::string, std::int64_t>{{"jets", 33625},
                                           {"jets/sum", 8329},
                                           {"jets/sum_wide", 8481},
                                           {"jets/dense", 14725},
                                           {"jets/gru", 15575},
                                           {"jets/convolution", 205525}}) {
    const run::Job one = job(settings, {"data.rows=5", "data.validation_rows=5"});
    const data::ExampleSets sets = run::load_examples(one).sets;
    std::int64_t weights = 0, buffers = 0;
    for (const auto& network : run::make_networks(one, *sets.training)) {
      for (const auto& parameter : network.network->parameters()) weights += parameter.size();
      for (const auto& buffer : network.network->buffers()) buffers += buffer.initial.numel();
    }
    EXPECT_EQ(weights, count) << settings;
    EXPECT_EQ(buffers, settings == "jets/convolution" ? 20 : 0) << settings;
  }
}

void write(const std::string& path, std::size_t rows, std::size_t particles) {
  std::vector<float> numbers(rows * particles * 16), jets(rows * 59, 7.0F);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<float>(i % 97);
  for (std::size_t row = 0; row < rows; ++row)
    for (std::size_t k = 0; k < 5; ++k) jets[row * 59 + 53 + k] = row % 5 == k ? 1.0F : 0.0F;
  data::write_hdf5(path, {{"jetConstituentList", {rows, particles, 16}}, {"jets", {rows, 59}}},
                   rows, [&](std::size_t, std::size_t) {
                     return std::vector{numbers, jets};
                   });
}

TEST(Jets, AreReadFromTheFilesOfTheirAuthors) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/jets.h5";
  write(file, 10, 6);
  const std::vector<std::string> from = {"data.jets=files", "data.file=" + file, "data.particles=4",
                                         "data.held_out=0.2"};
  const data::ExampleSets sets = run::load_examples(job("jets", from)).sets;
  EXPECT_EQ(sets.training->rows() + sets.validation->rows(), 10);
  const data::Examples all = sets.training->first(8);
  EXPECT_EQ(all.inputs.sizes(), (std::vector<std::int64_t>{8, 4, 16}));
  for (std::int64_t row = 0; row < 8; ++row) {
    const torch::Tensor one = all.inputs[row];
    // a row begins at 96 times its number, modulo 97, and its class is its number modulo 5
    const std::int64_t begin = std::lround(one[0][0].item<float>() * 100);
    EXPECT_EQ(std::lround(one[0][7].item<float>()), (begin + 7) % 97) << "no momentum";
    const std::int64_t number = (97 - begin) % 97;
    EXPECT_EQ(all.targets[row].item<std::int64_t>(), number % 5);
  }
}

TEST(Jets, AreWrittenAsTheyAreRead) {
  const TemporaryFolder folder;
  for (const std::string form : {"particles", "image"}) {
    const std::string file = folder.path() + "/" + form + ".h5";
    const std::vector<std::string> drawn = {"data.form=" + form, "data.rows=25"};
    const run::Job toys = job("jets", drawn);
    const data::Examples expected = run::load_examples(toys).sets.training->first(25);
    const data::ExampleRowsPtr rows = toys.learning().examples->load(toys.seed(), {}).training;
    toys.learning().examples->file_form()->write(file, *rows);
    const data::Examples read =
        run::load_examples(job("jets", {"data.form=" + form, "data.jets=files", "data.file=" + file,
                                        "data.held_out=0"}))
            .sets.training->first(25);
    EXPECT_TRUE(torch::allclose(read.inputs, expected.inputs, 1e-6, 1e-9)) << form;
    EXPECT_TRUE(read.targets.equal(expected.targets)) << form;
  }
}

TEST(Jets, ThatDoNotFitAreRefused) {
  const TemporaryFolder folder;
  const std::string file = folder.path() + "/jets.h5";
  write(file, 10, 6);
  const std::vector<std::string> from = {"data.jets=files", "data.file=" + file};
  const auto refused = [&](std::vector<std::string> assignments) {
    assignments.insert(assignments.begin(), from.begin(), from.end());
    return message_of<core::Error>(
        [&] { run::load_examples(job("jets", assignments)).sets.training->first(1); });
  };
  EXPECT_NE(refused({"data.particles=9"}).find("Set data.particles to"), std::string::npos)
      << refused({"data.particles=9"});
  EXPECT_NE(refused({"data.form=image"}).find("jetImage"), std::string::npos);
  EXPECT_NE(refused({"data.form=numbers"}).find("made of toys alone"), std::string::npos);
  EXPECT_NE(message_of<core::Error>([&] {
              run::load_examples(job("jets", {"data.jets=files"}));
            }).find("data.file"),
            std::string::npos);
  EXPECT_NE(message_of<core::Error>([&] {
              run::load_examples(job("jets", {"data.lowest_pt_GeV=2000"}));
            }).find("Lower it"),
            std::string::npos);
}

// Standardised, what is not there is no row of zeros any more.
TEST(Jets, SayThatNothingIsSkippedOfStandardisedRows) {
  const auto is_said = [](const std::string& skips, const std::string& standardise) {
    const run::Job one = job(
        "jets",
        {"data.rows=200", "data.validation_rows=20", "data.particles=5",
         "data.standardise=" + standardise,
         "network.layers=[{interaction: {messages: [{dense: 4, activation: relu}], skip_empty: " +
             skips + ", sum: true}}, {dense: 5}]"});
    const run::LearningRows rows = run::load_examples(one);
    const auto learner = run::make_learner(one, run::make_networks(one, *rows.sets.training), rows);
    const auto warnings = run::warnings_of(one, *learner, rows.sets);
    return std::any_of(warnings.begin(), warnings.end(), [](const std::string& warning) {
      return warning.find("skip_empty: data.standardise") == 0;
    });
  };
  EXPECT_TRUE(is_said("true", "inputs"));
  EXPECT_FALSE(is_said("true", "false"));
  EXPECT_FALSE(is_said("false", "inputs"));
}

}  // namespace
}  // namespace sagips::workloads
