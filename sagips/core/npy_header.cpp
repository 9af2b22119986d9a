#include "sagips/core/npy_header.hpp"

#include <bit>
#include <charconv>
#include <optional>

#include "sagips/core/error.hpp"
#include "sagips/core/text.hpp"

namespace sagips::core {
namespace {

constexpr std::string_view magic = "\x93NUMPY";
constexpr std::size_t largest_rank = 32;  // numpy's own limit

[[noreturn]] void refuse(const std::string& file, const std::string& problem) {
  throw DataError(file, problem);
}

[[noreturn]] void refuse_broken(const std::string& file, const std::string& what) {
  refuse(file, text("broken .npy header (", what, "). Write the file again with numpy.save."));
}

/// Walks the header, which is the printed form of a Python dictionary.
class DictionaryReader {
 public:
  DictionaryReader(std::string_view header, const std::string& file) : rest_(header), file_(file) {}

  bool take(char wanted) {
    skip_blanks();
    if (rest_.empty() || rest_.front() != wanted) return false;
    rest_.remove_prefix(1);
    return true;
  }
  void expect(char wanted) {
    if (!take(wanted)) refuse_broken(file_, text("'", wanted, "' is missing"));
  }
  bool next_is(char wanted) {
    skip_blanks();
    return !rest_.empty() && rest_.front() == wanted;
  }
  bool at_end() {
    skip_blanks();
    return rest_.empty();
  }
  std::string quoted() {
    skip_blanks();
    const char quote = rest_.empty() ? '\0' : rest_.front();
    if (quote != '\'' && quote != '"') refuse_broken(file_, "a quoted word is missing");
    const std::size_t end = rest_.find(quote, 1);
    if (end == std::string_view::npos) refuse_broken(file_, "a quote is not closed");
    std::string word(rest_.substr(1, end - 1));
    rest_.remove_prefix(end + 1);
    return word;
  }
  bool truth() {
    skip_blanks();
    for (const auto& [word, value] : {std::pair{"True", true}, std::pair{"False", false}}) {
      if (!rest_.starts_with(word)) continue;
      rest_.remove_prefix(std::string_view(word).size());
      return value;
    }
    refuse_broken(file_, "'fortran_order' is neither True nor False");
  }
  std::vector<std::size_t> sizes() {
    std::vector<std::size_t> all;
    expect('(');
    while (!take(')')) {
      all.push_back(size());
      if (!take(',') && !next_is(')')) refuse_broken(file_, "the shape is no list of sizes");
    }
    return all;
  }

 private:
  void skip_blanks() {
    const std::size_t first = rest_.find_first_not_of(" \t\r\n");
    rest_.remove_prefix(first == std::string_view::npos ? rest_.size() : first);
  }
  std::size_t size() {
    skip_blanks();
    std::size_t value = 0;
    const auto end = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
    if (end.ec != std::errc{}) refuse_broken(file_, "the shape holds no valid size");
    rest_.remove_prefix(static_cast<std::size_t>(end.ptr - rest_.data()));
    return value;
  }

