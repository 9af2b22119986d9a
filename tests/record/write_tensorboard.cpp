// Writes event files and a tensor file for their readers in Python: write_tensorboard FOLDER
#include <filesystem>
#include <limits>

#include "sagips/record/snapshots.hpp"
#include "sagips/record/tensorboard.hpp"

namespace {

using namespace sagips::record;

EpochDone epoch_done(std::int64_t epoch, double loss) {
  return {.epoch = epoch,
          .time_s = static_cast<double>(epoch),
          .events_per_second = 1000,
          .losses = {{"generator", loss}}};
}

Evaluated evaluated(std::int64_t epoch) {
  Evaluated evaluated;
  evaluated.epoch = epoch;
  ParameterState state;
  state.name = "a_u";
  state.value = -0.5;
  state.spread = 0.25;
  state.residual = 0.125;
  evaluated.parameters = {state};
  evaluated.metrics = {{"ks_mean", std::numeric_limits<double>::quiet_NaN()}, {"energy", 0.5}};
  return evaluated;
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) return 2;
  const std::string folder = words[1];
  std::filesystem::create_directory(folder + "/rows");
  {
    TensorBoardWriter first(folder, 0);
    for (std::int64_t epoch = 1; epoch <= 5; ++epoch) first(epoch_done(epoch, 1.0));
    first(evaluated(5));
  }
  TensorBoardWriter resumed(folder, 4);  // after a restart at epoch 3
  for (std::int64_t epoch = 4; epoch <= 300; ++epoch) resumed(epoch_done(epoch, 2.0));
  resumed(evaluated(300));
  resumed(RunFinished{300, 300, StopReason(StopReason::Kind::all_epochs), true});
  TensorBoardWriter rows(folder + "/rows", 0);  // of a network that learns from them
  EpochDone of_rows = epoch_done(1, 1.0);
  of_rows.losses[0].name = "loss";
  of_rows.unit = "rows";
  rows(of_rows);
  Evaluated metrics;
  metrics.metrics = {{"accuracy", 0.5}};
  rows(metrics);
  rows(TimeSpent{1, {.total_s = 3, .compute_s = 2, .evaluation_s = 1}});
  MachineUse used{.epoch = 1, .cores = 1.5, .memory_mb = 200};
  used.gpu_percent = 50;
  rows(used);
  Snapshot snapshot;
  snapshot.epoch = 7;
  snapshot.parameters = {"mass", "width"};
  snapshot.predictions = {1, 2, 3, 4, 5, 6};
  write_snapshot(folder, snapshot);
  return 0;
}
