# sagips_embed_skeletons(TARGET KIND LANGUAGE FOLDER ...)
#   compiles the files of example folders into TARGET, behind sagips/cli/skeletons.hpp: what `sagips new` writes is what
#   the tests of the examples run.
function(sagips_embed_skeletons target)
  set(entries "")
  set(triples ${ARGN})
  while(triples)
    list(POP_FRONT triples kind language folder)
    string(APPEND entries "      {\"${kind}\", \"${language}\", {\n")
    file(GLOB files RELATIVE "${PROJECT_SOURCE_DIR}/${folder}" CONFIGURE_DEPENDS
      "${PROJECT_SOURCE_DIR}/${folder}/*.*")
    foreach(name IN LISTS files)
      if(name MATCHES "\\.pt$")
        continue()  # left by somebody who tried the example
      endif()
      set(path "${PROJECT_SOURCE_DIR}/${folder}/${name}")
      file(READ "${path}" content)
      string(APPEND entries "        {\"${name}\", R\"skeleton(${content})skeleton\"},\n")
      set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
    endforeach()
    string(APPEND entries "      }},\n")
  endwhile()
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/skeletons.cpp")
  file(CONFIGURE OUTPUT "${generated}" @ONLY CONTENT
"#include \"sagips/cli/skeletons.hpp\"

namespace sagips::cli {

const std::vector<Skeleton>& skeletons() {
  static const std::vector<Skeleton> all = {
${entries}  };
  return all;
}

}  // namespace sagips::cli
")
  target_sources(${target} PRIVATE "${generated}")
  set_source_files_properties("${generated}" PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
endfunction()
