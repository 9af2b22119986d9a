# sagips_embed_text(TARGET FILE HEADER NAMESPACE VARIABLE)
#   compiles a text file into TARGET as `const char* const VARIABLE`, which HEADER declares.
function(sagips_embed_text target file header namespace variable)
  set(path "${CMAKE_CURRENT_SOURCE_DIR}/${file}")
  file(READ "${path}" content)
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${path}")
  set(generated "${CMAKE_CURRENT_BINARY_DIR}/${variable}.cpp")
  file(CONFIGURE OUTPUT "${generated}" @ONLY CONTENT
"#include \"${header}\"

namespace ${namespace} {

const char* const ${variable} = R\"text(${content})text\";

}  // namespace ${namespace}
")
  target_sources(${target} PRIVATE "${generated}")
endfunction()
