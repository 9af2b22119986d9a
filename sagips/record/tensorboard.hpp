#pragma once
#include <memory>
#include <string>

#include "sagips/record/event.hpp"

namespace sagips::record {

/// Writes events as scalars that TensorBoard shows: `loss/generator`, `parameter/a_u`,
/// `residual/a_u`, `spread/a_u`, `distance/ks_mean` (of rows kept aside `metric/accuracy`), `ranks/...`,
/// `exchange/...`, `time/...`, `machine/...`; the step is the epoch. One new file `events.out.tfevents.*` in the folder for each
/// writer; what an earlier file of the folder holds from the first epoch of this one on, TensorBoard drops
/// (a resumed run).
///
/// Epochs are thinned and a full disk is told as by `MetricsWriter`.
/// format: records of length, masked CRC-32C, protobuf `Event`; tensorflow/core/util/event.proto and
///         lib/io/record_writer.h
/// throws: StorageError
class TensorBoardWriter {
 public:
  /// first_epoch: of what follows; 0 for a new run
  TensorBoardWriter(const std::string& folder, std::int64_t first_epoch,
                    double epoch_period_s = 0.25);
  ~TensorBoardWriter();
  void operator()(const Event& event);

 private:
  struct Output;
  std::unique_ptr<Output> output_;
};

}  // namespace sagips::record
