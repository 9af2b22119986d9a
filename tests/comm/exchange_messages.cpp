// Prints, as CSV, every message, one-sided read and call of the library with which the exchanges do
// their work on 8 ranks on two nodes. tools/draw_exchanges.py draws the picture of the docs from it.
//
// The epochs are those of the second period: in the first, one-sided exchanges find windows empty.
// Fails when what was counted is not what `cost()` says.
#include <iostream>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "tests/comm/lockstep.hpp"

namespace sagips::comm::testing {
namespace {

using Transfer = LockstepTeam::Transfer;
constexpr std::size_t floats = 51206;  // the generator of the SAGIPS paper

const char* name_of(Transfer::Kind kind) {
  switch (kind) {
    case Transfer::Kind::message:
      return "message";
    case Transfer::Kind::read:
      return "read";
    case Transfer::Kind::library:
      return "library";
    case Transfer::Kind::look:
      return "look";
  }
  return "";
}

// Who is charged for it: the sender, or who reads.
int payer(const Transfer& transfer) {
  return transfer.kind == Transfer::Kind::read ? transfer.to : transfer.from;
}

class Recorder {
 public:
  explicit Recorder(const Variant& variant)
      : variant_(variant),
        on_one_node_(variant.name == "shared_node"),
        made_(variant.name, variant.config, nodes_of(8, on_one_node_ ? 8 : 4), floats,
              uses_mapped_memory()),
        weights_(made_.ranks.size(), std::vector<float>(floats, 1)),
        gradients_(weights_) {}

  void print() {
    const std::int64_t period = made_.ranks.front()->period();
    for (std::int64_t epoch = 1; epoch <= 2 * period; ++epoch) {
      made_.team.diary.clear();
      run([&](std::size_t r) { return made_.ranks[r]->gradients(view(r), {epoch}); });
      run([&](std::size_t r) { return made_.ranks[r]->mix_weights(view(r), {epoch}); });
      tidy();
      if (epoch <= period) continue;
      check(epoch);
      print(epoch);
    }
  }

 private:
  bool uses_mapped_memory() const {
    return on_one_node_ || variant_.config.grouped.inner == "shared_node";
  }
  ReplicaView view(std::size_t r) { return {weights_[r], gradients_[r]}; }

  // One task a rank, polled in turns until all are over.
  template <class Make>
  void run(Make make) {
    std::vector<Flow> flows(made_.ranks.size());
    ++made_.team.sweep;
    for (std::size_t r = 0; r < flows.size(); ++r) flows[r].begin(make(r));
    constexpr int timeout = 10000;
    std::size_t sent = 0;
    for (int sweep = 0; sweep < timeout; ++sweep) {
      ++made_.team.sweep;
      bool over = true;
      for (Flow& flow : flows) over = flow.ready() && over;
      for (const auto& exchange : made_.ranks)
        if (CentralWeights* const central = exchange->central_weights()) central->poll();
      // owners of central weights answer when all tasks are over
      if (over && made_.team.diary.size() == sent) return;
      sent = made_.team.diary.size();
    }
    throw core::Error(core::text("exchange '", variant_.name, "' does not come to an end."));
  }

  // Leaves the books of windows out, and looks into the same memory but for one.
  void tidy() {
    std::vector<Transfer> kept;
    for (const Transfer& transfer : made_.team.diary) {
      if (transfer.kind == Transfer::Kind::read && transfer.bytes != floats * sizeof(float))
        continue;
      const bool again = std::any_of(kept.begin(), kept.end(), [&](const Transfer& other) {
        return transfer.kind == Transfer::Kind::look && other.kind == transfer.kind &&
               other.from == transfer.from && other.to == transfer.to;
      });
      if (!again) kept.push_back(transfer);
    }
    made_.team.diary = kept;
  }

  void check(std::int64_t epoch) const {
    std::vector<Cost> counted(made_.ranks.size());
    for (const Transfer& transfer : made_.team.diary)
      if (transfer.kind != Transfer::Kind::look)
        counted[static_cast<std::size_t>(payer(transfer))] += Cost{1, transfer.bytes};
    for (std::size_t r = 0; r < counted.size(); ++r) {
      const Cost said = made_.ranks[r]->cost(floats, {epoch});
      if (counted[r] != said)
        throw core::Error(core::text("exchange '", variant_.name, "', epoch ", epoch, ", rank ", r,
                                     ": ", counted[r].messages, " messages of ", counted[r].bytes,
                                     " bytes, cost() says ", said.messages, " of ", said.bytes,
                                     "."));
    }
  }

  // Reads of a rank count one after another, then come messages, by sweep.
  void print(std::int64_t epoch) const {
    std::map<int, int> reads, rounds;
    int most_reads = 0;
    for (const Transfer& transfer : made_.team.diary) {
      if (transfer.kind == Transfer::Kind::read)
        most_reads = std::max(most_reads, ++reads[transfer.to]);
      else
        rounds[transfer.sweep] = 0;
    }
    int next = most_reads;
    for (auto& round : rounds) round.second = ++next;
    reads.clear();
    for (const Transfer& transfer : made_.team.diary) {
      const int round =
          transfer.kind == Transfer::Kind::read ? ++reads[transfer.to] : rounds[transfer.sweep];
      std::cout << variant_.name << ",\"" << variant_.settings << "\"," << epoch << ',' << round
                << ',' << name_of(transfer.kind) << ',' << transfer.from << ',' << transfer.to
                << ',' << transfer.bytes << '\n';
    }
  }

  Variant variant_;
  bool on_one_node_;
  LockstepExchange made_;
  std::vector<std::vector<float>> weights_, gradients_;
};

}  // namespace
}  // namespace sagips::comm::testing

int main() {
  using namespace sagips::comm::testing;
  try {
    std::cout << "exchange,settings,epoch,round,kind,from,to,bytes\n";
    for (Variant variant : variants()) {
      variant.config.averaged.every = 10;  // shows the same, sooner
      Recorder(variant).print();
    }
  } catch (const std::exception& error) {
    std::cerr << "exchange_messages: " << error.what() << '\n';
    return 1;
  }
}
