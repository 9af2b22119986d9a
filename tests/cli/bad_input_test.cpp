#include <gtest/gtest.h>
#include <unistd.h>

#include <string>

#include "tests/cli/command.hpp"

namespace {

// One line on standard error that holds `words`, exit code 2, and nothing new in the folder.
void expect_refused(const Scratch& scratch, const std::string& arguments, const std::string& words,
                    const std::string& prefix = "") {
  const int before = scratch.entries();
  const Outcome outcome = scratch.sagips(arguments, prefix);
  EXPECT_EQ(outcome.exit_code, 2) << arguments << "\n" << outcome.out << outcome.err;
  EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
  EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
  EXPECT_EQ(scratch.entries(), before) << "something was left behind by: " << arguments;
}

std::string npy(const std::string& header, const std::string& body) {
  std::string padded = header;
  while ((10 + padded.size() + 1) % 64 != 0) padded += ' ';
  padded += '\n';
  std::string file("\x93NUMPY\x01\x00", 8);
  file += static_cast<char>(padded.size() & 0xff);
  file += static_cast<char>(padded.size() >> 8);
  return file + padded + body;
}

const std::string masses = "M,pt,kind\n91.2,30,G\n90.1,31,T\n89.5,29,G\n92.0,33,G\n";
const std::string tiny_training =
    " train.epochs=2 batch.samples=4 batch.events=8 run.figures=false run.name=x";

std::string resonance(const std::string& file) {
  return "train resonance data.file=" + file + tiny_training;
}

}  // namespace

TEST(BadInput, MissingDataFile) {
  Scratch scratch;
  expect_refused(scratch, resonance("nowhere.csv"), "nowhere.csv");
}

TEST(BadInput, UnknownFileType) {
  Scratch scratch;
  scratch.write("events.root", "x");
  expect_refused(scratch, resonance("events.root"), "events.root");
}

TEST(BadInput, WrongColumnNamesTheNearest) {
  Scratch scratch;
  scratch.write("m.csv", masses);
  expect_refused(scratch, resonance("m.csv") + " data.columns=[Mass]", "M");
  expect_refused(scratch, resonance("m.csv") + " data.columns=[ptt]", "'pt'");
}

TEST(BadInput, NotANumberInTheDataNamesItsRow) {
  Scratch scratch;
  scratch.write("m.csv", "M\n91.2\nnan\n90\n");
  expect_refused(scratch, resonance("m.csv"), "m.csv:3");
}

TEST(BadInput, TextInTheDataNamesItsRow) {
  Scratch scratch;
  scratch.write("m.csv", "M\n91.2\n90\nmuon\n");
  expect_refused(scratch, resonance("m.csv"), "m.csv:4");
}

TEST(BadInput, NoEventAfterTheCuts) {
  Scratch scratch;
  scratch.write("m.csv", masses);
  expect_refused(scratch, resonance("m.csv") + " 'data.cuts=[\"M > 200\"]'", "M > 200");
}

TEST(BadInput, MalformedCut) {
  Scratch scratch;
  scratch.write("m.csv", masses);
  expect_refused(scratch, resonance("m.csv") + " 'data.cuts=[\"M is large\"]'", "M is large");
}

