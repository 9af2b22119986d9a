#include "sagips/train/rank_exchange.hpp"

#include <algorithm>
#include <cmath>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::train {

namespace {

std::vector<int> serving_ranks(const ExchangeChoice& choice, const comm::Communicator& ranks) {
  const comm::ExchangeEntry entry = comm::known_exchanges().get(choice.primary, "exchange");
  return entry.is_central() ? entry.serving_ranks(choice.config, ranks.nodes())
                            : std::vector<int>();
}

// Lengths of the tensors that ranks share, in the order of the flat array.
std::vector<std::size_t> shared_tensors(const nn::Replica& replica) {
  std::vector<std::size_t> sizes;
  for (std::size_t i = 0; i < replica.parameters().size(); ++i) {
    const torch::Tensor tensor = replica.view(replica.weights(), i);
    if (tensor.storage_offset() < replica.shared_size())
      sizes.push_back(static_cast<std::size_t>(tensor.numel()));
  }
  return sizes;
}

// Exchanges of ours add up on the CPU.
void check_memory(const ExchangeChoice& choice) {
  if (choice.config.memory != comm::ExchangesConfig::Memory::gpu) return;
  const auto check = [](const std::string& name, const std::string& key) {
    if (name != "none" && !comm::known_exchanges().get(name, key).is_of_library)
      throw core::ConfigError("exchanges.memory",
                              core::text("gpu: ", name, " adds up in the memory of machines. Set ",
                                         key, "=all_reduce, or this to host."));
  };
  check(choice.primary, "exchange");
  for (const auto& [network, name] : choice.others) check(name, network + ".exchange");
}

void check_clipping(const optim::UpdateStep& step) {
  if (step.rule->config().clip_norm > 0 &&
      step.replica->shared_size() != step.replica->weights().numel())
    throw core::ConfigError(
        step.keys.exchange,
        core::text("ranks would clip the gradient of the ", step.name,
                   " by parts of it that they do not share (their shared weights would "
                   "drift apart). Set ",
                   step.keys.optimizer, ".clip_norm=0 or ", step.keys.shared, "=all."));
}

}  // namespace

RankExchange::RankExchange(comm::Ranks& ranks, optim::Optimizer& optimizer,
                           const ExchangeChoice& choice, std::uint64_t seed)
    : ranks_(ranks), optimizer_(optimizer), primary_(optimizer.steps().front().name) {
  if (ranks.size() > 1) check_memory(choice);
  const bool on_gpu = stays_on_gpus(choice);
  for (optim::UpdateStep& step : optimizer.steps()) {
    const bool is_primary = step.name == primary_;
    const std::string network = step.network.empty() ? step.name : step.network;
    const auto other = choice.others.find(network);
    const std::string name = is_primary                     ? choice.primary
                             : other == choice.others.end() ? "none"
                                                            : other->second;
    const std::string& key = step.keys.exchange;
    const bool is_central = comm::known_exchanges().get(name, key).is_central();
    if (is_central && !comm::known_exchanges().get(choice.primary, "exchange").is_central())
      throw core::ConfigError(key, core::text(name,
                                              " keeps central weights of all networks that the "
                                              "ranks share or of none. Set exchange=",
                                              name, " as well."));
    if (name == "none" && !is_primary) continue;
    const int index = next_index(key);
    comm::Site site = ranks.site(static_cast<std::size_t>(step.replica->shared_size()), seed);
    site.tensors = shared_tensors(*step.replica);
    Link& link = links_[step.name];
    site.update = updates_by(step, link);
    const bool stays = on_gpu && name != "none";
    auto exchange =
        stays ? on_gpus(step, site) : comm::make_exchange(name, choice.config, site, key);
    link.mirror = std::make_unique<HostMirror>(*step.replica, stays);
    link.is_copied = link.mirror->is_copy() && name != "none" &&
                     (ranks.size() > 1 || exchange->central_weights() != nullptr);
    link.subject = step.name;
    link.name = name;
    link.driver = std::make_unique<comm::ExchangeDriver>(
        std::move(exchange), site, index, core::text("the ", step.name, "'s gradients"));
    const std::vector<optim::Action> schedule = optimizer.schedule();
    link.step.updates_a_step =
        std::count_if(schedule.begin(), schedule.end(), [&](const optim::Action& action) {
          return action.kind == optim::Action::Kind::update &&
                 &optimizer.steps()[action.index] == &step;
        });
    if (name != "none" && ranks.size() > 1) check_clipping(step);
    check_central(step, link, serving_ranks(choice, ranks.communicator()).empty());
    add_statistics(step, link, choice, site);
    if (is_primary && norms_over_ranks(choice))
      sum_.emplace(site, next_index(key), "to the sums of a batch norm");
  }
  if (sum_) check_norms();
}

