#include "sagips/record/tensorboard.hpp"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "sagips/core/crc32c.hpp"
#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"
#include "sagips/record/event_json.hpp"
#include "sagips/record/thinned_epochs.hpp"

namespace sagips::record {
namespace {

using Clock = std::chrono::system_clock;
using Scalars = std::vector<std::pair<std::string, double>>;
constexpr auto flush_period = std::chrono::seconds(1);

// Field numbers of tensorflow/core/util/event.proto and framework/summary.proto.
enum Field : std::uint32_t { wall_time = 1, step = 2, file_version = 3, summary = 5, session = 7 };
enum SummaryField : std::uint32_t { value = 1 };
enum ValueField : std::uint32_t { tag = 1, simple_value = 2 };
enum SessionField : std::uint32_t { status = 1 };
constexpr std::uint64_t session_start = 1;

template <class Number>
std::string raw(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

/// A protobuf message being written.
/// source: protobuf.dev, "Encoding"
class Message {
 public:
  void number(std::uint32_t field, std::uint64_t number) {
    varint(field << 3 | 0U);
    varint(number);
  }
  void real(std::uint32_t field, double number) {
    varint(field << 3 | 1U);
    content_ += raw(number);
  }
  void real32(std::uint32_t field, float number) {
    varint(field << 3 | 5U);
    content_ += raw(number);
  }
  void bytes(std::uint32_t field, const std::string& content) {
    varint(field << 3 | 2U);
    varint(content.size());
    content_ += content;
  }
  const std::string& content() const { return content_; }

 private:
  void varint(std::uint64_t number) {
    for (; number >= 0x80; number >>= 7) content_ += static_cast<char>(number | 0x80);
    content_ += static_cast<char>(number);
  }
  std::string content_;
};

// source: tensorflow/core/lib/hash/crc32c.h: rotated and shifted, so that a checksum of data that
// hold checksums stays one
std::string masked_checksum(const std::string& bytes) {
  const std::uint32_t checksum = core::crc32c(bytes);
  return raw(((checksum >> 15) | (checksum << 17)) + 0xa282ead8U);
}

std::string record_of(const Message& event) {
  const std::string length = raw(static_cast<std::uint64_t>(event.content().size()));
  return length + masked_checksum(length) + event.content() + masked_checksum(event.content());
}

double now_s() { return std::chrono::duration<double>(Clock::now().time_since_epoch()).count(); }

Message event_at(std::int64_t epoch) {
  Message event;
  event.real(wall_time, now_s());
  event.number(step, static_cast<std::uint64_t>(epoch));
  return event;
}

void add_numbers(Scalars& scalars, const std::string& group,
                 const std::vector<NamedNumber>& numbers) {
  for (const NamedNumber& number : numbers)
    scalars.emplace_back(group + "/" + number.name, number.value);
}

Scalars scalars_of(const EpochDone& epoch) {
  Scalars scalars;
  add_numbers(scalars, "loss", epoch.losses);
  add_numbers(scalars, "learning_rate", epoch.learning_rates);
  scalars.emplace_back("time/" + epoch.unit + "_per_second", epoch.events_per_second);
  scalars.emplace_back("time/training_s", epoch.time_s);
  return scalars;
}

Scalars scalars_of(const Evaluated& evaluated) {
  Scalars scalars;
  for (const ParameterState& parameter : evaluated.parameters) {
    if (parameter.fixed) continue;
    scalars.emplace_back("parameter/" + parameter.name, parameter.value);
    scalars.emplace_back("spread/" + parameter.name, parameter.spread);
    if (parameter.residual) scalars.emplace_back("residual/" + parameter.name, *parameter.residual);
  }
  add_numbers(scalars, evaluated.parameters.empty() ? "metric" : "distance", evaluated.metrics);
  add_numbers(scalars, "ranks", evaluated.ranks);
  return scalars;
}

Scalars scalars_of(const Exchanged& exchanged) {
  const std::string group = "exchange_" + exchanged.subject + "/";
  Scalars scalars{{group + "exposed_s", exchanged.exposed_s},
                  {group + "waiting_s", exchanged.waiting_s},
                  {group + "hidden_s", exchanged.hidden_s},
                  {group + "megabytes", static_cast<double>(exchanged.bytes) / 1e6}};
  if (exchanged.used == 0) return scalars;
  scalars.push_back({group + "used", static_cast<double>(exchanged.used)});
  scalars.push_back({group + "age_mean", exchanged.age_mean});
  scalars.push_back({group + "age_maximum", exchanged.age_maximum});
  return scalars;
}

Scalars scalars_of(const TimeSpent& spent) {
  Scalars scalars;  // "total_s" is `time/training_s` of the epochs
  for (const TimePart& part : time_parts)
    if (part.seconds != &TimeSplit::total_s)
      scalars.emplace_back(std::string("time/") + part.name, spent.split.*part.seconds);
  return scalars;
}

Scalars scalars_of(const MachineUse& used) {
  Scalars scalars{{"machine/cores", used.cores},
                  {"machine/memory_mb", used.memory_mb},
                  {"machine/received_mb_per_s", used.received_mb_per_s},
                  {"machine/sent_mb_per_s", used.sent_mb_per_s}};
  if (used.gpu_percent) scalars.emplace_back("machine/gpu_percent", *used.gpu_percent);
  if (used.gpu_memory_mb) scalars.emplace_back("machine/gpu_memory_mb", *used.gpu_memory_mb);
  return scalars;
}

}  // namespace

struct TensorBoardWriter::Output {
  struct CloseFile {
    void operator()(std::FILE* opened) const { std::fclose(opened); }
  };
  std::string path;
  ThinnedEpochs epochs;
  std::unique_ptr<std::FILE, CloseFile> file{};  // empty after a failed write
  Clock::time_point last_flush = Clock::now();