TEST(BadInput, PickledNpy) {
  Scratch scratch;
  scratch.write("p.npy",
                npy("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "\x80\x04K."));
  expect_refused(scratch, resonance("p.npy"), "p.npy");
}

TEST(BadInput, TruncatedNpy) {
  Scratch scratch;
  scratch.write("t.npy",
                npy("{'descr': '<f4', 'fortran_order': False, 'shape': (100,), }", "abcd"));
  expect_refused(scratch, resonance("t.npy"), "t.npy");
}

TEST(BadInput, NpyOfText) {
  Scratch scratch;
  scratch.write("u.npy", npy("{'descr': '<U4', 'fortran_order': False, 'shape': (1,), }",
                             std::string(16, 'a')));
  expect_refused(scratch, resonance("u.npy"), "u.npy");
}

TEST(BadInput, NpyWithAnotherNumberOfColumns) {
  Scratch scratch;
  scratch.write("w.npy", npy("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                             std::string(24, '\0')));
  expect_refused(scratch, "train proxy1d data.file=w.npy" + tiny_training, "data.columns");
}

TEST(BadInput, FileThatIsNoHdf5) {
  Scratch scratch;
  scratch.write("e.hdf5", "this is text");
  expect_refused(scratch, resonance("e.hdf5") + " data.hdf5_dataset=events", "e.hdf5");
}

TEST(BadInput, UnknownKeyNamesTheNearestAndItsLine) {
  Scratch scratch;
  scratch.write("s.yaml", "workload: proxy1d\noptimizer:\n  generator:\n    learning_rat: 1e-4\n");
  expect_refused(scratch, "train s.yaml" + tiny_training, "s.yaml:4");
  expect_refused(scratch, "train s.yaml" + tiny_training, "learning_rate");
  expect_refused(scratch, "train proxy1d batch.sample=3" + tiny_training, "'samples'");
}

TEST(BadInput, ValueOutOfRange) {
  Scratch scratch;
  expect_refused(scratch, "train proxy1d optimizer.generator.learning_rate=-1", "learning_rate");
  expect_refused(scratch, "train proxy1d data.fraction=0", "fraction");
  expect_refused(scratch, "train proxy1d parameters.a_u.low=2", "a_u");
  expect_refused(scratch, "train proxy1d train.epochs=0 train.minutes=0", "train");
  expect_refused(scratch, "train gaussians early_stop.target=high", "early_stop.target");
  expect_refused(scratch, "train gaussians early_stop.patience=2 early_stop.metric=ks", "ks_mean");
  expect_refused(scratch, "train gaussians optimizer.generator.nesterov=true",
                 "optimizer.generator.nesterov");
  expect_refused(scratch, "train proxy1d objective.label_real=0.5 objective.label_synthetic=0.5",
                 "label_synthetic");
}

TEST(BadInput, ValueOfTheWrongType) {
  Scratch scratch;
  expect_refused(scratch, "train proxy1d batch.samples=many", "batch.samples");
  expect_refused(scratch, "train proxy1d optimizer=fast", "optimizer");
  expect_refused(scratch, "train proxy1d objective.loss=least_square", "least_squares");
}

TEST(BadInput, UnknownWorkload) {
  Scratch scratch;
  expect_refused(scratch, "train proxi1d", "proxy1d");
  expect_refused(scratch, "train proxy1d/papier", "paper");
  scratch.write("mine.yaml", "workload: proxy1d/papier\n");
  expect_refused(scratch, "train mine.yaml", "mine.yaml:1");
}

TEST(BadInput, NamesThatCheckDoesNotKnow) {
  Scratch scratch;
  expect_refused(scratch, "check proxy1d solve.method=momnets", "moments");
  expect_refused(scratch, "check proxy1d exchange=arar_ara", "arar_arar");
}

TEST(BadInput, NumbersThatSinglePrecisionCannotTellApart) {
  Scratch scratch;
  scratch.write("m.csv", "M\n100000091.2\n100000090.1\n100000089.5\n100000092.0\n");
  expect_refused(scratch, resonance("m.csv") + " 'data.cuts=[\"M > 1\"]'",
                 "has steps of 8.0 there");
}

TEST(BadInput, EventsWhoseSettingsWouldReplaceTheirSource) {
  Scratch scratch;
  scratch.write("toy.yaml", "workload: proxy1d\n");
  expect_refused(scratch, "generate toy.yaml events=100 out=toy.npy",
                 "toy.yaml is what is read, and would be replaced");
  EXPECT_EQ(scratch.read("toy.yaml"), "workload: proxy1d\n");
}

TEST(BadInput, EventsWhoseSettingsWouldReplaceWhatSomebodyWrote) {
  Scratch scratch;
  scratch.write("toy.yaml", "workload: proxy1d\n");
  expect_refused(scratch, "generate proxy1d events=100 out=toy.npy", "toy.yaml is yours");
  EXPECT_EQ(scratch.read("toy.yaml"), "workload: proxy1d\n");
  for (const char* events : {"100", "200"})  // made here, so it is replaced
    EXPECT_EQ(
        scratch.sagips(std::string("generate proxy1d out=new.npy events=") + events).exit_code, 0);
}

TEST(BadInput, OutputThatCannotBeWritten) {
  Scratch scratch;
  const Outcome outcome = scratch.run("bash -c '" SAGIPS_PROGRAM " list > /dev/full'");
  EXPECT_EQ(outcome.exit_code, 2);
  EXPECT_NE(outcome.err.find("standard output"), std::string::npos) << outcome.err;
}

TEST(BadInput, NameThatIsTooLongForAFolder) {
  Scratch scratch;
  expect_refused(scratch, "train proxy1d train.epochs=2 run.name=" + std::string(300, 'x'),
                 "Shorten");
}

TEST(BadInput, DeviceThatIsNotBuiltIn) {
  Scratch scratch;
  expect_refused(scratch, "train proxy1d device=cuda", "cuda");
}

TEST(BadInput, UnknownCommandOrArgument) {
  Scratch scratch;
  expect_refused(scratch, "trian proxy1d", "did you mean 'train'");
  expect_refused(scratch, "train", "for example: sagips train proxy1d");
  expect_refused(scratch, "train proxy1d epochs", "epochs");
  expect_refused(scratch, "predict nowhere", "nowhere");
  expect_refused(scratch, "generate proxy1d events=10", "out=");
  expect_refused(scratch, "generate proxy1d events=10 out=a.csv", "for example out=a.npy");
  expect_refused(scratch, "generate resonance events=10 'data.cuts=[75 < M < 105]' out=m.npy",
                 "data.cuts: applies to a file of measured events");
}

TEST(BadInput, PipelineWithoutADensityCannotBeFitted) {
  Scratch scratch;
  expect_refused(scratch, "fit proxy1d detector.enabled=true toy.events=1000", "density");
  expect_refused(scratch,
                 "closure proxy1d --method=likelihood detector.enabled=true toy.events=1000",
                 "density");
  const Outcome compared = scratch.sagips(
      "compare proxy1d compare.methods=[likelihood] detector.enabled=true toy.events=1000");
  EXPECT_EQ(compared.exit_code, 1);
  EXPECT_NE(compared.err.find("sagips: error: no method gave an answer"), std::string::npos);
}

TEST(BadInput, RunFolderThatIsThere) {
  Scratch scratch;
  ASSERT_EQ(scratch.sagips("train proxy1d toy.events=1000" + tiny_training).exit_code, 0);
  expect_refused(scratch, "train proxy1d toy.events=1000" + tiny_training, "runs/proxy1d/x");
}

TEST(BadInput, RunFolderWithoutTheRightToWrite) {
  Scratch scratch;
  ASSERT_EQ(scratch.run("mkdir closed && chmod 555 closed && chmod 755 . ").exit_code, 0);
  // root may write anywhere: the program then runs as nobody
  const std::string as_nobody =
      getuid() == 0 ? "setpriv --reuid=65534 --regid=65534 --clear-groups" : "";
  if (!as_nobody.empty() && scratch.run(as_nobody + " " SAGIPS_PROGRAM " --version").exit_code != 0)
    GTEST_SKIP() << "another account cannot run the program from this folder";
  expect_refused(scratch, "train proxy1d toy.events=1000 run.folder=closed/runs" + tiny_training,
                 "closed", as_nobody);
}

TEST(BadInput, RunFolderBelowAFile) {
  Scratch scratch;
  scratch.write("file", "x");
  expect_refused(scratch, "train proxy1d toy.events=1000 run.folder=file/runs" + tiny_training,
                 "cannot make this folder");
}

TEST(BadInput, OptionsWithoutAValue) {
  Scratch scratch;
  expect_refused(scratch, "ensemble proxy1d --members ''", "--members: has an empty value");
  expect_refused(scratch, "closure proxy1d --method=''", "--method");
}

TEST(BadInput, NoSpaceForTheRunFolder) {
  Scratch scratch;
  // no file may grow beyond 0 bytes: what a full disk does, without the right to make one
  const int before = scratch.entries();
  const Outcome outcome = scratch.run(
      "bash -o pipefail -c \"bash -c 'trap \\\"\\\" XFSZ; ulimit -f 0; exec " SAGIPS_PROGRAM
      " train proxy1d toy.events=1000" +
      tiny_training + "' 2>&1 | cat\"");
  EXPECT_EQ(outcome.exit_code, 2) << outcome.out;
  EXPECT_NE(outcome.out.find("sagips: error: runs"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find('\n'), outcome.out.size() - 1) << "one line, not:\n" << outcome.out;
  EXPECT_EQ(scratch.entries(), before);
}

TEST(BadInput, StageThatIsWrongIsNamed) {
  Scratch scratch;
  const auto expect_named = [&](const std::string& workload, const std::string& stage,
                                const std::string& words) {
    const Outcome outcome = scratch.run(SAGIPS_BROKEN_STAGES " train " + workload);
    EXPECT_EQ(outcome.exit_code, 2) << outcome.err;
    EXPECT_EQ(outcome.error_lines(), 1) << outcome.err;
    EXPECT_NE(outcome.err.find(stage), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find(words), std::string::npos) << outcome.err;
    EXPECT_EQ(scratch.entries(), 0);
  };
  expect_named("wrong_shape", "WrongShape", "[samples, events, observables]");
  expect_named("cuts_gradient", "CutsGradient", "'scale'");
  expect_named("throws", "Throws", "fails on input of shape");
}

TEST(BadInput, Hdf5WithoutTheDataSet) {
  Scratch scratch;
  // the smallest HDF5 file there is: one made by the library with nothing in it
  ASSERT_EQ(scratch.run(SAGIPS_EMPTY_HDF5 " empty.hdf5").exit_code, 0);
  expect_refused(scratch, resonance("empty.hdf5") + " data.hdf5_dataset=events", "events");
}
