#pragma once
#include <string>
#include <vector>

#include "tests/comm/kit.hpp"

/// What every exchange must do, whatever carries the messages: the same checks run on threads and
/// under mpirun. All are collective.
namespace sagips::comm::testing {

/// Names of all registered exchanges.
std::vector<std::string> exchange_names();

/// Whether it can be made of so many ranks; checks of others pass.
bool works_on(const std::string& name, int ranks);

/// Settings in which everything happens within a few epochs.
ExchangesConfig busy_config(int ranks);

/// Gradients and weights after each of some epochs equal the serial model; bit-equal on all ranks
/// where that is promised; messages and bytes equal `cost`.
void check_values(Kit& kit, const std::string& name, const ExchangesConfig& config,
                  std::size_t floats);

/// An exchange that was saved and made anew in the middle of its cycle goes on as if nothing had
/// been.
void check_resumes(Kit& kit, const std::string& name, const ExchangesConfig& config);

/// One-sided: what is read is never half-written, nothing older than the limit is used, and what is
/// counted adds up.
void check_one_sided(Kit& kit, const std::string& name, const ExchangesConfig& config,
                     std::size_t floats);

/// Bits of all weights of this rank after some epochs; for comparisons between runs.
std::uint64_t fingerprint(Kit& kit, const std::string& name, const ExchangesConfig& config);

}  // namespace sagips::comm::testing
