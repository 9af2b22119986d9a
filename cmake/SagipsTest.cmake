# sagips_add_test(NAME [SLOW | LONG] [CASES] [TIMING] [TORCH] SOURCES ... USES layer ... [PRIVATE_USES target ...]
#                 [DEFINITIONS ...] [TIMEOUT seconds])
#   one GoogleTest program; each of its suites is a test of CTest, NAME.SUITE, and runs in one process: starting a
#   program that loads LibTorch takes longer than most cases. What CTest prints of a suite that fails names the case;
#   the program with --gtest_filter=SUITE.CASE runs it by itself.
#   (none)  label "fast": in `make test`, run side by side with others, so with one OpenMP thread each
#   SLOW    label "slow": in `make test`, begun first, since the last one must not be a long one
#   LONG    label "long": only in `make test-long`, has all cores to itself; default TIMEOUT 3600 s, else 300 s;
#           each case is a test, named Long.SUITE.CASE, so that a later call goes on with the next
#   TIMING  processes, threads or clocks: tools/under_load.py runs it many times; the label is "fast-timing" or
#           "slow-timing"
#   CASES   each case is a test, SUITE.CASE, and runs in a process of its own (SimGrid takes a process whole)
#   The environment variable SAGIPS_LONG_TESTS is 1 in a LONG test, so that one source can serve both sizes.
#   A case that cannot run here (no data) calls GTEST_SKIP(). CTest shows a suite as skipped when none of its cases ran;
#   tools/count_tests.py names the others after `make test`.
#   With a sanitizer every TIMEOUT is ten times as long.
include(GoogleTest)
include(ProcessorCount)
ProcessorCount(SAGIPS_CORES)
set(SAGIPS_SLOWDOWN 1)
if(SAGIPS_SANITIZER)
  set(SAGIPS_SLOWDOWN 10)
endif()

add_library(sagips_test_main STATIC "${CMAKE_CURRENT_LIST_DIR}/../tests/main.cpp")
sagips_compile_settings(sagips_test_main)
target_link_libraries(sagips_test_main PUBLIC GTest::gtest)

function(sagips_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "SLOW;LONG;CASES;TIMING;TORCH" "TIMEOUT" "SOURCES;USES;PRIVATE_USES;DEFINITIONS")
  add_executable(${name} ${test_SOURCES})
  sagips_compile_settings(${name})
  foreach(layer IN LISTS test_USES)
    target_link_libraries(${name} PRIVATE sagips::${layer})
  endforeach()
  target_link_libraries(${name} PRIVATE sagips_test_main ${test_PRIVATE_USES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE ${test_DEFINITIONS})
  sagips_compile_quickly(${name})
  if(test_TORCH)
    sagips_use_torch_header(${name})
  endif()

  set(timing)
  if(test_TIMING)
    set(timing -timing)
  endif()
  if(test_LONG)
    set(properties LABELS long PROCESSORS ${SAGIPS_CORES} ENVIRONMENT SAGIPS_LONG_TESTS=1)
    set(timeout 3600)
  elseif(test_SLOW)
    set(properties LABELS slow${timing} COST 100)
    set(timeout 300)
  else()
    set(properties LABELS fast${timing} ENVIRONMENT OMP_NUM_THREADS=1)
    set(timeout 300)
  endif()
  if(test_TIMEOUT)
    set(timeout ${test_TIMEOUT})
  endif()
  math(EXPR timeout "${timeout} * ${SAGIPS_SLOWDOWN}")
  if(test_LONG OR test_CASES)
    set(prefix)
    if(test_LONG)
      set(prefix TEST_PREFIX Long.)
    endif()
    gtest_discover_tests(${name} ${prefix} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 60
      PROPERTIES TIMEOUT ${timeout} ${properties})
  else()
    sagips_discover_suites(${name} TIMEOUT ${timeout} ${properties})
  endif()
endfunction()

# CTest asks the program for its suites when it starts: the program is not there before.
function(sagips_discover_suites name)
  set(file "${CMAKE_CURRENT_BINARY_DIR}/${name}_suites.cmake")
  file(GENERATE OUTPUT "${file}" CONTENT
"set(program \"$<TARGET_FILE:${name}>\")
set(properties \"${ARGN}\")
include(\"${CMAKE_CURRENT_FUNCTION_LIST_DIR}/SuitesOfProgram.cmake\")
")
  set_property(DIRECTORY APPEND PROPERTY TEST_INCLUDE_FILES "${file}")
endfunction()

# sagips_add_script_test(NAME [SLOW | LONG] [TIMING] [TIMEOUT seconds] COMMAND ...)
#   a test that is a Python program; exit code 77 means skipped. LONG, TIMING: see above, default TIMEOUT 3600 s.
function(sagips_add_script_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "SLOW;LONG;TIMING" "TIMEOUT" "COMMAND")
  if(NOT test_TIMEOUT AND test_LONG)
    set(test_TIMEOUT 3600)
  endif()
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  math(EXPR test_TIMEOUT "${test_TIMEOUT} * ${SAGIPS_SLOWDOWN}")
  set(label fast)
  if(test_SLOW)
    set(label slow)
  elseif(test_LONG)
    set(label long)
  endif()
  if(test_TIMING)
    string(APPEND label -timing)
  endif()
  add_test(NAME ${name} COMMAND ${test_COMMAND})
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${test_TIMEOUT} SKIP_RETURN_CODE 77
    ENVIRONMENT SAGIPS_SLOWDOWN=${SAGIPS_SLOWDOWN})
  if(test_LONG)
    set_tests_properties(${name} PROPERTIES PROCESSORS ${SAGIPS_CORES}
      ENVIRONMENT "SAGIPS_SLOWDOWN=${SAGIPS_SLOWDOWN};SAGIPS_LONG_TESTS=1")
  elseif(test_SLOW)
    # It waits for programs of its own, which leave half of the cores idle: others run beside it. Begun first, since the
    # last one must not be a long one; CTest knows no times in a new folder.
    set_tests_properties(${name} PROPERTIES COST 100)
  endif()
endfunction()

# sagips_add_mpi_test(NAME RANKS n ... [TIMEOUT seconds] COMMAND program arguments ...)
#   one test for each number of ranks, NAME.n. Ranks beyond the cores take turns, so each has all cores to itself.
#   The launcher may differ: Open MPI refuses root and more ranks than slots unless told, MPICH knows no such options.
function(sagips_add_mpi_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "" "TIMEOUT" "RANKS;COMMAND")
  if(NOT test_TIMEOUT)
    set(test_TIMEOUT 120)
  endif()
  math(EXPR test_TIMEOUT "${test_TIMEOUT} * ${SAGIPS_SLOWDOWN}")
  foreach(ranks IN LISTS test_RANKS)
    set(arguments ${test_COMMAND})
    list(POP_FRONT arguments program)
    add_test(NAME ${name}.${ranks} COMMAND "${MPIEXEC_EXECUTABLE}" ${MPIEXEC_NUMPROC_FLAG} ${ranks}
      "$<TARGET_FILE:${program}>" ${arguments})
    set_tests_properties(${name}.${ranks} PROPERTIES LABELS slow-timing TIMEOUT ${test_TIMEOUT} PROCESSORS ${SAGIPS_CORES}
      ENVIRONMENT "OMP_NUM_THREADS=1;OMPI_ALLOW_RUN_AS_ROOT=1;OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1;OMPI_MCA_rmaps_base_oversubscribe=1;OMPI_MCA_hwloc_base_binding_policy=none")
  endforeach()
endfunction()
