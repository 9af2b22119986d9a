# sagips_add_version(TARGET)
#   compiles version and git hash into TARGET, as one small source behind sagips/core/version.hpp. The hash is asked
#   for in every build; the source is only written, and compiled, when the answer has changed.
function(sagips_add_version target)
  set(source "${PROJECT_BINARY_DIR}/generated/version.cpp")
  set(plugin_build "${PROJECT_BINARY_DIR}/generated/sagips_plugin_build.h")
  add_custom_target(sagips_version_source
    COMMAND "${CMAKE_COMMAND}" "-DVERSION=${PROJECT_VERSION}" "-DCHECKOUT=${PROJECT_SOURCE_DIR}"
            "-DTEMPLATE=${PROJECT_SOURCE_DIR}/cmake/version.cpp.in" "-DOUTPUT=${source}"
            "-DPLUGIN_TEMPLATE=${PROJECT_SOURCE_DIR}/cmake/sagips_plugin_build.h.in" "-DPLUGIN_OUTPUT=${plugin_build}"
            -P "${PROJECT_SOURCE_DIR}/cmake/WriteVersion.cmake"
    BYPRODUCTS "${source}" "${plugin_build}"
    COMMENT "Asking git which commit this is")
  target_sources(${target} PRIVATE "${source}")
  add_dependencies(${target} sagips_version_source)
endfunction()
