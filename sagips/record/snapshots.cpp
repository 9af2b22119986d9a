#include "sagips/record/snapshots.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/tensor_file.hpp"

namespace sagips::record {
namespace {

constexpr const char* extension = ".safetensors";
constexpr const char* predictions_name = "predictions";
constexpr const char* weights_name = "weights";

double number_note(const TensorFile& content, const std::string& name, const std::string& file) {
  double value = 0;
  if (!core::parse_number(content.note(name, file), value))
    throw core::DataError(file, core::text("its note '", name,
                                           "' is no number (not a snapshot of SAGIPS). Remove the "
                                           "file."));
  return value;
}

Snapshot read_snapshot(const std::string& path) {
  const TensorFile content = read_tensor_file(path);
  Snapshot snapshot;
  snapshot.epoch = static_cast<std::int64_t>(number_note(content, "epoch", path));
  snapshot.time_s = number_note(content, "time_s", path);
  snapshot.ranks = static_cast<std::int64_t>(number_note(content, "ranks", path));
  snapshot.parameters = core::split(content.note("parameters", path), ',');
  const StoredTensor& predictions = content.tensor(predictions_name, path);
  if (predictions.shape.size() != 2 ||
      predictions.shape[1] != static_cast<std::int64_t>(snapshot.parameters.size()))
    throw core::DataError(
        path, core::text("its predictions have no column for each of ", snapshot.parameters.size(),
                         " parameters (not a snapshot of SAGIPS). Remove the "
                         "file."));
  const std::vector<double> numbers = predictions.numbers();
  snapshot.predictions.assign(numbers.begin(), numbers.end());
  return snapshot;
}

}  // namespace

std::int64_t Snapshot::rows() const {
  return parameters.empty() ? 0 : static_cast<std::int64_t>(predictions.size() / parameters.size());
}

void write_snapshot(const std::string& folder, const Snapshot& snapshot) {
  TensorFile content;
  content.notes = {{"epoch", core::text(snapshot.epoch)},
                   {"time_s", core::round_trip(snapshot.time_s)},
                   {"ranks", core::text(snapshot.ranks)},
                   {"parameters", core::join(snapshot.parameters, ",")}};
  content.tensors[predictions_name] =
      StoredTensor::of(std::span<const float>(snapshot.predictions),
                       {snapshot.rows(), static_cast<std::int64_t>(snapshot.parameters.size())});
  if (!snapshot.weights.empty())
    content.tensors[weights_name] = StoredTensor::of(
        std::span<const float>(snapshot.weights),
        {snapshot.ranks, static_cast<std::int64_t>(snapshot.weights.size()) / snapshot.ranks});
  char name[32];
  std::snprintf(name, sizeof name, "epoch_%09lld", static_cast<long long>(snapshot.epoch));
  write_tensor_file(core::text(folder, "/", name, extension), content);
}

std::vector<Snapshot> read_snapshots(const std::string& folder) {
  std::vector<Snapshot> snapshots;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(folder, missing))
    if (entry.path().extension() == extension) snapshots.push_back(read_snapshot(entry.path()));
  std::sort(snapshots.begin(), snapshots.end(),
            [](const Snapshot& a, const Snapshot& b) { return a.epoch < b.epoch; });
  return snapshots;
}

}  // namespace sagips::record
