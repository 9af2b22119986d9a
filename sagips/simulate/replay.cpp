#include "sagips/simulate/replay.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <numeric>
#include <vector>

#include "sagips/comm/exchange_driver.hpp"
#include "sagips/comm/ranks.hpp"
#include "sagips/core/error.hpp"
#include "sagips/simulate/cluster.hpp"
#include "sagips/simulate/link_probe.hpp"
#include "sagips/simulate/oracle.hpp"

namespace sagips::simulate {

namespace {

/// What the ranks have found; they live in one process and write here directly.
struct Findings {
  MeanCheck check;
  LinkProbe link;
  std::vector<double> begun_s, ended_s;  ///< by rank, of what is being timed
  std::vector<double> exposed_s;         ///< by rank
  std::vector<comm::Cost> cost,
      sent;  ///< by rank, over the scenario (or the exchanges by themselves)
  double exchange_s = 0;
  std::int64_t period = 1;
  bool promised = false;
  std::vector<double> scenario_s;  ///< by rank, its own time

  explicit Findings(std::size_t ranks)
      : begun_s(ranks),
        ended_s(ranks),
        exposed_s(ranks),
        cost(ranks),
        sent(ranks),
        scenario_s(ranks) {}
  double slowest_s() const {
    return *std::max_element(ended_s.begin(), ended_s.end()) -
           *std::min_element(begun_s.begin(), begun_s.end());
  }
};

/// One rank's life in a simulation.
class RankReplay {
 public:
  RankReplay(const ReplayConfig& config, Cluster& cluster, comm::Communicator& communicator,
             Findings& findings)
      : config_(config),
        cluster_(cluster),
        ranks_(communicator),
        findings_(findings),
        times_(config.scenario, communicator.rank()),
        me_(static_cast<std::size_t>(communicator.rank())) {
    // simulated ranks that wait for each other for ever are found by the simulator
    comm::Patience::Config patience;
    patience.timeout_s = 1e15;
    ranks_.patience().set_config(patience);
    if (config.fused)
      add_part(static_cast<std::size_t>(
          std::accumulate(config.tensors.begin(), config.tensors.end(), std::int64_t{0})));
    else
      for (const std::int64_t size : config.tensors) add_tensor(static_cast<std::size_t>(size));
    gradients_.resize(parts_.back().first + parts_.back().size);
    weights_.resize(gradients_.size());
  }

  void run() {
    findings_.link.measure(cluster_, ranks_.communicator());
    if (config_.alone) exchange_by_itself();
    if (config_.epochs > 0) scenario();
  }

 private:
  struct Part {
    std::size_t first, size;
    std::unique_ptr<comm::ExchangeDriver> driver;
    std::uint64_t times = 1;  // tensors that it stands for
  };

  void add_tensor(std::size_t size) {
    const auto same = std::find_if(parts_.begin(), parts_.end(),
                                   [&](const Part& part) { return part.size == size; });
    if (config_.each_length_once && same != parts_.end())
      ++same->times;
    else
      add_part(size);
  }

  void add_part(std::size_t size) {
    const std::size_t first = parts_.empty() ? 0 : parts_.back().first + parts_.back().size;
    const comm::Site site = ranks_.site(size, 1);
    parts_.push_back({first, size,
                      std::make_unique<comm::ExchangeDriver>(
                          comm::make_exchange(config_.exchange, config_.exchanges, site), site, 0,
                          "simulated gradients")});
  }

  comm::ReplicaView view(const Part& part) {
    return {std::span(weights_).subspan(part.first, part.size),
            std::span(gradients_).subspan(part.first, part.size)};
  }

  // The paper's ring carries one tensor after another.
  void start(const Part& part) { part.driver->start(view(part), {epoch_}); }
  void complete(const Part& part) {
    part.driver->finish();
    if (part.driver->exchange().updates({epoch_})) part.driver->after_update(view(part), {epoch_});
  }
  void exchange(const Part& part) {
    start(part);
    complete(part);
  }

  comm::Cost cost_of_epoch() const {
    comm::Cost cost;
    for (const Part& part : parts_)
      cost += times(part.times, part.driver->exchange().cost(part.size, {epoch_}));
    return cost;
  }
  comm::Cost sent() const {
    comm::Cost cost;
    for (const Part& part : parts_) cost += times(part.times, part.driver->report().traffic);
    return cost;
  }
  static comm::Cost times(std::uint64_t count, const comm::Cost& one) {
    return {count * one.messages, count * one.bytes};
  }
  double in_exchange_s() const {
    double seconds = 0;
    for (const Part& part : parts_) {
      const comm::ExchangeReport report = part.driver->report();
      seconds += report.exposed_s + report.waiting_s;
    }
    return seconds;
  }

  // All begin at the same time, so that nobody's delay counts.
  void time(std::span<const Part> parts, double weight) {
    cluster_.align();
    findings_.begun_s[me_] = Cluster::now_s();
    for (const Part& part : parts) exchange(part);
    findings_.ended_s[me_] = Cluster::now_s();
    cluster_.align();
    if (ranks_.is_first()) findings_.exchange_s += weight * findings_.slowest_s();
  }

