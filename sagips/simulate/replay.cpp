#include "sagips/simulate/replay.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <numeric>
#include <span>
#include <vector>

#include "sagips/comm/ranks.hpp"
#include "sagips/simulate/cluster.hpp"
#include "sagips/simulate/exchanged_arrays.hpp"
#include "sagips/simulate/oracle.hpp"

namespace sagips::simulate {

namespace {

constexpr int probe_tag = 19000;             // beside those of exchanges and of control messages
constexpr std::size_t long_probe = 1 << 20;  // bytes

/// What the ranks have found; they live in one process and write here directly.
struct Findings {
  MeanCheck check;
  double latency_s = 0, bandwidth = 0;   ///< from the first to the last rank, on an idle network
  std::vector<double> begun_s, ended_s;  ///< by rank, of what is being timed
  std::vector<double> exposed_s;         ///< by rank
  /// By rank, over the scenario (or the exchanges by themselves).
  std::vector<comm::Cost> cost, sent;
  double exchange_s = 0;
  std::int64_t period = 1;
  bool promised = false;
  std::vector<double> scenario_s;  ///< by rank, its own time
  /// For central weights, by rank, over the scenario: what the owner's piece has gone through, bytes
  /// sent, and whether the rank is a worker.
  std::vector<comm::Freshness> served;
  std::vector<double> served_updates, served_bytes;
  std::vector<int> works;

  explicit Findings(std::size_t ranks)
      : begun_s(ranks),
        ended_s(ranks),
        exposed_s(ranks),
        cost(ranks),
        sent(ranks),
        scenario_s(ranks),
        served(ranks),
        served_updates(ranks),
        served_bytes(ranks),
        works(ranks) {}
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
        me_(static_cast<std::size_t>(communicator.rank())),
        arrays_(config, without_limit(ranks_)) {}

  void run() {
    if (ranks_.size() > 1) measure_link();
    findings_.promised = arrays_.exchange().promise().is_whole_mean();
    if (config_.alone) exchange_by_itself();
    if (config_.epochs > 0) scenario();
    arrays_.close();
  }

 private:
  using Part = ExchangedArrays::Part;

  // Simulated ranks that wait for each other for ever are found by the simulator.
  static comm::Ranks& without_limit(comm::Ranks& ranks) {
    comm::Timeout::Config timeout;
    timeout.timeout_s = 1e15;
    ranks.timeout().set_config(timeout);
    return ranks;
  }

  // Until the last rank has it; 0 for those who do not receive.
  double message_time(std::size_t bytes) {
    comm::Communicator& communicator = ranks_.communicator();
    const int last = ranks_.size() - 1;
    std::vector<std::byte> message(bytes);
    cluster_.align();
    const double begun = Cluster::now_s();
    comm::Request request;
    if (ranks_.is_first()) request = communicator.send(last, probe_tag, message);
    if (ranks_.rank() == last) request = communicator.receive(0, probe_tag, message);
    for (std::int64_t look = 1; !request.ready(); ++look) communicator.pause(look);
    return Cluster::now_s() - begun;
  }

  void measure_link() {
    const double short_s = message_time(8), long_s = message_time(long_probe);
    cluster_.align();
    if (ranks_.rank() != ranks_.size() - 1) return;
    findings_.latency_s = short_s;
    if (long_s > short_s)
      findings_.bandwidth = static_cast<double>(long_probe) / (long_s - short_s);
  }

