#pragma once
#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace sagips::core {

/// Which numbers a field accepts. Bounds are included unless `open_*` says otherwise; non-finite
/// numbers never pass.
struct Range {
  double lowest = -std::numeric_limits<double>::infinity();
  double highest = std::numeric_limits<double>::infinity();
  bool open_lowest = false;
  bool open_highest = false;
  std::string text() const;  ///< "> 0", "0 .. 1", empty when everything passes
  bool contains(double value) const;

  static Range positive() { return {0.0, std::numeric_limits<double>::infinity(), true, false}; }
  static Range at_least(double lowest) {
    return {lowest, std::numeric_limits<double>::infinity(), false, false};
  }
  static Range between(double lowest, double highest) { return {lowest, highest, false, false}; }
};

class FieldList;

/// A struct whose members are listed once, in `void fields(FieldList&)`: that list reads it, writes
/// it and explains it.
template <class T>
concept Described = requires(T value, FieldList& list) {
  value.fields(list);
};

/// Whether a path is a name on another machine ("s3://...", "root://..."), which no folder precedes.
bool is_remote(const std::string& path);

/// What a path of a config names: a relative one counts from the folder of the YAML that holds it.
/// folder: empty for the current one, where those of the command line count from
std::string path_from(const std::string& folder, const std::string& path);

/// One group of a list of groups, or of groups by name, as a config gives it.
struct GivenItem {
  std::string name;                            ///< the user's, or its number in a list
  std::string key;                             ///< dotted, for messages: "pipeline.0"
  std::string where;                           ///< "paper.yaml:12"
  std::vector<std::string> keys;               ///< all that are set, in the user's order
  std::map<std::string, std::string> scalars;  ///< those that hold a single value, as text
  /// The folder of the YAML that sets each of these, as `path_from` takes it.
  std::map<std::string, std::string> folders;
  /// Fills the fields of this item at once. throws: ConfigError
  std::function<void(FieldList& fields)> fill;
};

/// A struct whose fields depend on which keys are set, such as the stages of a pipeline.
template <class T>
concept MadeFromKeys = Described<T> && requires(const GivenItem& given) {
  { T::from(given) } -> std::same_as<T>;
};

/// A struct of which a list may hold several kinds: `T::kinds()` gives one item of each.
template <class T>
concept HasKinds = Described<T> && requires {
  { T::kinds() } -> std::same_as<std::vector<T>>;
};

/// Names that stand for any item where fields are described: of a list, of groups by name.
inline constexpr const char* any_number = "N";
inline constexpr const char* any_name = "NAME";

/// The one list of a config struct's fields. Everything that handles configs walks it, so nothing
/// can be forgotten.
///
///   struct AdamConfig {
///     double learning_rate = 1e-4;
///     void fields(core::FieldList& list) {
///       list.add("learning_rate", learning_rate, "step size of Adam", core::Range::positive());
///     }
///   };
///
/// The help text says unit and source where there is one ("GeV", "SAGIPS paper, Sec. VI").
class FieldList {
 public:
  FieldList();
  ~FieldList();
  FieldList(FieldList&&) noexcept;
  FieldList& operator=(FieldList&&) noexcept;

  void add(std::string name, bool& value, std::string help);
  void add(std::string name, std::int64_t& value, std::string help, Range range = {});
  void add(std::string name, double& value, std::string help, Range range = {});
  void add(std::string name, std::string& value, std::string help);
  void add(std::string name, std::optional<double>& value, std::string help, Range range = {});
  void add(std::string name, std::vector<double>& value, std::string help, Range range = {});
  void add(std::string name, std::vector<std::int64_t>& value, std::string help, Range range = {});
  void add(std::string name, std::vector<std::string>& value, std::string help);
  /// One word may stand in place of the numbers; the list is empty then.
  void add_numbers_or(std::string name, const std::string& word, std::vector<std::int64_t>& value,
                      std::string help, Range range = {});
  void add(std::string name, std::map<std::string, double>& value, std::string help);

  /// A file or folder. A relative one of a YAML counts from that YAML's folder, one of the command line
  /// from the current folder; it is written as an absolute one, so that what is written serves from
  /// everywhere. words: what may stand there and is no path
  void add_path(std::string name, std::string& value, std::string help,
                std::vector<std::string> words = {});
  /// One of these or a list of them; a remote name is taken as it is.
  void add_paths(std::string name, std::vector<std::string>& value, std::string help);

