#include "sagips/record/checkpoint_store.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <utility>

#include "sagips/core/config/effects.hpp"
#include "sagips/core/crc32c.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"
#include "sagips/core/version.hpp"
#include "sagips/record/json.hpp"

namespace sagips::record {
namespace {

namespace fs = std::filesystem;
using core::DataError;

constexpr const char *writing_prefix = "writing_", *removed_prefix = "removed_",
                     *damaged_prefix = "damaged_";
constexpr const char* manifest_name = "manifest.json";
constexpr int format = 2;

bool begins_with(const std::string& name, const char* prefix) { return name.rfind(prefix, 0) == 0; }

std::string numbered(const char* pattern, long long number) {
  char name[48];
  std::snprintf(name, sizeof(name), pattern, number);
  return name;
}

std::string name_of(std::int64_t number, std::int64_t epoch) {
  return core::text(numbered("%06lld", number), "_epoch_", epoch);
}

// Which checkpoint of the run that is; of format 1, which was named by its epoch alone, 0. A copy that
// somebody has put beside them is none.
std::optional<std::int64_t> number_in(const std::string& name) {
  long long number = 0, epoch = 0;
  if (std::sscanf(name.c_str(), "epoch_%9lld", &epoch) == 1 &&
      name == numbered("epoch_%09lld", epoch))
    return 0;
  if (std::sscanf(name.c_str(), "%18lld_epoch_%18lld", &number, &epoch) == 2 && number > 0 &&
      epoch >= 0 && name == name_of(number, epoch))
    return number;
  return std::nullopt;
}

std::string part_name(int rank) { return numbered("rank_%04lld.safetensors", rank); }

[[noreturn]] void refuse(const std::string& path, const std::string& problem) {
  throw DataError(path, problem + " (it may have been damaged). Take an earlier checkpoint.");
}

void make_folder(const std::string& path) {
  std::error_code problem;
  fs::create_directories(path, problem);
  if (problem)
    throw core::StorageError(path, core::text("cannot make this folder (", problem.message(),
                                              "). Free space or give the right to write."));
}

void rename_folder(const std::string& from, const std::string& to) {
  std::error_code problem;
  fs::rename(from, to, problem);
  if (problem)
    throw core::StorageError(to, core::text("a checkpoint cannot be put in place (",
                                            problem.message(), "). Look at that folder."));
}

Json to_json(const CheckpointManifest& manifest) {
  Json parts = Json::array();
  for (std::size_t rank = 0; rank < manifest.parts.size(); ++rank)
    parts.push_back({{"file", part_name(static_cast<int>(rank))},
                     {"bytes", manifest.parts[rank].bytes},
                     {"crc32c", manifest.parts[rank].crc32c}});
  return {{"format", format},          {"run", manifest.run},         {"epoch", manifest.epoch},
          {"time_s", manifest.time_s}, {"version", manifest.version}, {"parts", std::move(parts)}};
}

CheckpointManifest manifest_from_json(const Json& object) {
  CheckpointManifest manifest{object.at("run").get<std::string>(),
                              object.at("epoch").get<std::int64_t>(), number(object.at("time_s")),
                              object.at("version").get<std::string>()};
  for (const Json& part : object.at("parts"))
    manifest.parts.push_back(
        {part.at("bytes").get<std::uint64_t>(), part.at("crc32c").get<std::uint32_t>()});
  return manifest;
}

// The checksum of everything in the manifest but the checksum itself.
std::uint32_t checksum_of(Json object) {
  object.erase("crc32c");
  return core::crc32c(object.dump());
}

}  // namespace

void CheckpointConfig::fields(core::FieldList& list) {
  list.add("epochs", epochs, "epochs between checkpoints; 0: by time alone",
           core::Range::at_least(0));
  list.add("minutes", minutes,
           "wall-clock time between checkpoints [min]; 0: by epochs alone. Stops and the last "
           "epoch write one, too; both 0: none, and what is stopped is over",
           core::Range::at_least(0));
  list.add("keep", keep, "complete checkpoints that are kept", core::Range::between(1, 1e6));
  core::needs(list, are_written(), "epochs or minutes above 0", {"keep"});
}

CheckpointStore::CheckpointStore(std::string folder, std::string run, std::int64_t keep)
    : folder_(std::move(folder)), run_(std::move(run)), keep_(keep) {}

CheckpointPart CheckpointStore::write_part(const std::string& key, int rank,
                                           const TensorFile& content) const {
  const std::string bytes = tensor_file_bytes(content);
  const std::string writing = path(writing_prefix + key);
  make_folder(writing);
  core::write_file(core::text(writing, "/", part_name(rank)), bytes);
  return {bytes.size(), core::crc32c(bytes)};
}

// Files are written once, so two names of one file do.
void CheckpointStore::share_part(const std::string& from_key, const std::string& key,
                                 int rank) const {
  const fs::path from = fs::path(path(writing_prefix + from_key)) / part_name(rank);
  const fs::path to = fs::path(path(writing_prefix + key)) / part_name(rank);
  std::error_code problem;
  fs::create_hard_link(from, to, problem);
  if (problem) fs::copy_file(from, to, problem);  // this file system knows no such links
  if (problem)
    throw core::StorageError(to.string(),
                             core::text("a part cannot be taken over (", problem.message(),
                                        "). Free space or give the right to write."));
}

void CheckpointStore::complete(const std::string& key, CheckpointManifest manifest) const {
  manifest.run = run_;
  manifest.version = core::version();
  Json object = to_json(manifest);
  object["crc32c"] = checksum_of(object);
  const std::string writing = path(writing_prefix + key);
  core::write_file(core::text(writing, "/", manifest_name), object.dump(2) + "\n");
  core::sync_folder(writing);
  const auto before = names();
  const std::int64_t number = before.empty() ? 1 : *number_in(before.front()) + 1;
  rename_folder(writing, path(name_of(number, manifest.epoch)));
  core::sync_folder(folder_);
  core::sync_folder(fs::path(folder_).parent_path().string());
  const auto all = names();
  for (std::size_t i = static_cast<std::size_t>(keep_); i < all.size(); ++i) remove(all[i]);
}

void CheckpointStore::discard(const std::string& key) const noexcept {
  std::error_code ignored;
  fs::remove_all(path(writing_prefix + key), ignored);
}

// Renamed first: who is killed meanwhile leaves nothing that looks complete.
void CheckpointStore::remove(const std::string& name) const noexcept {
  std::error_code ignored;
  const std::string removed = path(removed_prefix + name);
  fs::remove_all(removed, ignored);
  fs::rename(path(name), removed, ignored);
  fs::remove_all(removed, ignored);
}

void CheckpointStore::set_aside(const std::string& name) const noexcept {
  std::error_code ignored;
  const std::string damaged = path(damaged_prefix + name);
  fs::remove_all(damaged, ignored);
  fs::rename(path(name), damaged, ignored);
}

void CheckpointStore::clean() const noexcept {
  std::error_code problem;
  std::vector<fs::path> left;
  for (const auto& entry : fs::directory_iterator(folder_, problem)) {
    const std::string name = entry.path().filename().string();
    if (begins_with(name, writing_prefix) || begins_with(name, removed_prefix))
      left.push_back(entry.path());
  }
  for (const fs::path& each : left) fs::remove_all(each, problem);
}

std::vector<std::string> CheckpointStore::names() const {
  std::vector<std::pair<std::int64_t, std::string>> found;
  std::error_code problem;
  for (const auto& entry : fs::directory_iterator(folder_, problem)) {
    const std::string name = entry.path().filename().string();
    if (const auto number = number_in(name)) found.emplace_back(*number, name);
  }
  std::sort(found.rbegin(), found.rend());
  std::vector<std::string> names;
  for (auto& [number, name] : found) names.push_back(std::move(name));
  return names;
}

CheckpointManifest CheckpointStore::manifest(const std::string& name) const {
  const std::string file = core::text(path(name), "/", manifest_name);
  try {
    const Json object = Json::parse(core::read_file(file));
    if (object.at("format").get<int>() != format)
      refuse(file, "it was written by another version of SAGIPS");
    if (object.at("crc32c").get<std::uint32_t>() != checksum_of(object))
      refuse(file, "its checksum does not fit");
    CheckpointManifest manifest = manifest_from_json(object);
    if (manifest.run != run_)
      throw DataError(file,
                      "it belongs to another run (its networks would not fit this run's config). "
                      "Take an earlier checkpoint.");
    if (manifest.parts.empty()) refuse(file, "it names no files");
    return manifest;
  } catch (const Json::exception&) {
    refuse(file, "it cannot be read");
  }
}

TensorFile CheckpointStore::part(const std::string& name, const CheckpointManifest& manifest,
                                 int rank) const {
  const std::string file = core::text(path(name), "/", part_name(rank));
  const CheckpointPart& expected = manifest.parts.at(static_cast<std::size_t>(rank));
  const std::string bytes = core::read_file(file);
  if (bytes.size() != expected.bytes)
    refuse(file, core::text("it has ", bytes.size(), " bytes instead of ", expected.bytes));
  if (core::crc32c(bytes) != expected.crc32c) refuse(file, "its checksum does not fit");
  return parse_tensor_file(bytes, file);
}

}  // namespace sagips::record
