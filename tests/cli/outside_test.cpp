// Pipelines from outside, as a user runs them: what works, and one line for what does not.
#include <gtest/gtest.h>
#include <signal.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <map>
#include <sstream>
#include <thread>

#include "sagips/core/npy.hpp"
#include "tests/cli/command.hpp"

namespace {

const std::string tiny =
    " toy.events=2000 train.epochs=3 batch.samples=4 batch.events=8 evaluation.samples=50 "
    "generator.width=8 discriminator.width=8 run.figures=false run.name=x";

const std::string lifetime_of_t =
    "parameters: {lifetime: {low: 0.1, high: 5, toy: 2.2, unit: us}}\nobservables: [t]\n";

/// A folder with a problem of one parameter and the pipeline given.
struct Problem : Scratch {
  explicit Problem(const std::string& pipeline) {
    write("p.yaml", lifetime_of_t + "pipeline: " + pipeline + "\n");
  }
  void make_scripts() const { ASSERT_EQ(run(SAGIPS_MAKE_SCRIPTS).exit_code, 0); }
  Outcome check(const std::string& more = "") const { return sagips("check p.yaml " + more); }
  Outcome train(const std::string& more = "") const {
    return sagips("train p.yaml" + tiny + " " + more);
  }
};

std::string simulator(const std::string& mode, const std::string& options = "") {
  return "[{process: \"" SAGIPS_SIMULATOR " " + mode + "\", noise_dimensions: 1" + options + "}]";
}

std::string plugin(const std::string& file, const std::string& options) {
  return "[{plugin: \"" + file + "\", " + options + "}]";
}

// The lines of a run that had begun come before.
void expect_last_line(const Outcome& outcome, int exit_code,
                      const std::vector<std::string>& words) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out << outcome.err;
  const std::size_t error = outcome.err.find("sagips: error: ");
  ASSERT_NE(error, std::string::npos) << outcome.err;
  EXPECT_EQ(outcome.err.find('\n', error), outcome.err.size() - 1) << outcome.err;
  for (const std::string& word : words)
    EXPECT_NE(outcome.err.find(word, error), std::string::npos)
        << word << " is not in: " << outcome.err;
}

void expect_line(const Outcome& outcome, int exit_code, const std::vector<std::string>& words) {
  EXPECT_EQ(outcome.exit_code, exit_code) << outcome.out << outcome.err;
  EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  for (const std::string& word : words)
    EXPECT_NE(outcome.err.find(word), std::string::npos) << word << " is not in: " << outcome.err;
}

// The simulators' numbers stand in `pids`; an ended group may take a moment to be gone.
void expect_nothing_left(const Scratch& scratch) {
  ASSERT_TRUE(scratch.has("pids")) << "no simulator was started";
  std::istringstream numbers(scratch.read("pids"));
  for (int number; numbers >> number;) {
    bool there = true;
    for (int tries = 0; there && tries < 6000; ++tries) {
      there = ::kill(number, 0) == 0;
      // what was orphaned and killed is there until somebody reaps it
      std::ostringstream path;
      path << "/proc/" << number << "/stat";
      std::istringstream stat(
          there && std::filesystem::exists(path.str()) ? Scratch::file(path.str()) : std::string());
      std::string id, name, state;
      if (stat >> id >> name >> state && state == "Z") there = false;
      if (there) std::this_thread::sleep_for(std::chrono::milliseconds(10));
    }
    EXPECT_FALSE(there) << "process " << number << " is left";
  }
}

}  // namespace

TEST(Outside, ThreeLinesOfYamlTrainAScript) {
  Problem problem("[{script: my_stage.pt}]");
  problem.make_scripts();
  const Outcome check = problem.check();
  EXPECT_EQ(check.exit_code, 0) << check.err;
  EXPECT_NE(check.out.find("my_stage.pt"), std::string::npos) << check.out;
  const Outcome train = problem.train();
  ASSERT_EQ(train.exit_code, 0) << train.err;
  EXPECT_NE(train.out.find("lifetime"), std::string::npos);
  // the effective config reads back
  const Outcome again =
      problem.sagips("train runs/custom/x/config.yaml run.name=again train.epochs=1");
  EXPECT_EQ(again.exit_code, 0) << again.err;
}

