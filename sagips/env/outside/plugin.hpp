#pragma once
#include <torch/version.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "sagips/core/config/config.hpp"
#include "sagips/env/stage.hpp"

namespace sagips::env {

/// A stage that a config names, with its settings, before it is built.
class StagePlan {
 public:
  virtual ~StagePlan() = default;
  virtual void fields(core::FieldList& list) = 0;
  /// observables: of an event at the end of the pipeline
  virtual Stage make(std::int64_t observables) const = 0;
};

/// The stages of a plug-in, by name.
class PluginStages {
 public:
  struct Entry {
    std::string help;
    std::function<std::unique_ptr<StagePlan>()> plan;
  };

  /// A stage that is its own config (`void fields(core::FieldList&)`), one with a nested
  /// `struct Config` that it is made from, or one without settings.
  template <class T>
  void add(const std::string& name, const std::string& help) {
    entries_[name] = {help, [] { return std::make_unique<Plan<T>>(); }};
  }
  const std::map<std::string, Entry>& entries() const { return entries_; }

 private:
  template <class T>
  struct Settings {
    T stage{};
    void fields([[maybe_unused]] core::FieldList& list) {
      if constexpr (core::Described<T>) stage.fields(list);
    }
    Stage make() const { return stage; }
  };
  template <class T>
  requires core::Described<typename T::Config>
  struct Settings<T> {
    typename T::Config config{};
    void fields(core::FieldList& list) { config.fields(list); }
    Stage make() const { return T(config); }
  };
  template <class T>
  struct Plan final : StagePlan {
    Settings<T> settings{};
    void fields(core::FieldList& list) override { settings.fields(list); }
    Stage make(std::int64_t) const override { return settings.make(); }
  };

  std::map<std::string, Entry> entries_;
};

/// The stages of a shared library that was built with `sagips_add_plugin`. What it was built
/// against is read from the file before any of its code runs; it stays loaded.
/// throws: DataError when it is no plug-in, or was built for another SAGIPS, LibTorch or C++ ABI
PluginStages load_plugin(const std::string& path);

}  // namespace sagips::env

#define SAGIPS_PLUGIN_TEXT_OF(x) #x
#define SAGIPS_PLUGIN_TEXT(x) SAGIPS_PLUGIN_TEXT_OF(x)
#ifdef _GLIBCXX_USE_CXX11_ABI
#define SAGIPS_PLUGIN_CXX_ABI "libstdc++ strings " SAGIPS_PLUGIN_TEXT(_GLIBCXX_USE_CXX11_ABI)
#else
#define SAGIPS_PLUGIN_CXX_ABI "another C++ library"
#endif
#define SAGIPS_PLUGIN_SURROUNDINGS ", LibTorch " TORCH_VERSION ", " SAGIPS_PLUGIN_CXX_ABI
#define SAGIPS_PLUGIN_MARK "sagips plug-in for: "

/// What makes a source a plug-in, followed by a body that fills `stages`:
///   SAGIPS_PLUGIN(stages) { stages.add<Decay>("decay", "times of exponential decays"); }
/// SAGIPS_BUILD comes from `sagips_add_plugin`.
#define SAGIPS_PLUGIN(stages)                                                              \
  extern "C" __attribute__((used, visibility("default"))) const char sagips_plugin_tag[] = \
      SAGIPS_PLUGIN_MARK SAGIPS_BUILD SAGIPS_PLUGIN_SURROUNDINGS;                          \
  extern "C" __attribute__((visibility("default"))) void sagips_plugin_stages(             \
      [[maybe_unused]] ::sagips::env::PluginStages&(stages))
