#pragma once
#include <chrono>
#include <cstdint>

namespace sagips::core {

/// The rows of a trace: the kinds of work that a rank does; gpu: what its GPU does meanwhile.
enum class TraceRow { step, loading, compute, exchange, update, gpu, beside };

/// Something that took time, with a name. Names are literals, and networks' outlive the tracer: only the
/// pointers are kept.
struct TracedSpan {
  const char* name = "";
  TraceRow row = TraceRow::compute;
  std::chrono::steady_clock::time_point begin{}, end{};
  const char* network = nullptr;  ///< whose; nullptr: of none alone
  std::int64_t step = 0;          ///< of the training, from 1 on; 0: not told
};

/// Is told what took how long; `record::Timeline` writes it down. Called from several threads, at the end
/// of scopes: it throws nothing.
class Tracer {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~Tracer() = default;
  virtual void add(const TracedSpan& span) noexcept = 0;
};

/// Times the scope from here to its end. Without a tracer it does nothing and reads no clock.
class Span {
 public:
  Span(Tracer* tracer, const char* name, TraceRow row = TraceRow::compute) : tracer_(tracer) {
    if (tracer_) span_ = {.name = name, .row = row, .begin = Tracer::Clock::now()};
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() { end(); }
  /// Ends the span before the scope ends.
  void end() {
    if (tracer_) {
      span_.end = Tracer::Clock::now();
      tracer_->add(span_);
    }
    tracer_ = nullptr;
  }

 private:
  Tracer* tracer_;
  TracedSpan span_{};
};

}  // namespace sagips::core
