# sagips_add_workload(NAME SOURCES ... SETTINGS default.yaml ...)
#   library sagips::workload_NAME. Its settings files travel inside the program, so that it runs from anywhere:
#   `std::map<std::string, std::string> sagips::workloads::NAME_settings()`, by file name without extension.
function(sagips_add_workload name)
  cmake_parse_arguments(PARSE_ARGV 1 workload "" "" "SOURCES;SETTINGS")
  set(entries "")
  foreach(file IN LISTS workload_SETTINGS)
    file(READ "${CMAKE_CURRENT_SOURCE_DIR}/${file}" content)
    get_filename_component(settings ${file} NAME_WE)
    string(APPEND entries "      {\"${settings}\", R\"yaml(${content})yaml\"},\n")
    set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${file}")
  endforeach()
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/${name}_settings.cpp")
  file(CONFIGURE OUTPUT "${generated}" @ONLY CONTENT
"#include <map>
#include <string>

namespace sagips::workloads {

std::map<std::string, std::string> ${name}_settings();

std::map<std::string, std::string> ${name}_settings() {
  return {
${entries}  };
}

}  // namespace sagips::workloads
")
  sagips_add_layer(workload_${name} TORCH SOURCES ${workload_SOURCES} USES core data env problem)
  # no LibTorch in the generated text, so it needs no precompiled header
  target_sources(sagips_workload_${name} PRIVATE "${generated}")
  set_source_files_properties("${generated}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
