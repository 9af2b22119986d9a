#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/record/event.hpp"

namespace sagips::run {

/// One rank's share of a run.
struct RankRow {
  int rank = 0;
  std::int64_t epochs = 0;
  double time_s = 0;             ///< training
  double events_per_second = 0;  ///< synthetic events analysed
  record::Exchanged exchange;    ///< of the generator
};

/// Every rank's row on rank 0; nothing elsewhere. collective
std::vector<RankRow> gather_rows(comm::Ranks& ranks, const RankRow& own);

/// exchange.csv: one row a rank.
void write_rank_rows(const std::string& path, const std::vector<RankRow>& rows);

/// Analysis rate of all ranks together, eq. (9) of the SAGIPS paper [events / s].
double analysis_rate(const std::vector<RankRow>& rows);

/// "exchange ring: 0.4 MB and 2 messages an epoch; ..." for the end of a run.
std::string exchange_line(const std::vector<RankRow>& rows);

/// What to say where gradients met central weights that others had moved far meanwhile; empty: nothing.
/// workers: that compute
std::string age_warning(const std::vector<RankRow>& rows, std::int64_t workers);

}  // namespace sagips::run
