#pragma once
#include <chrono>
#include <cstdint>

namespace sagips::core {

/// Is told what took how long; `record::Timeline` writes it down. Called from several threads.
/// Names are literals: only the pointers are kept.
class Tracer {
 public:
  using Clock = std::chrono::steady_clock;
  virtual ~Tracer() = default;
  virtual void add(const char* name, Clock::time_point begin, Clock::time_point end) = 0;
};

/// Times the scope from here to its end. Without a tracer it does nothing and reads no clock.
class Span {
 public:
  Span(Tracer* tracer, const char* name) : tracer_(tracer), name_(name) {
    if (tracer_) begin_ = Tracer::Clock::now();
  }
  Span(const Span&) = delete;
  Span& operator=(const Span&) = delete;
  ~Span() { end(); }
  /// Ends the span before the scope ends.
  void end() {
    if (tracer_) tracer_->add(name_, begin_, Tracer::Clock::now());
    tracer_ = nullptr;
  }

 private:
  Tracer* tracer_;
  const char* name_;
  Tracer::Clock::time_point begin_{};
};

}  // namespace sagips::core