  /// One of a few words. `get` and `set` translate; see `choice` for enums.
  void add_choice(std::string name, std::vector<std::string> words,
                  std::function<std::string()> get, std::function<void(const std::string&)> set,
                  std::string help);

  template <class Enum>
  void choice(std::string name, Enum& value, std::vector<std::pair<std::string, Enum>> words,
              std::string help) {
    std::vector<std::string> names;
    names.reserve(words.size());
    for (const auto& word : words) names.push_back(word.first);
    std::function<std::string()> get = [&value, words] {
      for (const auto& word : words)
        if (word.second == value) return word.first;
      return std::string{};
    };
    std::function<void(const std::string&)> set = [&value, words](const std::string& chosen) {
      for (const auto& word : words)
        if (word.first == chosen) value = word.second;
    };
    add_choice(std::move(name), std::move(names), std::move(get), std::move(set), std::move(help));
  }

  /// A nested struct: its fields get the path "name.".
  template <Described T>
  void group(std::string name, T& nested, std::string help) {
    FieldList inner;
    nested.fields(inner);
    add_group(std::move(name), std::move(inner), std::move(help));
  }
  void add_group(std::string name, FieldList inner, std::string help);

  /// A list of groups, `pipeline: [{script: a.pt}, {detector: {}}]`; a config replaces it as a
  /// whole, `pipeline.0.script=b.pt` changes one value of one item. `T::from(given)` makes an item
  /// whose fields depend on what is set; else it begins as `T{}`.
  template <Described T>
  void list(std::string name, std::vector<T>& items, std::string help);

  /// Groups by names that the user chooses, `parameters: {lifetime: {low: 0.1, high: 5}}`. T has a
  /// member `name`.
  template <Described T>
  void named_groups(std::string name, std::vector<T>& items, std::string help);

  /// What lists and named groups have in common, without the items' type.
  struct NamedFields;
  struct Items {
    std::function<std::vector<NamedFields>()> now;  ///< the items that are there
    /// One item of each kind, whether or not there are any: what an item may hold.
    std::function<std::vector<NamedFields>()> kinds;
    /// Makes new items of what is given; the result puts them in place.
    std::function<std::function<void()>(const std::vector<GivenItem>&)> read;
  };
  void add_list(std::string name, Items items, std::string help);
  void add_named_groups(std::string name, Items items, std::string help);

  struct Entry;
  const std::vector<Entry>& entries() const;

 private:
  template <class T>
  static std::vector<NamedFields> described(std::vector<T>& items);
  template <class T>
  static std::shared_ptr<std::vector<T>> kinds_of() {
    if constexpr (HasKinds<T>)
      return std::make_shared<std::vector<T>>(T::kinds());
    else if constexpr (MadeFromKeys<T>)
      return std::make_shared<std::vector<T>>();
    else
      return std::make_shared<std::vector<T>>(1);
  }
  template <class T>
  static T made(const GivenItem& given) {
    if constexpr (MadeFromKeys<T>)
      return T::from(given);
    else
      return T{};
  }
  template <class T>
  static T filled(T item, const GivenItem& given) {
    FieldList fields;
    item.fields(fields);
    given.fill(fields);
    return item;
  }

  std::unique_ptr<std::vector<Entry>> entries_;
};

struct FieldList::NamedFields {
  std::string name;  ///< or number
  FieldList fields;
};

template <class T>
std::vector<FieldList::NamedFields> FieldList::described(std::vector<T>& items) {
  std::vector<NamedFields> now(items.size());
  for (std::size_t i = 0; i < items.size(); ++i) {
    now[i].name = std::to_string(i);
    items[i].fields(now[i].fields);
  }
  return now;
}

template <Described T>
void FieldList::list(std::string name, std::vector<T>& items, std::string help) {
  Items access;
  access.now = [&items] { return described(items); };
  access.kinds = [kinds = kinds_of<T>()] { return described(*kinds); };
  access.read = [&items](const std::vector<GivenItem>& given) {
    auto fresh = std::make_shared<std::vector<T>>();
    for (const GivenItem& one : given) fresh->push_back(filled(made<T>(one), one));
    return std::function<void()>([&items, fresh] { items = *fresh; });
  };
  add_list(std::move(name), std::move(access), std::move(help));
}

