# sagips_add_bench(NAME SOURCES ... [USES layer ...] [TORCH] [COMMAND ...])
#   one program that measures and prints its figures, run by itself or by the command;
#   `make bench` builds and runs them all, one after the other.
#   TORCH compiles it with LibTorch's precompiled header. Never part of the tests: a figure is no verdict.
add_custom_target(bench COMMENT "")
function(sagips_add_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 bench "TORCH" "" "SOURCES;USES;PRIVATE_USES;COMMAND")
  add_executable(${name} EXCLUDE_FROM_ALL ${bench_SOURCES})
  sagips_compile_settings(${name})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  foreach(layer IN LISTS bench_USES)
    target_link_libraries(${name} PRIVATE sagips::${layer})
  endforeach()
  target_link_libraries(${name} PRIVATE ${bench_PRIVATE_USES})
  if(bench_TORCH)
    sagips_use_torch_header(${name})
  endif()

  if(NOT bench_COMMAND)
    set(bench_COMMAND ${name})
  endif()
  sagips_chain_bench(${name} ${bench_COMMAND})
endfunction()

# sagips_chain_bench(NAME command ...)
#   runs the command as the next link of one chain: two programs at a time would measure each other
function(sagips_chain_bench name)
  get_property(previous GLOBAL PROPERTY SAGIPS_LAST_BENCH)
  add_custom_target(run_${name}
    COMMAND ${ARGN} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}" USES_TERMINAL VERBATIM COMMENT "bench: ${name}")
  add_dependencies(run_${name} ${name})
  if(previous)
    add_dependencies(run_${name} run_${previous})
  endif()
  add_dependencies(bench run_${name})
  set_property(GLOBAL PROPERTY SAGIPS_LAST_BENCH ${name})
endfunction()
