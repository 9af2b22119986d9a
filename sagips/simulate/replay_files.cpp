#include "sagips/simulate/replay.hpp"

namespace sagips::simulate {

void ReplayConfig::fields(core::FieldList& list) {
  list.add("exchange", exchange, "name of the exchange");
  list.group("exchanges", exchanges, "settings of the exchanges");
  list.add("ranks", ranks, "simulated ranks", core::Range::between(1, 1e6));
  list.add("tensors", tensors, "lengths of the network's tensors, in floats",
           core::Range::between(1, 1e9));
  list.add("fused", fused, "exchanged as one array; false: tensor by tensor");
  list.add("alone", alone, "first the exchange by itself, checked");
  list.add("each_length_once", each_length_once,
           "tensor by tensor: one of each length is simulated");
  list.add("epochs", epochs, "epochs of the scenario", core::Range::between(0, 1e6));
  list.group("platform", platform, "the cluster");
  list.group("scenario", scenario, "what ranks do beside their messages");
}

void ReplayResult::fields(core::FieldList& list) {
  list.add("exchange", exchange, "name of the exchange");
  list.add("ranks", ranks, "simulated ranks");
  list.add("floats", floats, "of the network");
  list.add("epochs", epochs, "of the scenario");
  list.add("fused", fused, "exchanged as one array");
  list.add("promised", promised, "that all ranks end with the same mean");
  list.add("exact", exact, "the mean within rounding, the same bits on all ranks");
  list.add("largest_error", largest_error, "of a mean that was promised");
  list.add("exchange_s", exchange_s, "an exchange by itself, s");
  list.add("epoch_s", epoch_s, "an epoch of the scenario, s");
  list.add("exposed_s", exposed_s, "of it in the exchange or waiting, mean over ranks, s");
  list.add("messages", messages, "an epoch, by cost(), of the rank that sends most");
  list.add("bytes", bytes, "an epoch, by cost(), of the rank that sends most");
  list.add("sent_messages", sent_messages, "an epoch, of the rank that sent most");
  list.add("sent_bytes", sent_bytes, "an epoch, of the rank that sent most");
  list.add("latency_s", latency_s, "of a message from the first to the last rank, s");
  list.add("bandwidth", bandwidth, "from the first to the last rank, bytes/s");
  list.add("predicted_s", predicted_s, "messages * latency + bytes / bandwidth, s");
  list.add("epochs_per_s", epochs_per_s, "by rank");
  list.add("steps_per_s", steps_per_s, "of all ranks that compute, with central weights, 1/s");
  list.add("updates_per_s", updates_per_s, "of an owner's central weights, mean over owners, 1/s");
  list.add("age_mean", age_mean, "of a share, in updates since its weights");
  list.add("age_maximum", age_maximum, "of the oldest share");
  list.add("busiest_bytes", busiest_bytes,
           "an epoch with central weights, of the rank that sent most");
  list.add("host_s", host_s, "what the simulation took, s");
  list.add("host_bytes", host_bytes, "most memory that the simulation used");
}

}  // namespace sagips::simulate