TEST(Outside, ExamplesOfExplainAreWholeProblems) {
  Problem problem("[]");
  problem.make_scripts();
  for (const std::string key :
       {"pipeline", "script", "plugin", "process", "detector", "event_filter"}) {
    const std::string shown = problem.sagips("explain " + key).out;
    const std::size_t begin = shown.find("example:\n");
    ASSERT_NE(begin, std::string::npos) << shown;
    std::string yaml = shown.substr(begin + 9, shown.find("\n\n", begin) - begin - 8);
    for (const auto& [theirs, ours] : std::vector<std::pair<std::string, std::string>>{
             {"python3 my_stage.py", SAGIPS_SIMULATOR " decay"},
             {"build/my_stage.so", SAGIPS_PLUGIN_FILE},
             {"stage: my_stage", "stage: decay"}})
      if (const std::size_t at = yaml.find(theirs); at != std::string::npos)
        yaml.replace(at, theirs.size(), ours);
    problem.write("example.yaml", yaml);
    const Outcome check = problem.sagips("check example.yaml toy.events=1000");
    EXPECT_EQ(check.exit_code, 0) << yaml << check.err;
  }
}

TEST(Outside, AParameterThatChangesNothingIsNamedAndTheOtherAnswered) {
  Scratch scratch;
  scratch.write(
      "p.yaml",
      "parameters: {lifetime: {low: 0.1, high: 5, toy: 2.2}, idle: {low: 0, high: 1, toy: 0.5}}\n"
      "observables: [t]\npipeline: " +
          plugin(SAGIPS_PLUGIN_FILE, "stage: decay") + "\n");
  for (const std::string command : {"train", "solve"}) {
    const Outcome outcome = scratch.sagips(
        command + " p.yaml" + (command == "train" ? tiny : " toy.events=2000 run.figures=false"));
    ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
    EXPECT_NE(outcome.err.find("moving along (idle)"), std::string::npos) << outcome.err;
    std::istringstream lines(outcome.out);
    for (std::string line; std::getline(lines, line);) {
      const std::string expected = line.starts_with("idle ")       ? "not fixed"
                                   : line.starts_with("lifetime ") ? "±"
                                                                   : "";
      EXPECT_NE(line.find(expected), std::string::npos) << line;
    }
  }
}

TEST(Outside, AParameterOfYourOwnMayBePeriodic) {
  Scratch scratch;
  scratch.write("p.yaml",
                "parameters: {lifetime: {low: 0.1, high: 5, toy: 2.2, periodic: true}}\n"
                "observables: [t]\npipeline: " +
                    plugin(SAGIPS_PLUGIN_FILE, "stage: decay") + "\n");
  const Outcome outcome =
      scratch.sagips("solve p.yaml toy.events=2000 run.figures=false run.name=x --json");
  ASSERT_EQ(outcome.exit_code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("\"period\": 4.9"), std::string::npos) << outcome.out;
}

TEST(Outside, AStageBehindABuiltInPipelineTakesItsDensityAway) {
  Scratch scratch;
  ASSERT_EQ(scratch.run(SAGIPS_MAKE_SCRIPTS).exit_code, 0);
  const std::string appended = " 'pipeline=[{script: shift.pt}]'";
  const Outcome check = scratch.sagips("check resonance toy.events=1000" + appended);
  EXPECT_EQ(check.exit_code, 0) << check.err;
  EXPECT_NE(check.out.find("shift.pt"), std::string::npos) << check.out;
  expect_line(scratch.sagips("fit resonance toy.events=1000" + appended), 2, {"density"});
  const Outcome proxy = scratch.sagips(
      "check proxy1d toy.events=1000 'pipeline=[{script: shift.pt}, {event_filter: {low: [-1, -1], "
      "high: [4, 4]}}]'");
  EXPECT_EQ(proxy.exit_code, 0) << proxy.err;
  EXPECT_NE(proxy.out.find("event_filter"), std::string::npos) << proxy.out;
}

TEST(Outside, AScriptWithAnotherSignatureIsRefused) {
  for (const auto& [script, words] :
       std::vector<std::pair<std::string, std::string>>{{"text", "expected forward(input)"},
                                                        {"three", "expected forward(input)"},
                                                        {"silent_noise", "noise_dimensions"},
                                                        {"wrong_size", "fails on input of shape"},
                                                        {"own_dice", "same noise"},
                                                        {"not_there", "current folder"}}) {
    Problem problem("[{script: " + script + ".pt}]");
    problem.make_scripts();
    if (words == "current folder")
      expect_line(problem.train(), 2, {"not_there.pt", "where you start"});
    else
      expect_line(problem.train(), 2, {script + ".pt", words});
  }
}

TEST(Outside, AFileThatIsNoScriptOrOfANewerPyTorchIsRefused) {
  Problem problem("[{script: my_stage.pt}]");
  problem.make_scripts();
  const std::string good = problem.read("my_stage.pt");
  // the archive's record `version`, stored as it is: format 3 becomes 9999
  std::string newer = good;
  const std::size_t name = newer.find("/version");
  ASSERT_NE(name, std::string::npos);
  const std::size_t digit = newer.find("3\n", name);
  ASSERT_LT(digit - name, 200U);
  newer.replace(digit, 2, "99");
  problem.write("my_stage.pt", newer);
  expect_line(problem.check(), 2, {"my_stage.pt", "newer PyTorch", "99", "LibTorch 2."});
  problem.write("my_stage.pt", "this is text");
  expect_line(problem.train(), 2, {"my_stage.pt", "no TorchScript module"});
}