// Whether gradients stay on the ranks' GPUs. collective
bool RankExchange::stays_on_gpus(const ExchangeChoice& choice) const {
  if (choice.config.memory != comm::ExchangesConfig::Memory::gpu || ranks_.size() == 1)
    return false;
  const bool is_on_gpu = !optimizer_.steps().front().replica->weights().is_cpu();
  const auto all = ranks_.gather(is_on_gpu ? 1 : 0);
  if (std::ranges::count(all, 0U) % ranks_.size() == 0) return is_on_gpu;
  throw core::ConfigError("exchanges.memory",
                          "gpu: some ranks work on a CPU. Set device=cuda, which says what they "
                          "lack, or this to host.");
}

std::unique_ptr<comm::Exchange> RankExchange::on_gpus(const optim::UpdateStep& step,
                                                      const comm::Site& site) {
  if (!gpu_sums_) gpu_sums_ = std::make_shared<GpuSums>(ranks_, step.replica->weights().device());
  return std::make_unique<GpuMean>(site, gpu_sums_);
}

bool RankExchange::norms_over_ranks(const ExchangeChoice& choice) const {
  return choice.config.batch_norm == comm::ExchangesConfig::BatchNorm::over_ranks &&
         ranks_.size() > 1;
}

// Ranks that meet within passes have the same networks, and come to the same passes in the same order.
void RankExchange::check_norms() const {
  const std::string key = "exchanges.batch_norm";
  bool has_norms = false;
  for (const optim::UpdateStep& step : optimizer_.steps()) {
    const nn::Network* const network = step.replica->network();
    if (network == nullptr || network->separable()) continue;
    has_norms = true;
    const auto link = links_.find(step.name);
    if (link == links_.end() || !link->second.driver->exchange().promise().exact)
      throw core::ConfigError(
          key, core::text("over_ranks: the ranks' batch norms of the ", step.name,
                          " meet in each pass, so they need the same weights. Set ",
                          step.keys.exchange, " to an exact one, or this to each_rank."));
    if (network->keeps_to_own_rows())
      throw core::ConfigError(
          key, core::text("over_ranks: a module or script of the ", step.name,
                          " takes means over its own rows, which other ranks cannot see. Write "
                          "its batch norms as layers, or set this to each_rank."));
  }
  if (!has_norms)
    throw core::ConfigError(key, "over_ranks: no network has a batch norm. Leave it out.");
}

int RankExchange::next_index(const std::string& key) {
  if (drivers_ >= comm::RankStatus::exchanges)
    throw core::ConfigError(key, core::text("more than ", comm::RankStatus::exchanges,
                                            " networks cannot be exchanged. Set it to none."));
  return drivers_++;
}

// Running statistics are made by the rows that workers see: central weights are judged with the mean of
// theirs, also on ranks that see none. Exact exchanges make their mean where the config says so.
void RankExchange::add_statistics(optim::UpdateStep& step, Link& link, const ExchangeChoice& choice,
                                  comm::Site site) {
  comm::Exchange& exchange = link.driver->exchange();
  const bool averages =
      choice.config.running_statistics == comm::ExchangesConfig::RunningStatistics::averaged &&
      exchange.promise().exact && ranks_.size() > 1;
  site.floats = static_cast<std::size_t>(step.replica->buffers().numel());
  if (site.floats == 0 || !(averages || exchange.central_weights() != nullptr)) return;
  site.tensors.clear();
  comm::ExchangesConfig config = choice.config;
  config.served.rule.rule = comm::CentralRuleConfig::Rule::newest;
  config.served.rule.force = 0;
  const std::string name = exchange.promise().rounds ? "rabenseifner" : link.name;
  link.statistics = std::make_unique<comm::ExchangeDriver>(
      comm::make_exchange(name, config, site, step.keys.exchange), site,
      next_index(step.keys.exchange), core::text("the ", step.name, "'s running statistics"));
}

// The optimizer's rule on a piece of the central weights, by the learning rate of who sends gradients.
comm::MakeUpdate RankExchange::updates_by(const optim::UpdateStep& step, Link& link) {
  return [&link, config = step.rule->config()](std::span<float> weights) {
    const auto tensor = [](const float* values, std::size_t size) {
      // rules read gradients, and LibTorch has no tensors of constants
      return torch::from_blob(const_cast<float*>(values), {static_cast<std::int64_t>(size)},
                              torch::kFloat32);
    };
    std::shared_ptr<optim::UpdateRule> rule =
        optim::make_update_rule(tensor(weights.data(), weights.size()), {}, config);
    link.rules.push_back(rule);
    return [rule, tensor](std::span<const float> gradients, double progress) {
      rule->step_by(tensor(gradients.data(), gradients.size()), progress);
    };
  };
}

