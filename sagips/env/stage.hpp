#pragma once
#include <concepts>
#include <cstdint>
#include <memory>
#include <string>
#include <typeinfo>
#include <utility>

#include "sagips/data/torch.hpp"
#include "sagips/env/events.hpp"
#include "sagips/env/noise/noise.hpp"

namespace sagips::env {

/// A stage that sees everything that flows.
template <class T>
concept EventStage = std::copy_constructible<T> &&
    requires(const T stage, Events input, Noise& noise) {
  { stage(std::move(input), noise) } -> std::same_as<Events>;
};

/// A stage that only maps a tensor; weights, mask and numbers pass it by.
template <class T>
concept TensorStage = std::copy_constructible<T> && !EventStage<T> &&
                      requires(const T stage, torch::Tensor input, Noise& noise) {
  { stage(std::move(input), noise) } -> std::convertible_to<torch::Tensor>;
};

/// The demangled name of a type, without its namespaces.
std::string type_name(const std::type_info& type);

/// Holds any copyable value with one differentiable call operator.
///
///   struct Shift {
///     torch::Tensor operator()(torch::Tensor events, env::Noise& noise) const;
///   };
///
/// Optional members: `std::string name() const` (default: the type's name), and `infer` with the
/// same arguments as the call operator for a form that needs no gradient (default: the call
/// operator), `bool differentiable() const` (default: true), and `bool checks_product() const`: its
/// vector-Jacobian product is written by hand, and the dry run compares it with differences
/// (default: false), `std::int64_t processes() const`: how many calls at a time are answered by
/// simulators outside this program (default: 0, none), `std::int64_t keep_answers(path) const`: from
/// now on its answers are kept in that file and found there; returns how many are (default: none are),
/// and `std::string remark() const`: what whoever reads the results must know of the calls so far
/// (default: nothing).
class Stage {
 public:
  // Implicit: a user writes Pipeline{MyStage{}}.
  template <class T>
  requires(!std::same_as<T, Stage> && (EventStage<T> || TensorStage<T>))
      Stage(T stage)  // NOLINT(google-explicit-constructor)
      : held_(std::make_shared<const Held<T>>(std::move(stage))) {}

  /// The differentiable form, for training.
  Events operator()(Events input, Noise& noise) const {
    return held_->train(std::move(input), noise);
  }
  /// The form for generated and measured events: it may drop events through the mask.
  Events infer(Events input, Noise& noise) const { return held_->infer(std::move(input), noise); }
  std::string name() const { return held_->name(); }
  /// False: gradients end here, so that only solvers without gradients can use the pipeline.
  bool differentiable() const { return held_->differentiable(); }
  bool checks_product() const { return held_->checks_product(); }
  std::int64_t processes() const { return held_->processes(); }
  std::string remark() const { return held_->remark(); }
  std::int64_t keep_answers(const std::string& path) const { return held_->keep_answers(path); }

 private:
  struct Interface {
    virtual ~Interface() = default;
    virtual Events train(Events input, Noise& noise) const = 0;
    virtual Events infer(Events input, Noise& noise) const = 0;
    virtual std::string name() const = 0;
    virtual bool differentiable() const = 0;
    virtual bool checks_product() const = 0;
    virtual std::int64_t processes() const = 0;
    virtual std::string remark() const = 0;
    virtual std::int64_t keep_answers(const std::string& path) const = 0;
  };

  template <class T>
  struct Held final : Interface {
    explicit Held(T value) : stage(std::move(value)) {}

    Events train(Events input, Noise& noise) const override {
      if constexpr (EventStage<T>) {
        return stage(std::move(input), noise);
      } else {
        input.values = stage(input.values, noise);
        return input;
      }
    }
    Events infer(Events input, Noise& noise) const override {
      if constexpr (requires {
                      { stage.infer(std::move(input), noise) } -> std::same_as<Events>;
                    }) {
        return stage.infer(std::move(input), noise);
      } else if constexpr (requires {
                             {
                               stage.infer(input.values, noise)
                               } -> std::convertible_to<torch::Tensor>;
                           }) {
        input.values = stage.infer(input.values, noise);
        return input;
      } else {
        return train(std::move(input), noise);
      }
    }
    std::string name() const override {
      if constexpr (requires {
                      { stage.name() } -> std::convertible_to<std::string>;
                    })
        return stage.name();
      else
        return type_name(typeid(T));
    }
    bool differentiable() const override {
      if constexpr (requires {
                      { stage.differentiable() } -> std::same_as<bool>;
                    })
        return stage.differentiable();
      else
        return true;
    }
    bool checks_product() const override {
      if constexpr (requires {
                      { stage.checks_product() } -> std::same_as<bool>;
                    })
        return stage.checks_product();
      else
        return false;
    }
    std::int64_t processes() const override {
      if constexpr (requires {
                      { stage.processes() } -> std::same_as<std::int64_t>;
                    })
        return stage.processes();
      else
        return 0;
    }
    std::int64_t keep_answers(const std::string& path) const override {
      if constexpr (requires { stage.keep_answers(path); })
        return stage.keep_answers(path);
      else
        return 0;
    }
    std::string remark() const override {
      if constexpr (requires {
                      { stage.remark() } -> std::same_as<std::string>;
                    })
        return stage.remark();
      else
        return {};
    }

    T stage;
  };

  std::shared_ptr<const Interface> held_;  // immutable, so sharing it is copying it
};

}  // namespace sagips::env