TEST(Outside, AStageThatBecomesNanEndsTheRunAndKeepsItsLastState) {
  Problem problem("[{script: nan_later.pt}]");
  problem.make_scripts();
  // the pull towards large lifetimes: data of 4.7, proposals cross 4.76 sooner or later
  const Outcome train = problem.train(
      "parameters.lifetime.toy=4.7 train.epochs=3000 optimizer.generator.learning_rate=0.01");
  expect_last_line(train, 1, {"epoch ", "stage 'nan_later.pt'", "lifetime = 4."});
  for (const std::string file :
       {"results.json", "generator.npy", "generator_samples.npy", "config.yaml"})
    EXPECT_TRUE(problem.has("runs/custom/x/" + file)) << file;
  const std::string results = problem.read("runs/custom/x/results.json");
  EXPECT_NE(results.find("failed: epoch"), std::string::npos) << results;
  const Outcome predict = problem.sagips("predict runs/custom/x samples=10");
  EXPECT_EQ(predict.exit_code, 0) << predict.err;
}

TEST(Outside, AProcessWithAProductTrains) {
  Problem problem(simulator("decay", ", gradient: true, processes: 2"));
  const Outcome check = problem.check();
  EXPECT_EQ(check.exit_code, 0) << check.err;
  EXPECT_NE(check.out.find("ready to train"), std::string::npos) << check.out;
  const Outcome train = problem.train("threads=2 train.engine.tile_samples=1");
  EXPECT_EQ(train.exit_code, 0) << train.err;
  expect_nothing_left(problem);
}

TEST(Outside, ManyProcessesGiveTheSameNumbersAsOne) {
  const auto weights = [](const std::string& options) {
    Problem problem(simulator("decay", ", gradient: true" + options));
    EXPECT_EQ(problem.train("threads=2 train.engine.tile_samples=1").exit_code, 0);
    return problem.read("runs/custom/x/generator.npy");
  };
  EXPECT_EQ(weights(""), weights(", processes: 2"));
}

TEST(Outside, AWrongProductIsFoundByTheDryRun) {
  Problem problem(simulator("wrong_gradient", ", gradient: true"));
  expect_line(problem.train(), 2, {"simulator", "product with the Jacobian", "differences give"});
  expect_nothing_left(problem);
}

TEST(Outside, AProcessWithoutAProductIsRefusedByTheGan) {
  Problem problem(simulator("decay"));
  const Outcome check = problem.check();
  EXPECT_EQ(check.exit_code, 0) << check.err;
  EXPECT_NE(check.out.find("GAN training not possible"), std::string::npos) << check.out;
  expect_line(problem.train(), 2, {"process simulator", "no gradient", "solve"});
}

class FailingSimulator
    : public ::testing::TestWithParam<std::tuple<std::string, std::vector<std::string>>> {};

TEST_P(FailingSimulator, IsToldInOneLineAndLeavesNothingBehind) {
  const auto& [mode, words] = GetParam();
  // the limit holds for the greeting, too, which comes late on a busy machine
  const std::string limit = mode == "hangs" ? "3" : "100";
  Problem problem(simulator(mode, ", gradient: true, timeout_s: " + limit));
  const Outcome outcome = problem.train();
  std::vector<std::string> all = words;
  all.push_back("simulator");
  expect_line(outcome, 1, all);
  expect_nothing_left(problem);
  EXPECT_FALSE(problem.has("runs")) << "nothing was trained";
}

INSTANTIATE_TEST_SUITE_P(
    Outside, FailingSimulator,
    ::testing::Values(
        std::tuple{"hangs", std::vector<std::string>{"within 3 s", "'waiting for a licence'"}},
        std::tuple{"crashes", std::vector<std::string>{"signal 11", "the detector is on fire"}},
        std::tuple{"exits", std::vector<std::string>{"exit code 3", "said nothing"}},
        std::tuple{"garbage", std::vector<std::string>{"'event 1 of 1000 generated'", "'done 1'"}},
        std::tuple{"rude", std::vector<std::string>{"'usage: simulator FILE'", "'hello 1'"}},
        std::tuple{"reports", std::vector<std::string>{"error the lifetime must be below 4"}},
        std::tuple{"wrong_shape", std::vector<std::string>{"output.npy of shape [40]"}},
        std::tuple{"empty_file", std::vector<std::string>{"no usable output.npy", "numpy.save"}},
        std::tuple{"half_file", std::vector<std::string>{"no usable output.npy", "numpy.save"}},
        std::tuple{"text_file", std::vector<std::string>{"no usable output.npy", "numpy.save"}},
        std::tuple{"folder", std::vector<std::string>{"output.npy"}},
        std::tuple{"no_array", std::vector<std::string>{"left no usable output.npy"}},
        std::tuple{"nan", std::vector<std::string>{"NaN or infinity in output.npy for the input"}}),
    [](const auto& mode) { return std::get<0>(mode.param); });