void RankExchange::check_central(const optim::UpdateStep& step, const Link& link,
                                 bool all_compute) {
  comm::CentralWeights* const central = link.driver->exchange().central_weights();
  const std::string& key = step.keys.exchange;
  if (!all_compute && central == nullptr)
    throw core::ConfigError(
        key, "would wait for ranks that do not compute. Use served as well, or none.");
  if (central != nullptr && step.rule->config().waits_for_plateau())
    throw core::ConfigError(
        key, core::text("served: the rule that moves the central weights of the ", step.name,
                        " sees no evaluation, so its rate cannot wait for a "
                        "plateau. Choose another ",
                        step.keys.optimizer, ".schedule."));
  if (central != nullptr && step.rule->config().batches_per_update > 1)
    throw core::ConfigError(
        step.keys.optimizer + ".batches_per_update",
        core::text("served: a worker of the ", step.name,
                   " collects gradients by exchanges.served.every. Set that, and this to 1."));
  const bool moves_central = central != nullptr && !link.driver->exchange().updates({1});
  if (moves_central && step.rule->config().clip_norm > 0)
    throw core::ConfigError(
        key,
        core::text("served: central weights move piece by piece, and no piece knows the length "
                   "of the ",
                   step.name, "'s gradient. Set ", step.keys.optimizer,
                   ".clip_norm=0, exchanges.served.rule=easgd or another exchange."));
  if (moves_central && step.replica->shared_size() != step.replica->weights().numel())
    throw core::ConfigError(
        key, core::text("served: Downpour and GEM move all weights of the ", step.name,
                        " (what is not shared would stay as it began). Set ", step.keys.shared,
                        "=all."));
}

void RankExchange::use_drivers(Link& link, const UseDriver& use) {
  use(link, *link.driver, link.mirror->shared());
  if (link.statistics) use(link, *link.statistics, link.mirror->statistics());
}

void RankExchange::Link::take(bool gradients, bool weights) {
  if (is_copied)
    driver->count_copying(
        mirror->take({.gradients = gradients, .weights = weights, .statistics = !!statistics}));
}
void RankExchange::Link::give(bool gradients, bool weights) {
  if (is_copied)
    driver->count_copying(
        mirror->give({.gradients = gradients, .weights = weights, .statistics = !!statistics}));
}

void RankExchange::take_weights() {
  for (auto& [subject, link] : links_) link.take(false, true);
}

void RankExchange::give_weights() {
  for (auto& [subject, link] : links_) link.give(false, true);
}

void RankExchange::each_driver(const UseDriver& use) {
  for (optim::UpdateStep& step : optimizer_.steps())
    if (const auto link = links_.find(step.name); link != links_.end())
      use_drivers(link->second, use);
}

// How long pieces of work take is not known before the first one is over.
void RankExchange::begin() {
  ranks_.timeout().look_after();
  ranks_.status().expect_silence(true);
  take_weights();
  each_driver([](Link&, comm::ExchangeDriver& driver, comm::ReplicaView view) {
    if (comm::CentralWeights* const central = driver.exchange().central_weights())
      central->begin(view.weights);
  });
}

