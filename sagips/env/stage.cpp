#include "sagips/env/stage.hpp"

#include <cxxabi.h>

#include <cstdlib>

namespace sagips::env {

std::string type_name(const std::type_info& type) {
  int status = 0;
  char* demangled = abi::__cxa_demangle(type.name(), nullptr, nullptr, &status);
  std::string name = status == 0 ? demangled : type.name();
  std::free(demangled);
  // "::" inside template arguments or the signature of a lambda is no namespace of the type
  int depth = 0;
  for (std::size_t i = name.size(); i-- > 0;) {
    if (name[i] == '>' || name[i] == ')' || name[i] == '}') ++depth;
    if (name[i] == '<' || name[i] == '(' || name[i] == '{') --depth;
    if (depth == 0 && name[i] == ':') return name.substr(i + 1);
  }
  return name;
}

}  // namespace sagips::env
