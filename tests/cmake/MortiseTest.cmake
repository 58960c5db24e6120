# mortise_add_test(<target> SOURCES x_test.cc... [LIBS library...] [LABELS label...])
#   a Catch2 program; each TEST_CASE becomes a CTest test. Test names: letters, digits, blanks and _:,- only.
# mortise_add_fuzzer(<target> SOURCES x_fuzz.cc LIBS library... CORPUS folder)
#   a libFuzzer target (preset `fuzz`), run for some seconds over a copy of its corpus.
# mortise_add_python_test(<name> SCRIPT file.py [ARGS ...] [LABELS ...])
#   a Python script that exits 0 where all is well, 77 where it can't run here. It gets MORTISE_BIN, MORTISE_BUILD and
#   MORTISE_SOURCE.
if(NOT MORTISE_FUZZ)
  find_package(Catch2 2 QUIET)
  mortise_need(Catch2_FOUND catch2)
  include(Catch)
  add_library(mortise_catch_main OBJECT ${CMAKE_CURRENT_LIST_DIR}/catch_main.cc)
  target_link_libraries(mortise_catch_main PUBLIC Catch2::Catch2)
endif()
set(MORTISE_TEST_DATA ${CMAKE_CURRENT_LIST_DIR}/../data)

function(mortise_add_test target)
  if(MORTISE_FUZZ)
    return()
  endif()
  cmake_parse_arguments(T "" "" "SOURCES;LIBS;LABELS" ${ARGN})
  add_executable(${target} ${T_SOURCES})
  target_link_libraries(${target} PRIVATE mortise_catch_main Catch2::Catch2 Mortise::sdk ${T_LIBS})
  target_include_directories(${target} PRIVATE ${CMAKE_CURRENT_FUNCTION_LIST_DIR}/..)
  target_compile_definitions(${target} PRIVATE MORTISE_TEST_DATA="${MORTISE_TEST_DATA}"
    MORTISE_TEST_SOURCE="${CMAKE_SOURCE_DIR}" MORTISE_TEST_BUILD="${CMAKE_BINARY_DIR}")
  # -w NoTests: a filter that matches nothing must fail, not pass.
  catch_discover_tests(${target} EXTRA_ARGS -w NoTests PROPERTIES LABELS "${T_LABELS}" TIMEOUT 600)
endfunction()

function(mortise_add_fuzzer target)
  if(NOT MORTISE_FUZZ)
    return()
  endif()
  cmake_parse_arguments(F "" "CORPUS" "SOURCES;LIBS" ${ARGN})
  add_executable(${target} ${F_SOURCES})
  target_link_libraries(${target} PRIVATE Mortise::sdk ${F_LIBS})
  target_link_options(${target} PRIVATE -fsanitize=fuzzer)
  set(run ${CMAKE_CURRENT_BINARY_DIR}/${target}.corpus)
  # The folder that libFuzzer writes to is a fresh one; the checked-in corpus is only read.
  add_test(NAME fuzz.${target} COMMAND ${CMAKE_COMMAND} -E env ASAN_OPTIONS=detect_leaks=1 sh -c
    "rm -rf '${run}'; mkdir -p '${run}'; '$<TARGET_FILE:${target}>' -max_total_time=10 -timeout=5 -rss_limit_mb=1024 \
-max_len=4096 -artifact_prefix='${run}/' '${run}' '${F_CORPUS}'")
  set_tests_properties(fuzz.${target} PROPERTIES LABELS fuzz TIMEOUT 120)
endfunction()

# MORTISE_PYTHON of the environment, else the virtual environment that `check` makes, else the system's.
function(mortise_find_python variable)
  set(venv ${CMAKE_SOURCE_DIR}/build/venv/bin/python3)
  if(DEFINED ENV{MORTISE_PYTHON})
    set(python $ENV{MORTISE_PYTHON})
  elseif(EXISTS ${venv})
    set(python ${venv})
  else()
    find_package(Python3 QUIET COMPONENTS Interpreter)
    mortise_need(Python3_FOUND python3)
    set(python ${Python3_EXECUTABLE})
  endif()
  set(${variable} ${python} PARENT_SCOPE)
endfunction()

function(mortise_add_python_test name)
  if(MORTISE_FUZZ)
    return()
  endif()
  cmake_parse_arguments(P "" "SCRIPT" "ARGS;LABELS" ${ARGN})
  mortise_find_python(python)
  # A sanitizer makes the engine some ten times slower: tests of a large matrix take a sample of it there.
  set(sample "")
  set(timeout 900)
  if(MORTISE_SANITIZE)
    set(sample MORTISE_SAMPLE=1)
    set(timeout 5400)
  endif()
  add_test(NAME ${name} COMMAND ${CMAKE_COMMAND} -E env MORTISE_BIN=${CMAKE_BINARY_DIR}/bin/mortise
    MORTISE_BUILD=${CMAKE_BINARY_DIR} MORTISE_SOURCE=${CMAKE_SOURCE_DIR} PYTHONPATH=${CMAKE_SOURCE_DIR}/tests ${sample}
    ${python} ${P_SCRIPT} ${P_ARGS})
  set_tests_properties(${name} PROPERTIES LABELS "${P_LABELS}" TIMEOUT ${timeout} SKIP_RETURN_CODE 77)
endfunction()