ExchangeHooks RankExchange::hooks(core::Tracer* tracer) {
  ExchangeHooks hooks;
  for (auto& [subject, link] : links_) link.mirror->set_tracer(tracer);
  hooks.gradients_ready = [this](optim::UpdateStep& step) {
    const auto link = links_.find(step.name);
    if (link == links_.end()) return;
    ++link->second.step.update;
    link->second.step.progress = step.progress;
    link->second.take(true, link->second.uses_weights());
    use_drivers(link->second, [](Link& own, comm::ExchangeDriver& driver, comm::ReplicaView view) {
      driver.start(view, own.step);
    });
  };
  hooks.before_update = [this](optim::UpdateStep& step) {
    const auto link = links_.find(step.name);
    if (link == links_.end()) return true;
    use_drivers(link->second,
                [](Link&, comm::ExchangeDriver& driver, comm::ReplicaView) { driver.finish(); });
    link->second.give(true, false);
    return link->second.driver->exchange().updates(link->second.step);
  };
  hooks.after_update = [this](optim::UpdateStep& step) {
    const auto link = links_.find(step.name);
    if (link == links_.end()) return;
    const bool uses_weights = link->second.uses_weights();
    if (uses_weights) link->second.take(false, true);
    use_drivers(link->second, [](Link& own, comm::ExchangeDriver& driver, comm::ReplicaView view) {
      driver.after_update(view, own.step);
    });
    if (uses_weights) link->second.give(false, true);
  };
  hooks.poll = [this] {
    each_driver([](Link&, comm::ExchangeDriver& driver, comm::ReplicaView) { driver.progress(); });
  };
  hooks.waited_s = [this] {
    double waited_s = sum_ ? sum_->waited_s() : 0;
    for (const auto& [subject, link] : links_) {
      waited_s += link.driver->waited_s();
      if (link.statistics) waited_s += link.statistics->waited_s();
    }
    return waited_s;
  };
  if (sum_) hooks.add_up = [this](std::span<double> numbers) { (*sum_)(numbers); };
  hooks.between_steps = [this](const std::function<void()>& work) { between_steps(work); };
  comm::CentralWeights* const central = links_.at(primary_).driver->exchange().central_weights();
  if (central == nullptr) return hooks;
  hooks.moves_weights = true;
  hooks.close = [this] {
    each_driver([](Link&, comm::ExchangeDriver& driver, comm::ReplicaView) { driver.close(); });
  };
  if (!central->computes()) hooks.serve = [this](std::int64_t step) { serve(step); };
  return hooks;
}

void RankExchange::serve(std::int64_t number) {
  std::function<void()> others;
  if (drivers_ > 1) others = [this] { poll(); };
  each_driver([&](Link& link, comm::ExchangeDriver& driver, comm::ReplicaView view) {
    link.step.update = number * link.step.updates_a_step;
    driver.serve(view, link.step, others);
  });
  give_weights();
}

void RankExchange::poll() {
  ranks_.status().beat();
  each_driver([](Link&, comm::ExchangeDriver& driver, comm::ReplicaView) {
    if (comm::CentralWeights* const central = driver.exchange().central_weights()) central->poll();
  });
}

std::vector<int> RankExchange::readers() const {
  comm::CentralWeights* const central = links_.at(primary_).driver->exchange().central_weights();
  return central != nullptr ? central->readers() : std::vector<int>{};
}

void RankExchange::between_steps(const std::function<void()>& work) {
  const auto each_central = [this](void (comm::CentralWeights::*tell)()) {
    each_driver([&](Link&, comm::ExchangeDriver& driver, comm::ReplicaView) {
      if (auto* const central = driver.exchange().central_weights()) (central->*tell)();
    });
  };
  const bool is_silent = ranks_.status().expect_silence(true);
  each_central(&comm::CentralWeights::pause);
  work();
  each_central(&comm::CentralWeights::resume);
  ranks_.status().expect_silence(is_silent);
}

// Steps of theirs are others, where a resumed run has another batch.
void RankExchange::with_central_weights(std::int64_t epoch, std::uint64_t readers,
                                        const std::function<void()>& run) {
  std::vector<std::pair<std::span<float>, std::vector<float>>> own;
  take_weights();
  each_driver([&](Link&, comm::ExchangeDriver& driver, comm::ReplicaView view) {
    if (driver.exchange().central_weights() == nullptr) return;
    std::vector<float> before(view.weights.begin(), view.weights.end());
    driver.look(view.weights, {static_cast<std::uint64_t>(epoch), readers});
    own.emplace_back(view.weights, std::move(before));
  });
  give_weights();
  run();
  for (auto& [weights, before] : own) std::copy(before.begin(), before.end(), weights.begin());
  give_weights();
}

void RankExchange::settle() {
  take_weights();
  each_driver([](Link&, comm::ExchangeDriver& driver, comm::ReplicaView view) {
    driver.look(view.weights, {});
  });
  give_weights();
  if (gpu_sums_) gpu_sums_->close();
}

comm::ExchangeTotals RankExchange::Link::totals() const {
  comm::ExchangeTotals totals = driver->totals();
  totals -= not_counted;
  return totals += earlier;
}

comm::ExchangeTotals RankExchange::totals() const { return links_.at(primary_).totals(); }

std::vector<record::Exchanged> RankExchange::reports(std::int64_t epoch) const {
  const auto whole = [](std::uint64_t count) { return static_cast<std::int64_t>(count); };
  std::vector<record::Exchanged> reports;
  for (const auto& [subject, link] : links_) {
    const comm::ExchangeTotals totals = link.totals();
    reports.push_back({.epoch = epoch,
                       .subject = subject,
                       .exchange = link.name,
                       .calls = whole(totals.calls),
                       .messages = whole(totals.traffic.messages),
                       .bytes = whole(totals.traffic.bytes),
                       .exposed_s = totals.exposed_s,
                       .waiting_s = totals.waiting_s,
                       .hidden_s = totals.hidden_s,
                       .copying_s = totals.copying_s,
                       .used = whole(totals.freshness.used),
                       .dropped = whole(totals.freshness.dropped),
                       .missing = whole(totals.freshness.missing),
                       .age_mean = totals.age_mean(),
                       .age_maximum = totals.freshness.age_maximum});
  }
  return reports;
}

