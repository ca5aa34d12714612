# SPDX-License-Identifier: Apache-2.0
# One CTest entry per executable: what a test suite prepares (an emitted kernel, a filled database)
# is prepared once. `ctest -R <name> --output-on-failure` shows the single tests.
# Labels: unit, property, golden, cli, kernel, slow, bench-smoke.

# tilewright_test(<name> SOURCES <files>... LABELS <labels>... [LIBS <targets>...]
#                 [TIMEOUT <seconds>] [PROCESSORS <n>] [ARGS <arguments>...] [ENV <NAME=value>...]
#                 [SERIAL])
# The entry is called <folder>.<name>. It runs in an empty folder of its own, so that tests that
# write files do not meet.
function(tilewright_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL" "TIMEOUT;PROCESSORS" "SOURCES;LABELS;LIBS;ARGS;ENV")
  if(NOT arg_SOURCES OR NOT arg_LABELS)
    message(FATAL_ERROR "tilewright_test(${name}): SOURCES and LABELS must be given")
  endif()
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  set(target test_${folder}_${name})
  add_executable(${target} ${arg_SOURCES})
  target_link_libraries(${target} PRIVATE
    tilewright_options ${arg_LIBS} GTest::gtest GTest::gtest_main rapidcheck rapidcheck_gtest)
  target_compile_definitions(${target} PRIVATE
    TILEWRIGHT_SOURCE_DIR="${PROJECT_SOURCE_DIR}" TILEWRIGHT_BINARY_DIR="${PROJECT_BINARY_DIR}")
  tilewright_test_entry(${folder}.${name} ${target} ${arg_ARGS})
endfunction()

# tilewright_command_test(<name> COMMAND <command>... LABELS <labels>... [TIMEOUT <seconds>]
#                         [PROCESSORS <n>] [ENV <NAME=value>...] [SERIAL])
# The same for a script: it must end with exit code 0.
function(tilewright_command_test name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "SERIAL" "TIMEOUT;PROCESSORS" "COMMAND;LABELS;ENV")
  get_filename_component(folder "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  tilewright_test_entry(${folder}.${name} ${arg_COMMAND})
endfunction()

# The CTest entry of the functions here, whose arg_LABELS, arg_TIMEOUT, arg_PROCESSORS, arg_SERIAL
# and arg_ENV it reads. The time limit, so that a hanging test ends, is 60 s unless given; five
# times as long under the sanitizers.
function(tilewright_test_entry test)
  if(NOT arg_TIMEOUT)
    set(arg_TIMEOUT 60)
  endif()
  if(NOT arg_PROCESSORS)
    set(arg_PROCESSORS 1)
  endif()
  if(CMAKE_BUILD_TYPE STREQUAL "Sanitize")
    math(EXPR arg_TIMEOUT "5 * ${arg_TIMEOUT}")
  endif()
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/${test}.run")
  file(MAKE_DIRECTORY "${folder}")
  add_test(NAME ${test} COMMAND ${ARGN} WORKING_DIRECTORY "${folder}")
  set_tests_properties(${test} PROPERTIES LABELS "${arg_LABELS}" TIMEOUT ${arg_TIMEOUT}
    PROCESSORS ${arg_PROCESSORS} RUN_SERIAL "${arg_SERIAL}" ENVIRONMENT "${arg_ENV}")
endfunction()

# tilewright_bench(<name> SOURCES <files>... [LIBS <targets>...])
# A Google Benchmark program bench/<name> of the build tree; CTest runs it for a moment (label
# bench-smoke), only to see that it works.
function(tilewright_bench name)
  cmake_parse_arguments(PARSE_ARGV 1 arg "" "" "SOURCES;LIBS")
  add_executable(bench_${name} ${arg_SOURCES})
  target_link_libraries(bench_${name} PRIVATE
    tilewright_options ${arg_LIBS} benchmark::benchmark benchmark::benchmark_main)
  target_compile_definitions(bench_${name} PRIVATE TILEWRIGHT_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  set_target_properties(bench_${name} PROPERTIES
    OUTPUT_NAME ${name} RUNTIME_OUTPUT_DIRECTORY "${PROJECT_BINARY_DIR}/bench")
  set(arg_LABELS bench-smoke)
  set(arg_SERIAL ON)
  tilewright_test_entry(bench.${name} bench_${name} --benchmark_min_time=0.001)
endfunction()