  // Each result is checked.
  void exchange_by_itself() {
    const comm::Exchange& exchange = parts_.front().driver->exchange();
    findings_.promised = exchange.promise().exact;
    findings_.period = exchange.period();
    for (std::int64_t k = 0; k < findings_.period; ++k) {
      ++epoch_;
      fill_gradients(gradients_, ranks_.rank(), epoch_);
      const comm::Cost before = sent();
      const double share = 1 / static_cast<double>(findings_.period);
      if (config_.each_length_once)
        for (const Part& part : parts_) time({&part, 1}, share * static_cast<double>(part.times));
      else
        time(parts_, share);
      findings_.cost[me_] += cost_of_epoch();
      findings_.sent[me_] += sent_since(before);
      if (findings_.promised)
        findings_.check.look(cluster_, gradients_, ranks_.rank(), ranks_.size(), epoch_);
    }
  }
  comm::Cost sent_since(const comm::Cost& before) const {
    const comm::Cost now = sent();
    return {now.messages - before.messages, now.bytes - before.bytes};
  }

  void compute(double seconds) {
    const auto polls = config_.scenario.polls;
    for (std::int64_t k = 0; k < polls; ++k) {
      Cluster::spend(seconds / static_cast<double>(polls));
      for (const Part& part : parts_) part.driver->progress();
    }
  }

  void copy(double bytes) {
    const CopyConfig& gpu = config_.platform.gpu_copy;
    if (gpu.bandwidth > 0) Cluster::spend(gpu.latency_s + bytes / gpu.bandwidth);
  }

  void epoch_of_scenario(std::int64_t number, bool last) {
    const ScenarioConfig& scenario = config_.scenario;
    const bool late = scenario.overlap == ScenarioConfig::Overlap::one_update_late;
    const auto bytes = static_cast<double>(gradients_.size() * sizeof(float));
    if (scenario.data_bytes > 0) copy(static_cast<double>(scenario.data_bytes));
    compute(times_(number));
    if (late && number > 1) {
      for (const Part& part : parts_) complete(part);
      copy(bytes);
    }
    ++epoch_;
    copy(bytes);
    if (late) {
      for (const Part& part : parts_) start(part);
      if (last)
        for (const Part& part : parts_) complete(part);
    } else {
      for (const Part& part : parts_) exchange(part);
      copy(bytes);
    }
    if (scenario.pause_every > 0 && number % scenario.pause_every == 0)
      Cluster::spend(scenario.pause_s);
  }

  void scenario() {
    const double waited = in_exchange_s();
    cluster_.align();
    findings_.begun_s[me_] = Cluster::now_s();
    for (std::int64_t k = 1; k <= config_.epochs; ++k) epoch_of_scenario(k, k == config_.epochs);
    findings_.ended_s[me_] = Cluster::now_s();
    findings_.scenario_s[me_] = findings_.ended_s[me_] - findings_.begun_s[me_];
    findings_.exposed_s[me_] = in_exchange_s() - waited;
    cluster_.align();  // windows stay until nobody reads them
  }

  const ReplayConfig& config_;
  Cluster& cluster_;
  comm::Ranks ranks_;
  Findings& findings_;
  ComputeTimes times_;
  std::size_t me_;
  std::vector<float> gradients_, weights_;
  std::vector<Part> parts_;
  std::int64_t epoch_ = 0;
};

double most(const std::vector<comm::Cost>& costs, std::uint64_t comm::Cost::*member) {
  double most = 0;
  for (const comm::Cost& cost : costs) most = std::max(most, static_cast<double>(cost.*member));
  return most;
}

void fill_result(ReplayResult& result, const Findings& findings) {
  const auto period = static_cast<double>(findings.period);
  result.promised = findings.promised;
  result.exact = findings.promised && findings.check.passed();
  result.largest_error = findings.check.largest_error();
  result.exchange_s = findings.exchange_s;
  result.messages = most(findings.cost, &comm::Cost::messages) / period;
  result.bytes = most(findings.cost, &comm::Cost::bytes) / period;
  result.sent_messages = most(findings.sent, &comm::Cost::messages) / period;
  result.sent_bytes = most(findings.sent, &comm::Cost::bytes) / period;
  result.latency_s = findings.link.latency_s();
  result.bandwidth = findings.link.bandwidth();
  if (result.bandwidth > 0)
    result.predicted_s = result.messages * result.latency_s + result.bytes / result.bandwidth;
  if (result.epochs == 0) return;
  const auto epochs = static_cast<double>(result.epochs);
  result.epoch_s = findings.slowest_s() / epochs;
  result.exposed_s = std::accumulate(findings.exposed_s.begin(), findings.exposed_s.end(), 0.0) /
                     (epochs * static_cast<double>(findings.exposed_s.size()));
  for (const double seconds : findings.scenario_s)
    result.epochs_per_s.push_back(seconds > 0 ? epochs / seconds : 0);
}

}  // namespace

ReplayResult replay(const ReplayConfig& config) {
  const auto begun = std::chrono::steady_clock::now();
  ReplayResult result;
  result.exchange = config.exchange;
  result.ranks = config.ranks;
  result.epochs = config.epochs;
  result.fused = config.fused;
  result.floats = std::accumulate(config.tensors.begin(), config.tensors.end(), std::int64_t{0});
  Findings findings(static_cast<std::size_t>(config.ranks));
  Cluster cluster(config.platform, static_cast<int>(config.ranks));
  cluster.run([&](comm::Communicator& communicator) {
    RankReplay(config, cluster, communicator, findings).run();
  });
  fill_result(result, findings);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  result.host_bytes = static_cast<double>(usage.ru_maxrss) * 1024;
  result.host_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begun).count();
  return result;
}

}  // namespace sagips::simulate
