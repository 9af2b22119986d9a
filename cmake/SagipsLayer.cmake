# sagips_add_layer(NAME [TORCH] [COLD] SOURCES ... [USES layer ...] [PRIVATE_USES target ...])
#   one static library sagips::NAME; USES are the layers below it (public), PRIVATE_USES are outside
#   libraries that no public header shows. TORCH adds LibTorch and its precompiled header. COLD is for what only reads,
#   writes and prints.
function(sagips_add_layer name)
  cmake_parse_arguments(PARSE_ARGV 1 layer "TORCH;COLD" "" "SOURCES;USES;PRIVATE_USES")
  add_library(sagips_${name} STATIC ${layer_SOURCES})
  add_library(sagips::${name} ALIAS sagips_${name})
  sagips_compile_settings(sagips_${name})
  target_compile_features(sagips_${name} PUBLIC cxx_std_20)
  target_include_directories(sagips_${name} PUBLIC
    "$<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}>" "$<INSTALL_INTERFACE:include>")
  foreach(lower IN LISTS layer_USES)
    target_link_libraries(sagips_${name} PUBLIC sagips::${lower})
  endforeach()
  target_link_libraries(sagips_${name} PRIVATE ${layer_PRIVATE_USES})
  if(layer_TORCH)
    sagips_use_torch(sagips_${name})
  endif()
  if(layer_COLD)
    sagips_compile_quickly(sagips_${name})
  endif()
  if(CMAKE_CURRENT_SOURCE_DIR MATCHES "^${PROJECT_SOURCE_DIR}/sagips/")
    set_target_properties(sagips_${name} PROPERTIES EXPORT_NAME ${name})
    set_property(GLOBAL APPEND PROPERTY SAGIPS_LAYERS ${name})
  endif()
endfunction()

# sagips_add_optional_source(LAYER SOURCE [LIBRARY target] [DEFINITIONS ...])
#   a source of the layer that alone sees an outside library, or stands in for one that is not here. It is compiled by
#   itself: a library that is installed later recompiles nothing else, and a program can bring its own in its place.
function(sagips_add_optional_source layer source)
  cmake_parse_arguments(PARSE_ARGV 2 optional "" "LIBRARY" "DEFINITIONS")
  get_filename_component(name "${source}" NAME_WE)
  set(object sagips_${layer}_${name})
  add_library(${object} OBJECT ${source})
  sagips_compile_settings(${object})
  target_include_directories(${object} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${object} PRIVATE ${optional_DEFINITIONS})
  target_sources(sagips_${layer} PRIVATE "$<TARGET_OBJECTS:${object}>")
  if(optional_LIBRARY)
    target_link_libraries(${object} PRIVATE ${optional_LIBRARY})
    target_link_libraries(sagips_${layer} INTERFACE "$<LINK_ONLY:${optional_LIBRARY}>")
  endif()
endfunction()

# Warnings and sanitizers, for layers and programs alike. Paths of the checkout stay out of the objects
# (-fmacro-prefix-map), so an installed copy does not tell where it was built.
function(sagips_compile_settings target)
  target_compile_options(${target} PRIVATE
    -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wno-sign-conversion
    "-fmacro-prefix-map=${PROJECT_SOURCE_DIR}/=")
  if(CMAKE_UNITY_BUILD)  # a source is included there, and its helpers are seen by its neighbours
    target_compile_options(${target} PRIVATE -Wno-shadow -Wno-subobject-linkage)
  endif()
  if(SAGIPS_WARNINGS_AS_ERRORS)
    target_compile_options(${target} PRIVATE -Werror)
  endif()
  if(SAGIPS_SANITIZER STREQUAL "address")
    set(sanitizers -fsanitize=address,undefined -fno-sanitize-recover=undefined)
  elseif(SAGIPS_SANITIZER STREQUAL "thread")
    set(sanitizers -fsanitize=thread)
  endif()
  if(sanitizers)
    # g++ with a sanitizer takes standard headers (std::regex) for uninitialised; the dev build keeps that warning.
    target_compile_options(${target} PRIVATE ${sanitizers} -fno-omit-frame-pointer -Wno-maybe-uninitialized)
    target_link_options(${target} PUBLIC ${sanitizers})
  endif()
endfunction()

# For what spends no time in loops of its own: a third of the compiler's time is saved, and no number changes (nothing
# here is compiled with -ffast-math).
function(sagips_compile_quickly target)
  target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O1>)
endfunction()

# LibTorch for a target. Its headers take most of a source's compile time: one precompiled header serves all targets,
# made of what sagips/data/torch.hpp includes.
function(sagips_use_torch target)
  target_link_libraries(${target} PUBLIC SlimTorch::torch)
  sagips_use_torch_header(${target})
endfunction()

# Only the precompiled header, for a target that gets LibTorch through a layer.
function(sagips_use_torch_header target)
  if(NOT SAGIPS_USE_PRECOMPILED_HEADER)
    return()
  endif()
  if(NOT TARGET sagips_torch_header)
    file(GENERATE OUTPUT "${PROJECT_BINARY_DIR}/torch_header.cpp" CONTENT "")
    add_library(sagips_torch_header OBJECT "${PROJECT_BINARY_DIR}/torch_header.cpp")
    sagips_compile_settings(sagips_torch_header)
    target_link_libraries(sagips_torch_header PRIVATE SlimTorch::torch)
    target_precompile_headers(sagips_torch_header PRIVATE <torch/autograd.h> <torch/types.h> <torch/utils.h>)
  endif()
  target_precompile_headers(${target} REUSE_FROM sagips_torch_header)
  # LibTorch's headers leave templates to be instantiated at the end of every source, precompiled or not: three seconds.
  if(CMAKE_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD_BATCH_SIZE 8)
  endif()
endfunction()