template <Described T>
void FieldList::named_groups(std::string name, std::vector<T>& items, std::string help) {
  Items access;
  access.now = [&items] {
    std::vector<NamedFields> now = described(items);
    for (std::size_t i = 0; i < now.size(); ++i) now[i].name = items[i].name;
    return now;
  };
  access.kinds = [kinds = kinds_of<T>()] {
    for (T& kind : *kinds) kind.name = any_name;  // help texts may hold it
    return described(*kinds);
  };
  access.read = [&items](const std::vector<GivenItem>& given) {
    auto fresh = std::make_shared<std::vector<T>>(items);
    for (const GivenItem& one : given) {
      const auto same = [&](const T& item) { return item.name == one.name; };
      auto place = std::find_if(fresh->begin(), fresh->end(), same);
      if (place == fresh->end()) place = fresh->insert(place, made<T>(one));
      place->name = one.name;
      *place = filled(std::move(*place), one);
    }
    return std::function<void()>([&items, fresh] { items = *fresh; });
  };
  add_named_groups(std::move(name), std::move(access), std::move(help));
}

/// YAML text with the place of each value, and overrides laid over it.
///
/// Stricter than YAML where that hides mistakes: a key twice, aliases and several documents are
/// refused. Every function that reads throws ConfigError.
class ConfigDocument {
 public:
  ConfigDocument();  ///< empty: every field keeps its default
  static ConfigDocument from_file(const std::string& path);
  static ConfigDocument from_text(const std::string& yaml, const std::string& origin);
  ~ConfigDocument();
  ConfigDocument(ConfigDocument&&) noexcept;
  ConfigDocument& operator=(ConfigDocument&&) noexcept;
  ConfigDocument(const ConfigDocument&);
  ConfigDocument& operator=(const ConfigDocument&);

  /// Lays `a.b=value` over what is there; the value is YAML ("[1, 2]", "true", "1e-4"), and `a.b=`
  /// an empty text. Throws ConfigError when there is no '='.
  void override_with(const std::string& assignment);
  /// Lays all values of `upper` over this document, keeping their places for error messages. Groups
  /// are merged, lists replaced; a group whose names are numbers changes those items of a list; a
  /// group over a single value is a ConfigError.
  void lay_over(const ConfigDocument& upper);
  /// Takes a key away with all below it, where it is there; "channels.*.pipeline" takes that of each
  /// channel.
  void remove(const std::string& dotted_key);
  /// The value of a top-level scalar such as `workload`, if it is there. Does not mark it as known.
  std::optional<std::string> scalar(const std::string& key) const;
  /// Where a key was set: "paper.yaml:12" or "command line"; empty when it was not.
  std::string where(const std::string& dotted_key) const;

 private:
  struct Content;
  std::unique_ptr<Content> content_;
  friend void read_fields(const ConfigDocument&, FieldList&);
};

/// Fills the fields from the document. An unknown key, a wrong type or a value out of range is a
/// ConfigError with the place, the dotted key, what is allowed, and for unknown keys the nearest
/// known one; then no field has changed. A list or map replaces its default as a whole.
void read_fields(const ConfigDocument& document, FieldList& fields);

/// The fields as YAML, in the order of the list, every value so that it reads back identically.
std::string write_fields(const FieldList& fields);

/// Those fields alone that have an effect and whose values are not the `usual` ones, for a YAML in the
/// folder `beside`: paths inside it are written relative to it, so that it can move with what it names.
std::string write_changes(const FieldList& fields, const FieldList& usual,
                          const std::string& beside);

/// One line a field, and one of type "group" before each group's fields: dotted key, type and
/// range, current value, help. Fields that an item of a list, or of groups by name, may have follow
/// those of the items, as `list.N.key` and `groups.NAME.key`. `prefix` limits it to a key or a
/// group; unknown: ConfigError.
struct FieldDescription {
  std::string key, type, range, value, help;
};
std::vector<FieldDescription> describe_fields(const FieldList& fields,
                                              const std::string& prefix = {});

template <Described T>
T read_config(const ConfigDocument& document, T config) {
  FieldList list;
  config.fields(list);
  read_fields(document, list);
  return config;
}

template <Described T>
std::string write_config(T config) {
  FieldList list;
  config.fields(list);
  return write_fields(list);
}

}  // namespace sagips::core
