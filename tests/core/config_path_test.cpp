// Paths in configs: which folder a relative one counts from, and how they are written.
#include <gtest/gtest.h>

#include <filesystem>

#include "sagips/core/config/config.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::core {
namespace {

using sagips::testing::TemporaryFolder;

struct Place {
  std::string name{}, file{}, platform = "polaris";
  void fields(FieldList& list) {
    list.add_path("file", file, "a file");
    list.add_path("platform", platform, "a cluster or a file", {"polaris", "ethernet"});
  }
};

struct Places {
  Place data{};
  std::vector<Place> steps{};
  std::string note{};
  void fields(FieldList& list) {
    list.group("data", data, "events");
    list.list("steps", steps, "one after the other");
    list.add("note", note, "a text");
  }
};

const std::string yaml =
    "data: {file: a.npy, platform: ethernet}\nsteps: [{file: ../b.pt}, {platform: sub/c.yaml}]\n"
    "note: a.npy\n";

Places places(const ConfigDocument& document) { return read_config(document, Places{}); }

TEST(ConfigPath, OfAYamlCountsFromItsFolder) {
  const TemporaryFolder folder;
  std::filesystem::create_directory(folder.file("in"));
  ConfigDocument document = ConfigDocument::from_file(folder.make("in/p.yaml", yaml));
  const Places read = places(document);
  EXPECT_EQ(read.data.file, folder.file("in/a.npy"));
  EXPECT_EQ(read.data.platform, "ethernet") << "a word";
  EXPECT_EQ(read.steps.at(0).file, folder.file("b.pt"));
  EXPECT_EQ(read.steps.at(1).platform, folder.file("in/sub/c.yaml"));
  EXPECT_EQ(read.note, "a.npy") << "no path";
}

TEST(ConfigPath, OfTheCommandLineAndOfTextsCountsFromTheCurrentFolder) {
  const TemporaryFolder folder;
  ConfigDocument document = ConfigDocument::from_file(folder.make("p.yaml", yaml));
  document.override_with("data.file=d.npy");
  document.override_with("steps.0.file=../e.pt");
  const Places read = places(document);
  EXPECT_EQ(read.data.file, "d.npy");
  EXPECT_EQ(read.steps.at(0).file, "../e.pt");
  EXPECT_EQ(read.steps.at(1).platform, folder.file("sub/c.yaml")) << "the YAML's own still";
  EXPECT_EQ(places(ConfigDocument::from_text(yaml, "p.yaml")).data.file, "a.npy");
}

TEST(ConfigPath, KeepsAbsoluteAndEmptyOnes) {
  const TemporaryFolder folder;
  const auto read = [&](const std::string& value) {
    return places(ConfigDocument::from_file(folder.make("p.yaml", "data: {file: " + value + "}")));
  };
  EXPECT_EQ(read("/data/a.npy").data.file, "/data/a.npy");
  EXPECT_EQ(read("''").data.file, "");
  EXPECT_NE(write_config(read("''")).find("file: \"\"\n"), std::string::npos);
}

TEST(ConfigPath, IsWrittenAbsoluteAndReadsBackFromAnywhere) {
  const TemporaryFolder folder;
  const std::string here = std::filesystem::current_path().string();
  Places given = places(ConfigDocument::from_text(yaml, "p.yaml"));
  given.steps.at(0).file = ".";
  const std::string written = write_config(given);
  EXPECT_NE(written.find(here + "/a.npy"), std::string::npos) << written;
  EXPECT_NE(written.find("platform: ethernet"), std::string::npos) << written;
  EXPECT_EQ(written.find(here + "/ethernet"), std::string::npos) << written;
  const Places again = places(ConfigDocument::from_file(folder.make("config.yaml", written)));
  EXPECT_EQ(again.data.file, here + "/a.npy");
  EXPECT_EQ(again.steps.at(0).file, here) << "a folder has no slash at its end";
  EXPECT_EQ(write_config(again), written);
}

TEST(ConfigChanges, AreWrittenAloneAndRelativeToTheirYaml) {
  const TemporaryFolder folder;
  Places usual, changed;
  changed.data.file = folder.file("sub/a.npy");
  changed.steps = {{.file = "/elsewhere/b.pt"}};
  FieldList of_usual, of_changed;
  usual.fields(of_usual);
  changed.fields(of_changed);
  EXPECT_EQ(write_changes(of_changed, of_usual, folder.path()),
            "data:\n  file: sub/a.npy\nsteps: [{file: /elsewhere/b.pt, platform: polaris}]\n");
  EXPECT_EQ(write_changes(of_changed, of_changed, folder.path()), "");
}

TEST(ConfigDocument, TakesKeysAway) {
  ConfigDocument document = ConfigDocument::from_text(
      "pipeline: [{a: 1}]\nchannels:\n  near: {pipeline: [], weight: 1}\n  pipeline: {weight: 2}\n",
      "p.yaml");
  for (const char* key : {"pipeline", "channels.*.pipeline", "not.there"}) document.remove(key);
  EXPECT_EQ(document.where("pipeline"), "");
  EXPECT_EQ(document.where("channels.near.pipeline"), "");
  EXPECT_EQ(document.where("channels.near.weight"), "p.yaml:3");
  EXPECT_EQ(document.where("channels.pipeline.weight"), "p.yaml:4");
}

}  // namespace
}  // namespace sagips::core