const std::string two_clocks = lifetime_of_t +
                               "channels:\n"
                               "  near: {pipeline: [{plugin: \"" SAGIPS_PLUGIN_FILE
                               "\", stage: decay, clock: 0.3}]}\n"
                               "  far: {pipeline: [{plugin: \"" SAGIPS_PLUGIN_FILE
                               "\", stage: decay, clock: 0.5}]}\n";

TEST(Channels, FromYamlGiveTheNumbersOfAProgramBitForBit) {
  Scratch scratch;
  scratch.write("p.yaml", two_clocks);
  const std::string how = "toy.events=2000 run.figures=false solve.test_events=0 run.name=x";
  const Outcome yaml = scratch.sagips("solve p.yaml " + how);
  ASSERT_EQ(yaml.exit_code, 0) << yaml.err;
  const Outcome program = scratch.run(SAGIPS_TWO_CLOCKS " solve clocks " + how);
  ASSERT_EQ(program.exit_code, 0) << program.err;
  EXPECT_EQ(scratch.read("runs/custom/x/summary.csv"), scratch.read("runs/clocks/x/summary.csv"));
}

TEST(Channels, HaveParametersOfTheirOwn) {
  Scratch scratch;
  const std::string parameters =
      "parameters:\n"
      "  idle: {low: 0, high: 1, toy: 0.5, fixed: 0.5}\n"
      "  one: {low: 0.1, high: 5, toy: 2.2}\n"
      "  other: {low: 0.1, high: 5, toy: 1.1}\n"
      "observables: [t]\n";
  const std::string stage = "pipeline: [{plugin: \"" SAGIPS_PLUGIN_FILE "\", stage: decay}]";
  scratch.write("p.yaml", parameters + "channels:\n  near: {parameters: [one], " + stage +
                              "}\n  far: {parameters: [other, one], " + stage + "}\n");
  const std::string how = " toy.events=5000 run.figures=false solve.test_events=0";
  const Outcome solved = scratch.sagips("solve p.yaml run.name=x" + how);
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  EXPECT_EQ(solved.err.find("warning"), std::string::npos) << solved.err;
  const Outcome made = scratch.sagips("generate p.yaml events=3000 out=two.npy");
  EXPECT_NE(made.out.find("two_near.npy"), std::string::npos) << made.out;
  for (const std::string data :
       {"cuts=[t < 1]", "columns=[t]", "weight_column=w", "maximum_events=9"})
    expect_line(scratch.sagips("solve p.yaml 'data." + data + "'"), 2,
                {"channels.near.data." + data.substr(0, data.find('='))});
  scratch.write("q.yaml", parameters + "channels:\n  near: {parameters: [ones], " + stage + "}\n");
  expect_line(scratch.sagips("check q.yaml"), 2,
              {"channels.near.parameters", "did you mean 'one'"});
  scratch.write("q.yaml", parameters + "channels:\n  near: {}\n");
  expect_line(scratch.sagips("check q.yaml"), 2, {"channels.near.pipeline", "is empty"});
  scratch.write("q.yaml", parameters + stage + "\nchannels:\n  near: {" + stage + "}\n");
  expect_line(scratch.sagips("check q.yaml"), 2, {"pipeline", "stands beside channels"});
}

TEST(Channels, ALabelColumnSplitsOneFile) {
  Scratch scratch;
  scratch.write("p.yaml", two_clocks);
  ASSERT_EQ(scratch.sagips("generate p.yaml events=2000 out=two.npy").exit_code, 0);
  const auto table = [&](const std::string& channel) {
    const sagips::core::NpyArray events =
        sagips::core::read_npy(scratch.path() + "/two_" + channel + ".npy");
    std::ostringstream rows;
    rows.precision(17);
    for (const double time : events.values)
      rows << time << ',' << (channel == "near" ? 1 : 2) << '\n';
    return rows.str();
  };
  scratch.write("all.csv", "t,detector\n" + table("near") + table("far"));
  std::string labelled = two_clocks;
  labelled.replace(labelled.find("near: {"), 7,
                   "near: {data: {file: all.csv, cuts: [detector == 1]}, ");
  labelled.replace(labelled.find("far: {"), 6,
                   "far: {data: {file: all.csv, cuts: [detector == 2]}, ");
  scratch.write("labelled.yaml", labelled);
  const std::string how = " run.figures=false solve.test_events=0 run.name=";
  const Outcome one = scratch.sagips("solve labelled.yaml" + how + "one");
  ASSERT_EQ(one.exit_code, 0) << one.err;
  const Outcome two = scratch.sagips(
      "solve p.yaml channels.near.data.file=two_near.npy channels.far.data.file=two_far.npy" + how +
      "two");
  ASSERT_EQ(two.exit_code, 0) << two.err;
  EXPECT_EQ(scratch.read("runs/custom/one/summary.csv"),
            scratch.read("runs/custom/two/summary.csv"));
}