  std::string_view rest_;
  const std::string& file_;
};

struct Dictionary {
  std::optional<std::string> type;
  std::optional<bool> fortran_order;
  std::optional<std::vector<std::size_t>> shape;
};

template <class Value>
void set_once(std::optional<Value>& slot, Value value, const std::string& key,
              const std::string& file) {
  if (slot) refuse_broken(file, text("'", key, "' stands there twice"));
  slot = std::move(value);
}

Dictionary read_dictionary(std::string_view header, const std::string& file) {
  DictionaryReader reader(header, file);
  Dictionary found;
  reader.expect('{');
  while (!reader.take('}')) {
    const std::string key = reader.quoted();
    reader.expect(':');
    if (key == "descr") {
      if (reader.next_is('[') || reader.next_is('('))
        refuse(file, "holds structures, not plain numbers. Save one numeric array a file.");
      set_once(found.type, reader.quoted(), key, file);
    } else if (key == "fortran_order") {
      set_once(found.fortran_order, reader.truth(), key, file);
    } else if (key == "shape") {
      set_once(found.shape, reader.sizes(), key, file);
    } else {
      refuse_broken(file, text("unknown entry '", excerpt(key), "'"));
    }
    if (!reader.take(',') && !reader.next_is('}')) refuse_broken(file, "',' is missing");
  }
  if (!reader.at_end()) refuse_broken(file, "text follows the dictionary");
  if (!found.type || !found.fortran_order || !found.shape)
    refuse_broken(file, "'descr', 'fortran_order' and 'shape' must all be there");
  return found;
}

[[noreturn]] void refuse_type(const std::string& type, const std::string& file) {
  const char kind = type.size() > 1 ? type[1] : '\0';
  if (type.find('O') != std::string::npos)
    refuse(file,
           "holds pickled Python objects (reading them can execute code). "
           "Save plain numbers, e.g. array.astype('float32').");
  const std::string name = kind == 'c'                                 ? "complex numbers"
                           : kind == 'S' || kind == 'U' || kind == 'a' ? "text"
                           : kind == 'V'                               ? "structures"
                           : type.ends_with("f2")                      ? "half-precision numbers"
                                                                       : "an unknown type";
  refuse(file, text("holds ", name, " (dtype '", excerpt(type),
                    "'), which cannot be read. Save it as float32, e.g. array.astype('float32')."));
}

void read_type(const std::string& type, NpyHeader& header, const std::string& file) {
  if (type.size() != 3) refuse_type(type, file);
  const char order = type[0];
  header.kind = type[1];
  header.item_bytes = static_cast<std::size_t>(type[2] - '0');
  const std::string pair = type.substr(1);
  bool known = pair == "b1";
  for (const char* candidate : {"f4", "f8", "i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8"})
    known = known || pair == candidate;
  const bool ordered = order == '<' || order == '>' || order == '=';
  if (!known || !(ordered || (order == '|' && header.item_bytes == 1))) refuse_type(type, file);
  header.big_endian = order == '>' || (order == '=' && std::endian::native == std::endian::big);
}

std::size_t checked_count(const std::vector<std::size_t>& shape, std::size_t item_bytes,
                          const std::string& file) {
  if (shape.size() > largest_rank) refuse_broken(file, text(shape.size(), " dimensions"));
  std::size_t bytes = item_bytes;
  for (const std::size_t size : shape)
    if (__builtin_mul_overflow(bytes, size, &bytes))
      refuse_broken(file, "the shape names more numbers than any file can hold");
  return bytes / item_bytes;
}

std::size_t little_endian(std::string_view bytes) {
  std::size_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;)
    value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

// Preamble: magic, major and minor version, length of the dictionary (2 bytes in version 1, else
// 4).
std::string_view find_dictionary(std::string_view bytes, const std::string& file) {
  if (!bytes.starts_with(magic))
    refuse(file, "is not a .npy file (its first bytes differ). Write it with numpy.save.");
  const std::size_t after_version = magic.size() + 2;
  if (bytes.size() < after_version) refuse_broken(file, "the file ends inside it");
  const int major = static_cast<unsigned char>(bytes[magic.size()]);
  const int minor = static_cast<unsigned char>(bytes[magic.size() + 1]);
  if (major < 1 || major > 3 || minor != 0)
    refuse(file, text("has the unknown .npy version ", major, ".", minor,
                      ". Versions 1.0 to 3.0 can be read."));
  const std::size_t length_bytes = major == 1 ? 2 : 4;
  if (bytes.size() < after_version + length_bytes) refuse_broken(file, "the file ends inside it");
  const std::size_t start = after_version + length_bytes;
  const std::size_t length = little_endian(bytes.substr(after_version, length_bytes));
  if (length > bytes.size() - start) refuse_broken(file, "the file ends inside it");
  return bytes.substr(start, length);
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, const std::string& file) {
  const std::string_view text_form = find_dictionary(bytes, file);
  Dictionary dictionary = read_dictionary(text_form, file);
  NpyHeader header{};
  read_type(*dictionary.type, header, file);
  header.fortran_order = *dictionary.fortran_order;
  header.shape = std::move(*dictionary.shape);
  header.data_offset = static_cast<std::size_t>(text_form.data() - bytes.data()) + text_form.size();
  header.count = checked_count(header.shape, header.item_bytes, file);
  return header;
}

}  // namespace sagips::core
