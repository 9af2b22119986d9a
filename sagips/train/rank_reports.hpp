#pragma once
#include <cstdint>
#include <vector>

#include "sagips/comm/outbox.hpp"
#include "sagips/data/torch.hpp"
#include "sagips/record/event.hpp"

namespace sagips::train {

/// What rank 0 has heard of all ranks, itself included.
struct RankView {
  torch::Tensor predictions;  ///< mean over ranks. shape: [noise vectors, parameters]
  std::vector<double>
      rank_spread{};               ///< deviation over ranks, mean over noise vectors, by parameter
  double consensus_distance = 0;   ///< (1 / p) sum_r |w_r - mean w|^2 of the shared weights
  int heard = 1;                   ///< ranks, this one included
  std::int64_t oldest_epochs = 0;  ///< how far the oldest report is behind rank 0

  /// The numbers of `Evaluated::ranks`.
  std::vector<record::NamedNumber> numbers(const std::vector<std::string>& parameters) const;
};

/// Brings predictions and shared weights of all ranks to rank 0 at evaluations.
///
/// Where ranks wait for each other anyway, rank 0 waits for all reports of an evaluation; else it
/// uses the last one of each rank that has arrived, and nobody waits.
/// cost: one message of 4 * (noise vectors * parameters + shared) bytes a rank and evaluation, all to
///       rank 0
class RankReports {
 public:
  /// `waits`: all ranks evaluate after the same epochs
  RankReports(comm::Ranks& ranks, bool waits);

  /// predictions [noise vectors, parameters], weights [shared]: float32 on the CPU, the same shapes
  /// in every call. The view is rank 0's; elsewhere it holds the own predictions.
  RankView meet(const torch::Tensor& predictions, const torch::Tensor& weights, std::int64_t epoch);

  /// The last report of each rank, when everybody is at the end. collective
  RankView close(const torch::Tensor& predictions, const torch::Tensor& weights,
                 std::int64_t epoch);

 private:
  void send(const torch::Tensor& predictions, const torch::Tensor& weights, std::int64_t epoch,
            bool last);
  RankView view(const torch::Tensor& predictions, const torch::Tensor& weights,
                std::int64_t epoch) const;

  comm::Ranks& ranks_;
  bool waits_;
  std::vector<comm::Outbox::Message> latest_;  ///< by rank, on rank 0; no content: none has come
  comm::Outbox outbox_;
};

}  // namespace sagips::train