class MisshapenEvents : public ::testing::TestWithParam<std::pair<std::string, std::string>> {};

TEST_P(MisshapenEvents, AreToldWithWhatToDo) {
  const auto& [mode, words] = GetParam();
  Problem problem(simulator(mode));
  expect_line(problem.check(), 2, {"process simulator", words});
  expect_nothing_left(problem);
}

INSTANTIATE_TEST_SUITE_P(
    Outside, MisshapenEvents,
    ::testing::Values(std::pair{"flat", "values[:, :, None]"},
                      std::pair{"swapped", "Swap the last two dimensions"},
                      std::pair{"short", "a mask, NaN, or counts"},
                      std::pair{"long", "at most as many events"},
                      std::pair{"loses_wrong_mask", "other numbers than 0 and 1"},
                      std::pair{"loses_short_mask", "Give one number an event"},
                      std::pair{"loses_wrong_counts", "no whole numbers from 0 to 40"},
                      std::pair{"loses_wrong_weights", "negative or NaN"}),
    [](const auto& mode) { return std::string(mode.param.first); });

TEST(Outside, AFilterDoesNotTakeTheBlameForTheStageBeforeIt) {
  std::string stages = simulator("flat");
  stages.pop_back();
  Problem problem(stages + ", {event_filter: {low: [0], high: [3]}}]");
  expect_line(problem.check(), 2, {"from the stage before it", "values[:, :, None]"});
}

// Each way to lose events above 3 is the same selection; counts put them in another order.
TEST(Outside, LostEventsAreLostInWhicheverWayTheyAreTold) {
  std::string first;
  for (const std::string mode : {"loses_mask", "loses_nan", "loses_weights", "loses_counts"}) {
    Problem problem(simulator(mode, mode == "loses_nan" ? ", nan_is_lost: true" : ""));
    const Outcome solved = problem.sagips(
        "solve p.yaml toy.events=2000 run.figures=false solve.test_events=0 moments.minima=false");
    ASSERT_EQ(solved.exit_code, 0) << solved.err;
    std::string row = solved.out.substr(solved.out.find("\nlifetime ") + 1);
    row.resize(row.find('\n'));
    if (first.empty()) first = row;
    if (mode == "loses_counts")
      EXPECT_NEAR(std::stod(row.substr(22)), 2.2, 0.8) << row;  // four errors
    else
      EXPECT_EQ(row, first) << mode;
  }
}

TEST(Outside, GeneratedEventsKeepTheCutsThatTheyHavePassed) {
  Problem problem(simulator("decay"));
  ASSERT_EQ(problem.sagips("generate p.yaml events=8000 'data.cuts=[t < 2]' out=c.npy").exit_code,
            0);
  EXPECT_NE(problem.read("c.yaml").find("t < 2"), std::string::npos) << problem.read("c.yaml");
  const Outcome solved =
      problem.sagips("solve c.yaml run.figures=false solve.test_events=0 moments.minima=false");
  EXPECT_EQ(solved.exit_code, 0) << solved.err;
  EXPECT_EQ(solved.err.find("does not describe"), std::string::npos) << solved.err;
}

TEST(Outside, CutsOfTheDataSelectSimulatedEventsToo) {
  Problem problem(simulator("decay"));
  ASSERT_EQ(problem.sagips("generate p.yaml events=20000 out=toy.npy").exit_code, 0);
  const auto lifetime = [&](const std::string& cut) {
    const Outcome solved = problem.sagips(
        "solve p.yaml data.file=toy.npy run.figures=false solve.test_events=0 run.name=" +
        std::string(cut.empty() ? "all" : "cut") + " " + cut);
    EXPECT_EQ(solved.exit_code, 0) << solved.err;
    EXPECT_EQ(solved.err.find("does not describe"), std::string::npos) << solved.err;
    const std::size_t row = solved.out.find("\nlifetime ");
    return std::stod(solved.out.substr(solved.out.find_first_of("0123456789", row)));
  };
  // a cut at 2 keeps 0.6 of the events of a lifetime of 2.2; without selecting the simulated ones, too,
  // the answer would be below 1.1
  EXPECT_NEAR(lifetime("'data.cuts=[t < 2]'"), lifetime(""), 0.3);
}

