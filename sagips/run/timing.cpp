#include "sagips/run/timing.hpp"

#include <algorithm>

#include "sagips/core/csv.hpp"
#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::run {

void Timing::begin(const std::string& part) {
  end();
  running_ = part;
  since_ = Clock::now();
}

void Timing::take_out(const std::string& part, double seconds) {
  add(part, seconds);
  add(running_, -seconds);
}

const std::vector<record::NamedNumber>& Timing::parts() {
  end();
  return parts_;
}

void Timing::end() {
  if (!running_.empty())
    add(running_, std::chrono::duration<double>(Clock::now() - since_).count());
  running_.clear();
}

void Timing::add(const std::string& part, double seconds) {
  const auto found =
      std::find_if(parts_.begin(), parts_.end(), [&](const auto& one) { return one.name == part; });
  if (found == parts_.end())
    parts_.push_back({part, seconds});
  else
    found->value += seconds;
}

void write_timing(const std::string& path, const std::vector<record::NamedNumber>& parts) {
  std::string content = "part,seconds\n";
  for (const record::NamedNumber& part : parts)
    content += core::csv_line(part.name, std::max(0.0, part.value));
  core::write_file(path, content);
}

}  // namespace sagips::run
