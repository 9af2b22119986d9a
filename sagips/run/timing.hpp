#pragma once
#include <chrono>
#include <string>
#include <vector>

#include "sagips/record/event.hpp"

namespace sagips::run {

/// How long the parts of a command take, one after the other.
class Timing {
 public:
  /// The part that begins now; the one before it ends.
  void begin(const std::string& part);
  /// So many seconds of the running part belong to another one.
  void take_out(const std::string& part, double seconds);
  /// Ends the last part. Parts of one name are added up.
  const std::vector<record::NamedNumber>& parts();

 private:
  using Clock = std::chrono::steady_clock;
  void end();
  void add(const std::string& part, double seconds);

  std::vector<record::NamedNumber> parts_;
  std::string running_;
  Clock::time_point since_ = Clock::now();
};

/// timing.csv: part, seconds. throws: StorageError
void write_timing(const std::string& path, const std::vector<record::NamedNumber>& parts);

}  // namespace sagips::run