  void exchange(const Part& part) {
    if (!arrays_.computes()) return part.driver->serve(arrays_.view(part), {epoch_});
    arrays_.start(part, {epoch_});
    arrays_.complete(part, {epoch_});
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

  void bring_gradients() {
    ++epoch_;
    fill_gradients(arrays_.gradients(), ranks_.rank(), epoch_);
    brought_.push_back(epoch_);
  }

  // Where epochs are collected before they are exchanged, the result is the mean over all of them.
  void check() {
    if (!arrays_.exchange().updates({epoch_})) return;
    if (findings_.promised)
      findings_.check.look(cluster_, arrays_.gradients(), ranks_.rank(), ranks_.size(), brought_);
    brought_.clear();
  }

  // Only the last result of a scenario is checked: to look is to wait for all.
  void forget() {
    if (arrays_.exchange().updates({epoch_})) brought_.clear();
  }

  void exchange_by_itself() {
    findings_.period = arrays_.exchange().period();
    const double share = 1 / static_cast<double>(findings_.period);
    for (std::int64_t k = 0; k < findings_.period; ++k) {
      bring_gradients();
      const comm::Cost before = arrays_.sent();
      if (config_.each_length_once)
        for (const Part& part : arrays_.parts())
          time({&part, 1}, share * static_cast<double>(part.times));
      else
        time(arrays_.parts(), share);
      const comm::Cost after = arrays_.sent();
      findings_.cost[me_] += arrays_.cost({epoch_});
      findings_.sent[me_] += {after.messages - before.messages, after.bytes - before.bytes};
      check();
    }
  }

  void copy(double bytes) {
    const CopyConfig& gpu = config_.platform.gpu_copy;
    if (gpu.bandwidth > 0) Cluster::spend(gpu.latency_s + bytes / gpu.bandwidth);
  }

  void compute(std::int64_t number) {
    const ScenarioConfig& scenario = config_.scenario;
    if (scenario.data_bytes > 0) copy(static_cast<double>(scenario.data_bytes));
    const double seconds = compute_time(scenario, ranks_.rank(), number);
    for (std::int64_t k = 0; k < scenario.polls; ++k) {
      Cluster::spend(seconds / static_cast<double>(scenario.polls));
      arrays_.progress();
    }
  }

  void pause_after(std::int64_t number) {
    const ScenarioConfig& scenario = config_.scenario;
    if (scenario.pause_every > 0 && number % scenario.pause_every == 0)
      Cluster::spend(scenario.pause_s);
  }

  // One update late, as in the middle of a training: an exchange is under way when an epoch begins,
  // and is ended after its computation.
  void epochs(bool late) {
    for (std::int64_t k = 1; k <= config_.epochs; ++k) {
      if (!arrays_.computes()) {
        arrays_.serve({++epoch_});
        continue;
      }
      if (!late) compute(k);
      bring_gradients();
      copy(arrays_.bytes());
      if (late) {
        for (const Part& part : arrays_.parts()) arrays_.start(part, {epoch_});
        compute(k);
        for (const Part& part : arrays_.parts()) arrays_.complete(part, {epoch_});
      } else {
        for (const Part& part : arrays_.parts()) exchange(part);
      }
      copy(arrays_.bytes());
      pause_after(k);
      if (k < config_.epochs) forget();
    }
  }

  void scenario() {
    const double waited = arrays_.in_exchange_s();
    const comm::Freshness served = arrays_.served();
    const std::uint64_t updates = arrays_.updates_served();
    const comm::Cost sent = arrays_.sent();
    cluster_.align();
    findings_.begun_s[me_] = Cluster::now_s();
    epochs(config_.scenario.overlap == ScenarioConfig::Overlap::one_update_late);
    findings_.ended_s[me_] = Cluster::now_s();
    findings_.scenario_s[me_] = findings_.ended_s[me_] - findings_.begun_s[me_];
    findings_.exposed_s[me_] = arrays_.in_exchange_s() - waited;
    take_served(served, sent);
    findings_.served_updates[me_] = static_cast<double>(arrays_.updates_served() - updates);
    cluster_.align();  // windows stay until nobody reads them
    check();
  }

  // Since the scenario's begin, but for the oldest share, which may be one before.
  void take_served(const comm::Freshness& before, const comm::Cost& sent) {
    comm::Freshness& served = findings_.served[me_];
    served = arrays_.served();
    served.used -= before.used;
    served.age_sum -= before.age_sum;
    findings_.works[me_] = arrays_.computes() ? 1 : 0;
    findings_.served_bytes[me_] = static_cast<double>(arrays_.sent().bytes - sent.bytes);
  }

  const ReplayConfig& config_;
  Cluster& cluster_;
  comm::Ranks ranks_;
  Findings& findings_;
  std::size_t me_;
  ExchangedArrays arrays_;
  std::vector<std::int64_t> brought_;  // epochs whose gradients no update has used yet
  std::int64_t epoch_ = 0;
};

double most(const std::vector<comm::Cost>& costs, std::uint64_t comm::Cost::*member) {
  double most = 0;
  for (const comm::Cost& cost : costs) most = std::max(most, static_cast<double>(cost.*member));
  return most;
}

void fill_served(ReplayResult& result, const Findings& findings, double epochs) {
  double owners = 0, shares = 0, age_sum = 0;
  for (const comm::Freshness& one : findings.served) {
    owners += one.used > 0 ? 1 : 0;
    shares += static_cast<double>(one.used);
    age_sum += one.age_sum;
    result.age_maximum = std::max(result.age_maximum, one.age_maximum);
  }
  if (owners == 0) return;
  const double seconds = findings.slowest_s();
  result.steps_per_s =
      epochs * std::accumulate(findings.works.begin(), findings.works.end(), 0.0) / seconds;
  result.updates_per_s =
      std::accumulate(findings.served_updates.begin(), findings.served_updates.end(), 0.0) /
      owners / seconds;
  result.age_mean = age_sum / shares;
  result.busiest_bytes =
      *std::max_element(findings.served_bytes.begin(), findings.served_bytes.end()) / epochs;
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
  result.latency_s = findings.latency_s;
  result.bandwidth = findings.bandwidth;
  if (result.bandwidth > 0)
    result.predicted_s = result.messages * result.latency_s + result.bytes / result.bandwidth;
  if (result.epochs == 0) return;
  const auto epochs = static_cast<double>(result.epochs);
  result.epoch_s = findings.slowest_s() / epochs;
  result.exposed_s = std::accumulate(findings.exposed_s.begin(), findings.exposed_s.end(), 0.0) /
                     (epochs * static_cast<double>(findings.exposed_s.size()));
  fill_served(result, findings, epochs);
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
