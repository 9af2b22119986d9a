#include "sagips/core/config/config_yaml.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <optional>
#include <sstream>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {
namespace {

using Kind = ConfigValue::Kind;

/// No sensible config is deeper, and what reads it may recurse safely.
constexpr std::size_t deepest = 50;

/// Builds our values from the parser's events.
///
/// Not from YAML::Load: that keeps the second value of a key beside the first, ignores what follows
/// the first document, and yaml-cpp 0.7's LoadAll never ends on a text that begins with a comma.
class Builder : public YAML::EventHandler {
 public:
  Builder(const std::string& origin, Places places) : origin_(origin), places_(places) {}

  std::string at(const YAML::Mark& mark) const {
    return places_ == Places::with_lines && mark.line >= 0 ? text(origin_, ":", mark.line + 1)
                                                           : origin_;
  }
  ConfigValue take() {
    if (problem_) throw *problem_;
    return std::move(root_);
  }

  void OnDocumentStart(const YAML::Mark& mark) override {
    if (started_)
      throw ConfigError(at(mark),
                        "is not valid YAML: something follows the first document. Keep one "
                        "document, and put texts with special characters in quotes.");
    started_ = true;
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t) override {
    if (expects_key()) return begin_odd_member(mark);
    add(value_at(mark, Kind::none));
  }
  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    note(mark, "aliases ('*name') are not followed. Write the value out.");
    OnNull(mark, anchor);
  }
  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t,
                const std::string& scalar) override {
    if (expects_key()) return begin_member(mark, scalar);
    ConfigValue value = value_at(mark, Kind::scalar);
    value.scalar = scalar;
    value.quoted = tag == "!";  // the parser's tag of every scalar that is not plain
    add(std::move(value));
  }
  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    open(mark, Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    open(mark, Kind::group);
  }
  void OnMapEnd() override { close(); }

 private:
  /// A list or group whose end has not come yet.
  struct Open {
    ConfigValue value;
    std::optional<std::string> key;  ///< of the member whose value comes next
    std::string key_where;
  };

  ConfigValue value_at(const YAML::Mark& mark, Kind kind) const {
    return {kind, at(mark), {}, false, {}, {}};
  }
  bool expects_key() const {
    return !open_.empty() && open_.back().value.kind == Kind::group && !open_.back().key;
  }
  // Kept until the whole text is read: where it is no valid YAML, that is the better message.
  void note(const YAML::Mark& mark, const std::string& problem) {
    if (!problem_) problem_.emplace(at(mark), problem);
  }
  void begin_member(const YAML::Mark& mark, const std::string& name) {
    Open& group = open_.back();
    if (const ConfigValue* earlier = group.value.find(name))
      note(mark, text("'", excerpt(name), "' is set twice (first at ", earlier->where,
                      "). Keep one of them."));
    group.key = name;
    group.key_where = at(mark);
  }
  void begin_odd_member(const YAML::Mark& mark) {
    note(mark, "a key must be one word. Write it as 'name: value'.");
    open_.back().key = "";
  }
  void add(ConfigValue value) {
    if (open_.empty()) {
      root_ = std::move(value);
    } else if (Open& inside = open_.back(); inside.value.kind == Kind::list) {
      inside.value.items.push_back(std::move(value));
    } else {
      value.where = inside.key_where;
      inside.value.members.push_back({std::move(*inside.key), std::move(value)});
      inside.key.reset();
    }
  }
  void open(const YAML::Mark& mark, Kind kind) {
    if (expects_key()) begin_odd_member(mark);
    if (open_.size() == deepest)
      throw ConfigError(at(mark), text("nested deeper than ", deepest, " levels. Flatten it."));
    open_.push_back({value_at(mark, kind), std::nullopt, {}});
  }
  void close() {
    ConfigValue value = std::move(open_.back().value);
    open_.pop_back();
    add(std::move(value));
  }

  const std::string& origin_;
  Places places_;
  bool started_ = false;
  std::vector<Open> open_;
  ConfigValue root_;
  std::optional<ConfigError> problem_;
};

}  // namespace

ConfigValue parse_yaml(const std::string& yaml, const std::string& origin, Places places) {
  Builder builder(origin, places);
  try {
    std::istringstream stream(yaml);
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const YAML::Exception& failure) {
    throw ConfigError(builder.at(failure.mark), text("is not valid YAML: ", failure.msg, "."));
  }
  return builder.take();
}

}  // namespace sagips::core
