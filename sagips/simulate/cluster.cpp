#include "sagips/simulate/cluster.hpp"

#include <smpi/smpi.h>

#include <exception>
#include <simgrid/Exception.hpp>
#include <simgrid/s4u.hpp>
#include <string>
#include <utility>
#include <vector>

#include "sagips/comm/mpi_communicator.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/simulate/zones.hpp"

namespace sagips::simulate {

namespace {

namespace s4u = simgrid::s4u;

constexpr const char* instance = "ranks";

// SimGrid's own guesses about a network (corrections measured on another one), about collectives and
// about the time that calls take are switched off.
std::vector<std::string> settings(Cluster::Turns turns) {
#ifdef __SANITIZE_ADDRESS__  // it knows no stacks but those of threads
  turns = Cluster::Turns::threads;
#endif
  return {"sagips",
          "--cfg=surf/precision:1e-9",
          "--cfg=network/model:SMPI",
          "--cfg=smpi/bw-factor:0:1.0",
          "--cfg=smpi/lat-factor:0:1.0",
          "--cfg=smpi/simulate-computation:no",
          "--cfg=smpi/coll-selector:ompi",
          "--cfg=smpi/test:0",
          "--cfg=smpi/wtime:0",
          turns == Cluster::Turns::threads ? "--cfg=contexts/factory:thread"
                                           : "--cfg=contexts/factory:raw",
          "--log=root.thresh:critical"};
}

void start_engine(Cluster::Turns turns) {
  static std::vector<std::string> words = settings(turns);
  static std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  int count = static_cast<int>(words.size());
  smpi_init_options();  // before the engine, or it does not know all of these settings
  static s4u::Engine engine(&count, arguments.data());
}

}  // namespace

struct Cluster::Simulation {
  PlatformConfig platform;
  int ranks = 0;
  std::vector<std::string> hosts{};
  s4u::BarrierPtr aligned{};
  std::exception_ptr failure{};  ///< of the first rank that failed
  bool stuck = false;

  void run_rank(const std::function<void(comm::Communicator&)>& rank);
  comm::MpiConfig mpi_config() const;
};

Cluster::Cluster(const PlatformConfig& platform, int ranks, Turns turns) {
  platform.check(ranks);
  simulation_ = std::make_unique<Simulation>(Simulation{platform, ranks});
  start_engine(turns);
  simulation_->hosts = make_zones(platform);
  SMPI_init();
  SMPI_app_instance_register(instance, nullptr, ranks);
  simulation_->aligned = s4u::Barrier::create(static_cast<unsigned>(ranks));
}

Cluster::~Cluster() = default;

comm::MpiConfig Cluster::Simulation::mpi_config() const {
  comm::MpiConfig config;
  config.simulated.spend = [](double seconds) { Cluster::spend(seconds); };
  config.simulated.memory_bandwidth = platform.memory_bandwidth;
  return config;
}

void Cluster::Simulation::run_rank(const std::function<void(comm::Communicator&)>& rank) {
  try {
    const auto communicator = comm::make_mpi_communicator(mpi_config());
    rank(*communicator);
  } catch (const simgrid::ForcefulKillException&) {
    throw;  // SimGrid's own way to end a rank
  } catch (...) {
    if (!failure) failure = std::current_exception();
    s4u::Actor::kill_all();
  }
}

void Cluster::run(const std::function<void(comm::Communicator& communicator)>& rank) {
  Simulation& simulation = *simulation_;
  const auto per_node = static_cast<std::size_t>(simulation.platform.ranks_per_node);
  for (std::size_t r = 0; r < static_cast<std::size_t>(simulation.ranks); ++r) {
    s4u::Host* host = s4u::Host::by_name(simulation.hosts[r / per_node]);
    const auto actor = s4u::Actor::init(core::text("rank ", r), host);
    actor->set_property("instance_id", instance);
    actor->set_property("rank", core::text(r));
    actor->start([&simulation, &rank] { simulation.run_rank(rank); });
  }
  s4u::Engine::on_deadlock_cb([&simulation] { simulation.stuck = true; });
  s4u::Engine::get_instance()->run();
  if (simulation.failure) std::rethrow_exception(simulation.failure);
  if (simulation.stuck)
    throw core::Error(
        "simulated ranks wait for each other for ever (nobody sends what they need).");
}

void Cluster::spend(double seconds) {
  if (seconds > 0) s4u::this_actor::sleep_for(seconds);
}

double Cluster::now_s() { return s4u::Engine::get_clock(); }

void Cluster::align() { simulation_->aligned->wait(); }

}  // namespace sagips::simulate
