# sagips_add_test(NAME [SLOW | LONG] [TIMING] [TORCH] SOURCES ... USES layer ... [PRIVATE_USES target ...]
#                 [DEFINITIONS ...] [TIMEOUT seconds])
#   one GoogleTest program; CTest sees each TEST by itself, named SUITE.NAME.
#   (none)  label "fast": in `make test`, run side by side with others, so with one OpenMP thread each
#   SLOW    label "slow": in `make test`, has all cores to itself
#   LONG    label "long": only in `make test-long`, has all cores to itself; default TIMEOUT 3600 s, else 120 s;
#           its tests are named Long.SUITE.NAME
#   TIMING  processes, threads or clocks: tools/under_load.py runs it many times; the label is "fast-timing" or
#           "slow-timing" (gtest_discover_tests knows no second label)
#   The environment variable SAGIPS_LONG_TESTS is 1 in a LONG program, so that one source can serve both sizes.
#   A test that cannot run here (no data) calls GTEST_SKIP() and CTest shows it as skipped.
#   With a sanitizer every TIMEOUT is ten times as long.
include(GoogleTest)
include(ProcessorCount)
ProcessorCount(SAGIPS_CORES)
set(SAGIPS_SLOWDOWN 1)
if(SAGIPS_SANITIZER)
  set(SAGIPS_SLOWDOWN 10)
endif()

function(sagips_add_test name)
  cmake_parse_arguments(PARSE_ARGV 1 test "SLOW;LONG;TIMING;TORCH" "TIMEOUT" "SOURCES;USES;PRIVATE_USES;DEFINITIONS")
  add_executable(${name} ${test_SOURCES})
  sagips_compile_settings(${name})
  foreach(layer IN LISTS test_USES)
    target_link_libraries(${name} PRIVATE sagips::${layer})
  endforeach()
  target_link_libraries(${name} PRIVATE GTest::gtest_main ${test_PRIVATE_USES})
  target_include_directories(${name} PRIVATE "${PROJECT_SOURCE_DIR}")
  target_compile_definitions(${name} PRIVATE ${test_DEFINITIONS})
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
    set(properties LABELS slow${timing} PROCESSORS ${SAGIPS_CORES})
    set(timeout 120)
  else()
    set(properties LABELS fast${timing} ENVIRONMENT OMP_NUM_THREADS=1)
    set(timeout 120)
  endif()
  if(test_TIMEOUT)
    set(timeout ${test_TIMEOUT})
  endif()
  math(EXPR timeout "${timeout} * ${SAGIPS_SLOWDOWN}")
  set(prefix)
  if(test_LONG)
    set(prefix TEST_PREFIX Long.)  # CTest forgets one of two tests that have the same name
  endif()
  gtest_discover_tests(${name} ${prefix} DISCOVERY_MODE PRE_TEST DISCOVERY_TIMEOUT 120
    PROPERTIES TIMEOUT ${timeout} ${properties})
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
  set_tests_properties(${name} PROPERTIES LABELS ${label} TIMEOUT ${test_TIMEOUT} SKIP_RETURN_CODE 77)
  if(test_SLOW OR test_LONG)
    set_tests_properties(${name} PROPERTIES PROCESSORS ${SAGIPS_CORES})
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