TEST(Outside, RareNanIsSkippedWhereThatIsAskedForAndCounted) {
  Problem stops(simulator("rare_nan"));
  const std::string solve = "solve p.yaml toy.events=2000 run.figures=false solve.test_events=0";
  expect_last_line(stops.sagips(solve), 1, {"NaN or infinity", "on_error: skip", "nan_is_lost"});
  Problem skips(simulator("rare_nan", ", on_error: skip"));
  const Outcome solved = skips.sagips(solve);
  EXPECT_EQ(solved.exit_code, 0) << solved.err;
  EXPECT_NE(solved.err.find("events were skipped"), std::string::npos) << solved.err;
  Problem refuses(simulator("rare_nan", ", on_error: skip, most_skipped: 1e-6"));
  expect_last_line(refuses.sagips(solve), 1, {"more than most_skipped"});
}

TEST(Outside, TwoSimulatorsShareTheCallsOfASolve) {
  const auto answer = [](const std::string& options) {
    Problem problem(simulator("slow", options));
    const Outcome solved = problem.sagips(
        "solve p.yaml toy.events=2000 run.figures=false solve.test_events=0 moments.minima=false");
    EXPECT_EQ(solved.exit_code, 0) << solved.err;
    std::map<std::string, int> calls;
    std::istringstream lines(problem.read("requests"));
    for (std::string line; std::getline(lines, line);) ++calls[line.substr(0, line.find(' '))];
    std::vector<int> shares;
    for (const auto& [process, count] : calls) shares.push_back(count);
    return std::pair(solved.out.substr(0, solved.out.find("moments: converged")), shares);
  };
  const auto [one, calls_of_one] = answer("");
  const auto [two, calls_of_two] = answer(", processes: 2");
  EXPECT_EQ(one, two);
  EXPECT_EQ(calls_of_one.size(), 1U);
  ASSERT_EQ(calls_of_two.size(), 2U);
  EXPECT_GT(std::min(calls_of_two[0], calls_of_two[1]) * 4, calls_of_one[0]) << "of all calls";
}

