#include "sagips/record/timeline.hpp"

#include <nlohmann/json.hpp>

#include "sagips/core/file.hpp"
#include "sagips/core/text.hpp"

namespace sagips::record {
namespace {

using nlohmann::ordered_json;

ordered_json name_of(const char* what, int rank, int thread, const std::string& name) {
  return {{"ph", "M"}, {"name", what}, {"pid", rank}, {"tid", thread}, {"args", {{"name", name}}}};
}

double microseconds(std::chrono::nanoseconds time) {
  return static_cast<double>(time.count()) / 1e3;
}

}  // namespace

Timeline::Timeline(int rank, std::size_t most_spans) : rank_(rank), most_spans_(most_spans) {
  threads_[std::this_thread::get_id()] = 0;
}

void Timeline::add(const char* name, Clock::time_point begin, Clock::time_point end) {
  const std::lock_guard lock(mutex_);
  if (stopped_) return;
  if (entries_.size() >= most_spans_) {
    ++left_out_;
    return;
  }
  const auto thread =
      threads_.try_emplace(std::this_thread::get_id(), static_cast<int>(threads_.size()));
  entries_.push_back({name, begin, end, thread.first->second});
}

void Timeline::stop() {
  const std::lock_guard lock(mutex_);
  stopped_ = true;
}

void Timeline::write(const std::string& path) const {
  const std::lock_guard lock(mutex_);
  ordered_json events = ordered_json::array();
  events.push_back(name_of("process_name", rank_, 0, core::text("rank ", rank_)));
  for (const auto& [id, thread] : threads_)
    events.push_back(name_of("thread_name", rank_, thread,
                             thread == 0 ? "main" : core::text("thread ", thread)));
  const auto start = std::chrono::nanoseconds(wall_start_.time_since_epoch());
  for (const Entry& entry : entries_)
    events.push_back({{"ph", "X"},
                      {"name", entry.name},
                      {"pid", rank_},
                      {"tid", entry.thread},
                      {"ts", microseconds(start + (entry.begin - steady_start_))},
                      {"dur", microseconds(entry.end - entry.begin)}});
  const ordered_json whole = {{"displayTimeUnit", "ms"},
                              {"otherData", {{"spans_left_out", left_out_}}},
                              {"traceEvents", events}};
  core::write_file(path, whole.dump());
}

}  // namespace sagips::record
