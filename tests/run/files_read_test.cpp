#include "sagips/run/files_read.hpp"

#include <gtest/gtest.h>

#include <filesystem>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "tests/core/message_of.hpp"
#include "tests/core/temporary_folder.hpp"

namespace sagips::run {
namespace {

namespace fs = std::filesystem;
using sagips::testing::message_of;

/// A file that is read, under all its names, and another one.
class FilesThatAreRead : public ::testing::Test {
 protected:
  FilesThatAreRead() {
    fs::create_symlink("data.npy", folder.file("link.npy"));
    fs::create_hard_link(data, folder.file("hard.npy"));
    fs::create_directories(folder.file("run/ranks"));
    fs::create_directories(folder.file("run/members/one"));
  }
  std::string refusal(const FilesRead& read, const std::vector<std::string>& written) const {
    return message_of<core::ConfigError>([&] { refuse_to_replace(read, "out", written); });
  }

  testing::TemporaryFolder folder;
  std::string data = folder.make("data.npy", "data"), other = folder.make("other.npy", "other");
};

TEST_F(FilesThatAreRead, AreNotReplacedUnderAnyName) {
  const FilesRead read{.files = {data}};
  EXPECT_EQ(refusal(read, {data}),
            "out: " + data + " is what is read, and would be replaced. Choose another name.");
  for (const std::string& name : {folder.file("link.npy"), folder.file("hard.npy"),
                                  folder.file("run/../data.npy"), fs::relative(data).string()})
    EXPECT_EQ(refusal(read, {other, name}),
              core::text("out: ", name, " is what is read as ", data,
                         ", and would be replaced. Choose another name."));
  for (const std::string& named : {folder.file("link.npy"), folder.file("d*.npy"),
                                   folder.make("list.txt", "# all\ndata.npy\n")})
    EXPECT_NE(refusal({.files = {named}}, {data}).find("would be replaced"), std::string::npos)
        << named;
}

TEST_F(FilesThatAreRead, AreThoseThatAConfigNames) {
  const auto refused = [&](const std::string& config) {
    return refusal({.configs = {config}}, {data});
  };
  EXPECT_EQ(
      refused("data: {file: " + data + "}"),
      "out: " + data + " is what data.file names, and would be replaced. Choose another name.");
  for (const std::string& config :
       {"data: {targets: {tensors: {a: {file: [/no.npy, " + folder.file("d*.npy") + "]}}}}",
        "pipeline: [{script: " + folder.file("hard.npy") + "}]"})
    EXPECT_NE(refused(config).find("would be replaced"), std::string::npos) << config;
}

TEST_F(FilesThatAreRead, AreThoseOfRunsAndOfTheirMembers) {
  const FilesRead read{.runs = {folder.file("run")}};
  folder.make("run/members/one/config.yaml", "data: {file: " + data + "}");
  EXPECT_NE(refusal(read, {data}).find("is what data.file names"), std::string::npos);
  for (const char* name :
       {"run/generator.npy", "run/results.json", "run/ranks/rank_0001.jsonl", "run/members/one/a"})
    EXPECT_EQ(refusal(read, {folder.make(name, "")}),
              core::text("out: ", folder.file(name), " is a file of ", folder.file("run"),
                         ", and would be replaced. Choose another name."));
}

TEST_F(FilesThatAreRead, LeaveOthersToBeReplaced) {
  const FilesRead read{.files = {data, "s3://bucket/data.npy", "/no/*.npy", "/no/list.txt"},
                       .configs = {"data: {file: " + data + "}\nrun: {name: other.npy}"},
                       .runs = {folder.file("run"), folder.file("none")}};
  EXPECT_NO_THROW(refuse_to_replace(
      read, "out",
      {other, folder.file("new.npy"), "data.npy", folder.make("run/predictions.npy", ""),
       folder.make("run/report.html", "")}));
}

}  // namespace
}  // namespace sagips::run
