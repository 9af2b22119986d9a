#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "sagips/comm/exchange_totals.hpp"
#include "sagips/comm/ranks.hpp"
#include "sagips/record/event.hpp"
#include "sagips/record/results.hpp"

namespace sagips::run {

/// One rank's share of a run. Travels between ranks as it lies in memory.
struct RankRow {
  std::int64_t rank = 0;
  std::int64_t epochs = 0;
  double time_s = 0;             ///< training
  double events_per_second = 0;  ///< synthetic events analysed
  comm::ExchangeTotals totals;   ///< of the network that gives the answer
  bool computes = true;          ///< false: it serves others
  record::TimeSplit split{};
  record::StepTimes steps{};
  double peak_memory_mb = 0;  ///< resident, of this process
  record::MachineUse used{};  ///< in the mean since this start; nothing without train.monitor
};

/// Every rank's row on rank 0; nothing elsewhere. collective
std::vector<RankRow> gather_rows(comm::Ranks& ranks, const RankRow& own);

/// exchange.csv: one row a rank.
void write_rank_rows(const std::string& path, const std::vector<RankRow>& rows);

/// monitor.csv: one row a rank.
void write_machine_use(const std::string& path, const std::vector<RankRow>& rows);

/// What the ranks' time and memory went into, for the results of their training.
void add_time_and_memory(record::Results& results, const std::vector<RankRow>& rows);

/// Analysis rate of all ranks together, eq. (9) of the SAGIPS paper [events / s].
double analysis_rate(const std::vector<RankRow>& rows);

/// "exchange ring: 0.4 MB and 2 messages an epoch; ..." for the end of a run.
std::string exchange_line(const std::string& exchange, const std::vector<RankRow>& rows);

/// What to say where gradients met central weights that others had moved far meanwhile; empty: nothing.
/// workers: that compute
std::string age_warning(const std::string& exchange, const std::vector<RankRow>& rows,
                        std::int64_t workers);

}  // namespace sagips::run
