#pragma once
#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <vector>

#include "sagips/comm/group.hpp"
#include "sagips/comm/outbox.hpp"
#include "sagips/data/torch.hpp"

namespace sagips::train {

/// Brings what ranks find for shares of some rows together on rank 0, in the order of the rows, when
/// the last has come. Nobody waits before the end.
/// cost: a message of the share's numbers a rank and evaluation, all to rank 0
class RowShares {
 public:
  /// Tensors that belong together. shape of each: [rows of a share, ...], on the CPU, the same type and
  /// sizes of rows in every call
  using Tensors = std::vector<torch::Tensor>;

  /// sharers: who has a share, rank 0 first; rows: of all, no fewer than sharers
  RowShares(comm::Ranks& ranks, std::vector<int> sharers, std::int64_t rows);

  bool takes_part() const { return place_ >= 0; }
  /// This rank's rows.
  comm::Piece own() const { return piece(static_cast<std::size_t>(place_)); }
  /// number: of the evaluation, rising
  void bring(std::int64_t number, const Tensors& share);
  struct Found {
    std::int64_t number = 0;
    Tensors tensors{};  ///< of all rows
  };
  /// On rank 0, the oldest of which all is there; wait: until it is, or those who are missing have left.
  /// An evaluation that somebody goes on without is passed over.
  std::optional<Found> next(bool wait);
  /// Nothing follows from this rank; on rank 0, when that is so of all. collective
  void close();

 private:
  using Bytes = std::vector<std::byte>;
  comm::Piece piece(std::size_t place) const;
  void keep(std::size_t place, std::int64_t number, Bytes share);
  void take_all();
  void drop_what_was_judged();
  bool has_next();
  Tensors joined(const std::vector<Bytes>& shares) const;

  comm::Ranks& ranks_;
  std::vector<int> sharers_;
  std::size_t rows_;
  int place_ = -1;                                      ///< of this rank among them
  Tensors like_;                                        ///< this rank's last share
  std::vector<std::int64_t> newest_;                    ///< number that has come, by place
  std::map<std::int64_t, std::vector<Bytes>> pending_;  ///< by number and place; empty: not yet
  comm::Outbox outbox_;
};

}  // namespace sagips::train