bool RankExchange::waits() const {
  return std::any_of(links_.begin(), links_.end(), [this](const auto& link) {
    return link.second.driver->exchange().ever_waits(ranks_.rank());
  });
}

std::string RankExchange::description() const {
  std::vector<std::string> parts;
  for (const auto& [subject, link] : links_)
    parts.push_back(core::text(subject, ": ", link.driver->exchange().description()));
  return core::join(parts, "; ");
}

// For another number of ranks, to which nothing else of this state fits.
void RankExchange::give_central(const std::string& name, comm::ExchangeDriver& driver,
                                std::size_t floats, nn::StateList& list) {
  comm::CentralWeights* const central = driver.exchange().central_weights();
  if (central == nullptr) return;
  const std::span<const float> last = central->last();
  torch::Tensor weights = torch::zeros({static_cast<std::int64_t>(floats)});
  std::copy(last.begin(), last.end(), weights.data_ptr<float>());
  std::int64_t is_known = last.empty() ? 0 : 1;
  list.field("central." + name, weights);
  list.field("central_is_known." + name, is_known);
}

void RankExchange::keep_central(const nn::State& state, const std::string& prefix) {
  each_driver([&](Link& link, comm::ExchangeDriver& driver, comm::ReplicaView view) {
    const auto weights = state.find(prefix + "central." + link.name_of(driver));
    const auto is_known = state.find(prefix + "central_is_known." + link.name_of(driver));
    if (weights == state.end() || is_known == state.end()) return;
    const torch::Tensor& found = weights->second;
    if (is_known->second.item<std::int64_t>() == 0 ||
        found.numel() != static_cast<std::int64_t>(view.weights.size()))
      return;
    kept_[&driver].assign(found.data_ptr<float>(), found.data_ptr<float>() + found.numel());
  });
}

void RankExchange::take_kept() {
  if (kept_.empty()) return;
  take_weights();
  each_driver([&](Link&, comm::ExchangeDriver& driver, comm::ReplicaView view) {
    if (const auto kept = kept_.find(&driver); kept != kept_.end())
      std::copy(kept->second.begin(), kept->second.end(), view.weights.begin());
  });
  give_weights();
  kept_.clear();
}

void RankExchange::state(nn::StateList& list) {
  each_driver([&](Link& link, comm::ExchangeDriver& driver, comm::ReplicaView view) {
    const std::string name = link.name_of(driver);
    comm::State known;
    driver.exchange().give_state(known);  // names and lengths; taking overwrites the values
    for (auto& [field, values] : known) list.field("exchange." + name + "." + field, values);
    give_central(name, driver, view.weights.size(), list);
    if (!list.gives()) driver.exchange().take_state(known);
  });
  for (auto& [subject, link] : links_) {
    std::vector<double> totals = link.totals().numbers();
    list.field("books." + subject, totals);  // as it was called when checkpoints began to hold it
    list.field("updates." + subject, link.step.update);
    for (std::size_t piece = 0; piece < link.rules.size(); ++piece)
      list.part(core::text("rule.", subject, ".", piece), *link.rules[piece]);
    if (list.gives()) continue;
    link.earlier = comm::ExchangeTotals::of(totals);
    link.not_counted = link.driver->totals();
  }
}

ExchangeTraits traits_of(const ExchangeChoice& choice, int ranks) {
  const auto known = comm::known_exchanges();
  for (const auto& [network, name] : choice.others) known.get(name, network + ".exchange");
  comm::ExchangeEntry entry = known.get(choice.primary, "exchange");
  if (ranks == 1) return {};
  check_memory(choice);
  if (entry.inner) entry = known.get(entry.inner(choice.config), "exchange");
  return {entry.is_exact ? choice.config.learning_rate_factor(ranks) : 1, entry.data_fraction};
}

problem::RankPlace place_of(const ExchangeChoice& choice, const comm::Communicator& communicator) {
  const int rank = communicator.rank();
  problem::RankPlace place{rank, communicator.size()};
  for (const int serving : serving_ranks(choice, communicator)) {
    --place.ranks;
    if (serving == rank)
      place.rank = 0;
    else if (serving < rank)
      --place.rank;
  }
  return place;
}

}  // namespace sagips::train