  void fail() {
    const std::string reason = std::system_category().message(errno);
    file.reset();
    throw core::StorageError(path,
                             core::text("cannot write for TensorBoard (", reason,
                                        "); nothing follows. Free space on this file system."));
  }
  void write(const Message& event) {
    if (!file) return;
    const std::string bytes = record_of(event);
    if (std::fwrite(bytes.data(), 1, bytes.size(), file.get()) != bytes.size()) fail();
    if (Clock::now() - last_flush >= flush_period) flush();
  }
  void flush() {
    last_flush = Clock::now();
    if (file && std::fflush(file.get()) != 0) fail();
  }
  void write(std::int64_t epoch, const Scalars& scalars) {
    Message all;
    for (const auto& [name, number] : scalars) {
      if (!std::isfinite(number)) continue;
      Message one;
      one.bytes(tag, name);
      one.real32(simple_value, static_cast<float>(number));
      all.bytes(value, one.content());
    }
    Message event = event_at(epoch);
    event.bytes(summary, all.content());
    write(event);
  }
  void write_epoch(const std::optional<EpochDone>& epoch) {
    if (epoch) write(epoch->epoch, scalars_of(*epoch));
  }
};

TensorBoardWriter::TensorBoardWriter(const std::string& folder, std::int64_t first_epoch,
                                     double epoch_period_s) {
  char host[256] = "host";
  ::gethostname(host, sizeof host - 1);
  const auto microseconds = static_cast<long long>(now_s() * 1e6);
  output_ = std::make_unique<Output>(
      Output{core::text(folder, "/events.out.tfevents.", microseconds / 1'000'000, ".", host, ".",
                        ::getpid(), ".", microseconds % 1'000'000),
             ThinnedEpochs(epoch_period_s)});
  output_->file.reset(std::fopen(output_->path.c_str(), "we"));
  if (!output_->file) output_->fail();
  Message version;
  version.real(wall_time, now_s());
  version.bytes(file_version, "brain.Event:2");
  output_->write(version);
  Message begins;
  begins.number(status, session_start);
  Message event = event_at(first_epoch);
  event.bytes(session, begins.content());
  output_->write(event);
}

TensorBoardWriter::~TensorBoardWriter() {
  try {
    output_->write_epoch(output_->epochs.take_held_back());
  } catch (const core::StorageError&) {
    // The run is over and its results matter more than one point of a curve.
  }
}

void TensorBoardWriter::operator()(const Event& event) {
  if (const auto* epoch = std::get_if<EpochDone>(&event)) {
    output_->write_epoch(output_->epochs.next(*epoch));
  } else if (const auto* evaluated = std::get_if<Evaluated>(&event)) {
    output_->write(evaluated->epoch, scalars_of(*evaluated));
  } else if (const auto* exchanged = std::get_if<Exchanged>(&event)) {
    output_->write(exchanged->epoch, scalars_of(*exchanged));
  } else if (const auto* spent = std::get_if<TimeSpent>(&event)) {
    output_->write(spent->epoch, scalars_of(*spent));
  } else if (const auto* used = std::get_if<MachineUse>(&event)) {
    output_->write(used->epoch, scalars_of(*used));
  } else if (std::holds_alternative<RunFinished>(event)) {
    output_->write_epoch(output_->epochs.take_held_back());
    output_->flush();
  }
}

}  // namespace sagips::record