TEST(Outside, AKilledSolveGoesOnWithoutAskingAgain) {
  Problem problem(simulator("slow"));
  const std::string solve =
      "solve p.yaml toy.events=2000 run.figures=false solve.test_events=0 moments.minima=false";
  const Outcome killed = problem.run("sh -c '" SAGIPS_PROGRAM " " + solve +
                                     " & program=$!; for i in $(seq 3000); do "
                                     "[ \"$(cat requests 2>/dev/null | wc -l)\" -ge 20 ] && break; "
                                     "sleep 0.05; done; kill -KILL $program; wait $program'");
  EXPECT_NE(killed.exit_code, 0);
  const Outcome solved = problem.sagips(solve);
  ASSERT_EQ(solved.exit_code, 0) << solved.err;
  EXPECT_NE(solved.err.find("resuming runs/custom/"), std::string::npos) << solved.err;
  std::map<std::string, int> times;
  std::istringstream lines(problem.read("requests"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string process, samples, events, what;
    words >> process >> samples >> events >> what;
    // the dry run and the toy data, two draws of 1,000 events, come before the solver
    if (events != "40" && events != "1000") ++times[what];
  }
  int again = 0;
  for (const auto& [what, count] : times) again += count - 1;
  EXPECT_GT(times.size(), 20U);
  EXPECT_LE(again, 1) << "the one that was under way";
}

TEST(Outside, ASolveSaysWhatItDoesWhileTheDryRunWaits) {
  Problem problem("[{process: \"sleep 4; " SAGIPS_SIMULATOR " decay\", noise_dimensions: 1}]");
  const Outcome solved =
      problem.sagips("solve p.yaml toy.events=500 run.figures=false solve.test_events=0");
  EXPECT_EQ(solved.exit_code, 0) << solved.err;
  EXPECT_NE(solved.err.find("reads the data and tries the pipeline in 2 s"), std::string::npos)
      << solved.err;
}

// Every step waits 50 ms and more for the simulator.
TEST(Outside, ASolverWithoutPhasesIsNotTakenForTheDryRun) {
  Problem problem(simulator("slow", ", gradient: true"));
  const Outcome solved = problem.sagips(
      "solve p.yaml toy.events=500 run.figures=false solve.test_events=0 solve.method=direct "
      "direct.starts=1 direct.steps=60");
  EXPECT_EQ(solved.exit_code, 0) << solved.err;
  EXPECT_NE(solved.err.find("begins in 2 s"), std::string::npos) << solved.err;
}

TEST(Outside, ASolveThatRunsOutOfTimeGivesNoVerdict) {
  Problem problem(simulator("slow"));
  const Outcome stopped =
      problem.sagips("solve p.yaml toy.events=2000 run.figures=false solve.minutes=0.01");
  EXPECT_EQ(stopped.exit_code, 3) << stopped.err;
  EXPECT_NE(stopped.out.find("stopped by its limit"), std::string::npos) << stopped.out;
  EXPECT_EQ(stopped.out.find("p = "), std::string::npos) << stopped.out;
  EXPECT_EQ(stopped.err.find("does not describe"), std::string::npos) << stopped.err;
}

TEST(Outside, ACommandThatIsNotThereIsTold) {
  Problem problem("[{process: no_such_simulator, noise_dimensions: 1}]");
  expect_line(problem.check(), 2, {"no_such_simulator", "exit code 127", "not found"});
}

TEST(Outside, ASimulatorThatFailsInTheMiddleLeavesTheLastState) {
  Problem problem(simulator("nan_later", ", gradient: true"));
  const Outcome train = problem.train(
      "parameters.lifetime.toy=4.7 train.epochs=3000 optimizer.generator.learning_rate=0.01");
  expect_last_line(train, 1, {"epoch ", "NaN or infinity in output.npy for the input (4."});
  for (const std::string file : {"results.json", "generator.npy", "generator_samples.npy"})
    EXPECT_TRUE(problem.has("runs/custom/x/" + file)) << file;
  expect_nothing_left(problem);
}

TEST(Outside, NothingIsLeftWhenTheProgramIsKilled) {
  for (const std::string signal : {"TERM", "KILL"}) {
    Problem problem(simulator("hangs", ", timeout_s: 600"));
    const Outcome outcome =
        problem.run("mkdir temporary; TMPDIR=$PWD/temporary sh -c '" SAGIPS_PROGRAM
                    " check p.yaml & program=$!; "
                    // the simulator and its child
                    "for i in $(seq 2000); do [ \"$(cat pids 2>/dev/null | wc "
                    "-l)\" = 2 ] && break; sleep 0.05; done;"
                    " kill -" +
                    signal + " $program; wait $program'");
    EXPECT_NE(outcome.exit_code, 0);
    expect_nothing_left(problem);
    const std::string temporary = problem.path() + "/temporary";
    for (int tries = 0; !std::filesystem::is_empty(temporary) && tries < 6000; ++tries)
      std::this_thread::sleep_for(std::chrono::milliseconds(10));
    EXPECT_TRUE(std::filesystem::is_empty(temporary)) << "the simulator's scratch folder";
  }
}

TEST(Outside, APluginTrainsWithItsOptions) {
  Problem problem(plugin(SAGIPS_PLUGIN_FILE, "stage: decay, clock: 0.1"));
  const Outcome train = problem.train();
  EXPECT_EQ(train.exit_code, 0) << train.err;
  EXPECT_NE(problem.read("runs/custom/x/config.yaml").find("clock: 0.1"), std::string::npos);
  problem.write("p.yaml", lifetime_of_t + "pipeline: [{plugin: \"" SAGIPS_PLUGIN_FILE
                                          "\", stage: decay}, {plugin: \"" SAGIPS_PLUGIN_FILE
                                          "\", stage: shift, by: 2}]\n");
  EXPECT_EQ(problem.check().exit_code, 0);
}

TEST(Outside, EventsWithWeightsAreGeneratedByThemOrWithThem) {
  Problem problem("[{plugin: \"" SAGIPS_PLUGIN_FILE
                  "\", stage: decay}, {plugin: \"" SAGIPS_PLUGIN_FILE "\", stage: efficiency}]");
  const Outcome drawn = problem.sagips("generate p.yaml events=2000 out=drawn.npy");
  ASSERT_EQ(drawn.exit_code, 0) << drawn.err;
  EXPECT_NE(drawn.out.find("2,000 events of [t]: drawn.npy"), std::string::npos) << drawn.out;
  EXPECT_NE(problem.read("drawn.yaml").find("accepted by their weights: "), std::string::npos);
  const Outcome kept = problem.sagips("generate p.yaml events=2000 out=kept.npy toy.weights=kept");
  ASSERT_EQ(kept.exit_code, 0) << kept.err;
  EXPECT_NE(kept.out.find("2,000 events of [t, weight]: kept.npy"), std::string::npos) << kept.out;
  EXPECT_NE(problem.read("kept.yaml").find("weight_column: 1\n"), std::string::npos);
  const Outcome solve = problem.sagips("solve p.yaml data.file=kept.npy data.weight_column=1");
  EXPECT_EQ(solve.exit_code, 0) << solve.err;
}

TEST(Outside, APluginOfAnotherVersionIsRefusedBeforeItsCodeRuns) {
  Problem problem(plugin(SAGIPS_OLD_PLUGIN_FILE, "stage: decay"));
  expect_line(problem.train(), 2,
              {"was built for sagips 0.0.1 (old)", "and this is sagips 0.", "Build it again"});
}

TEST(Outside, WhatIsNoPluginIsRefused) {
  Problem missing(plugin("nowhere.so", "stage: decay"));
  expect_line(missing.check(), 2, {"nowhere.so", "is not there", "where you start"});
  Problem text(plugin("./p.yaml", "stage: decay"));
  expect_line(text.check(), 2, {"p.yaml", "no shared library"});
  Problem program(plugin(SAGIPS_SIMULATOR, "stage: decay"));
  expect_line(program.check(), 2, {"no SAGIPS plug-in"});
  Problem stage(plugin(SAGIPS_PLUGIN_FILE, "stage: decai"));
  expect_line(stage.check(), 2, {"p.yaml:3", "unknown stage 'decai'", "did you mean 'decay'"});
  Problem option(plugin(SAGIPS_PLUGIN_FILE, "stage: decay, clok: 1"));
  expect_line(option.check(), 2, {"p.yaml:3", "pipeline.0.clok", "did you mean 'clock'"});
}

TEST(Outside, AConfigThatIsIncompleteSaysWhatIsMissing) {
  Scratch scratch;
  scratch.write("p.yaml", "workload: custom\n");
  expect_line(scratch.sagips("train p.yaml" + tiny), 2, {"parameters"});
  scratch.write("p.yaml", "parameters: {a: {low: 0}}\npipeline: []\n");
  expect_line(scratch.sagips("train p.yaml" + tiny), 2, {"parameters.a", "low and its high"});
  scratch.write("p.yaml", lifetime_of_t + "pipeline: []\n");
  expect_line(scratch.sagips("train p.yaml" + tiny), 2, {"pipeline", "is empty"});
  scratch.write("p.yaml", lifetime_of_t + "pipelin: [{script: a.pt}]\n");
  expect_line(scratch.sagips("train p.yaml" + tiny), 2, {"pipelin", "did you mean 'pipeline'"});
  scratch.write("p.yaml", lifetime_of_t + "pipeline: [{skript: a.pt}]\n");
  expect_line(scratch.sagips("train p.yaml" + tiny), 2, {"p.yaml:3", "did you mean 'script'"});
}

TEST(New, WritesFoldersThatWork) {
  Scratch scratch;
  ASSERT_EQ(scratch.run(SAGIPS_MAKE_SCRIPTS).exit_code, 0);
  const Outcome made = scratch.sagips("new stage clock_smearing");
  ASSERT_EQ(made.exit_code, 0) << made.err;
  EXPECT_NE(scratch.read("clock_smearing/clock_smearing.py").find("class ClockSmearing"),
            std::string::npos);
  // what its script would write, made without PyTorch
  const Outcome test = scratch.run("cp my_stage.pt clock_smearing/clock_smearing.pt && PATH=" +
                                   std::filesystem::path(SAGIPS_PROGRAM).parent_path().string() +
                                   ":$PATH clock_smearing/test.sh");
  EXPECT_EQ(test.exit_code, 0) << test.out << test.err;
  for (const std::string line :
       {"stage a_plugin language=cpp", "stage a_process language=process", "workload a_program"})
    EXPECT_EQ(scratch.sagips("new " + line).exit_code, 0) << line;
  EXPECT_NE(scratch.read("a_plugin/a_plugin.cpp").find("struct APlugin"), std::string::npos);
  EXPECT_TRUE(scratch.has("a_process/test.sh"));
  EXPECT_TRUE(scratch.has("a_program/CMakeLists.txt"));
}

TEST(New, RefusesWhatItCannotWrite) {
  Scratch scratch;
  ASSERT_EQ(scratch.sagips("new stage a").exit_code, 0);
  const std::string before = scratch.read("a/README.md");
  expect_line(scratch.sagips("new stage a"), 2, {"already there"});
  EXPECT_EQ(scratch.read("a/README.md"), before);
  expect_line(scratch.sagips("new stage"), 2, {"NAME"});
  expect_line(scratch.sagips("new stage Bad-Name"), 2, {"Bad-Name"});
  expect_line(scratch.sagips("new stage b language=pascal"), 2, {"pascal", "python, cpp, process"});
  expect_line(scratch.sagips("new pipeline b"), 2, {"neither stage nor workload"});
  EXPECT_FALSE(scratch.has("b"));
  const Outcome full = scratch.run(
      "bash -o pipefail -c \"bash -c 'trap \\\"\\\" XFSZ; ulimit -f 0; exec " SAGIPS_PROGRAM
      " new stage b' 2>&1 | cat\"");
  EXPECT_EQ(full.exit_code, 2);
  EXPECT_NE(full.out.find("sagips: error: b/"), std::string::npos) << full.out;
  EXPECT_FALSE(scratch.has("b")) << "the next try would find it";
}
