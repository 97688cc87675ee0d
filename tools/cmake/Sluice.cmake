# How every target of Sluice is built: one helper per library, per test program and per benchmark.
include_guard()

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_SCAN_FOR_MODULES OFF)
# What decides must give the same bits with every compiler: no fused multiply-add, no -march=native (DESIGN section 9).
# -Wno-missing-field-initializers: designated initialisers leave out what has a default, on purpose.
add_compile_options(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror -Wno-missing-field-initializers -ffp-contract=off)
if(SLUICE_SANITIZE)
  add_compile_options(-fsanitize=${SLUICE_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  add_link_options(-fsanitize=${SLUICE_SANITIZE})
endif()

# Clones share the compiler's cache, wherever they are: sources are named from their tree's root on.
add_compile_options(-ffile-prefix-map=${CMAKE_SOURCE_DIR}=.)
find_program(CCACHE ccache)
if(CCACHE)
  set(CMAKE_CXX_COMPILER_LAUNCHER env CCACHE_BASEDIR=${CMAKE_SOURCE_DIR} CCACHE_NOHASHDIR=1 ${CCACHE})
endif()

# Files are small and headers are not: with SLUICE_UNITY several sources of a target are compiled as one. ALONE: sources whose
# private names other sources of the target have too.
function(sluice_unite target alone)
  if(NOT SLUICE_UNITY)
    return()
  endif()
  set_source_files_properties(${alone} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_BATCH_SIZE 8)
  # GCC guesses worse the more it inlines; clang sees names of other sources shadowed.
  target_compile_options(${target} PRIVATE $<IF:$<CXX_COMPILER_ID:GNU>,-Wno-maybe-uninitialized,-Wno-shadow>)
endfunction()

# sluice_library(NAME SOURCES a.cpp … DEPENDS base … LIBRARIES external … ALONE b.cpp …)
# A folder of src/ is one static library `sluice_NAME`; DEPENDS are folders, LIBRARIES come from outside.
function(sluice_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBRARIES;ALONE" ${ARGN})
  list(TRANSFORM ARG_DEPENDS PREPEND sluice_)
  add_library(sluice_${name} STATIC ${ARG_SOURCES})
  sluice_unite(sluice_${name} "${ARG_ALONE}")
  target_include_directories(sluice_${name} PUBLIC ${CMAKE_SOURCE_DIR}/src)
  target_link_libraries(sluice_${name} PUBLIC ${ARG_DEPENDS} PRIVATE ${ARG_LIBRARIES})
endfunction()

# sluice_test(NAME SOURCES … DEPENDS … ALONE …): one GoogleTest program, one ctest entry.
function(sluice_test name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBRARIES;ALONE" ${ARGN})
  list(TRANSFORM ARG_DEPENDS PREPEND sluice_)
  add_executable(${name} ${ARG_SOURCES})
  sluice_unite(${name} "${ARG_ALONE}")
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} sluice_test_places ${ARG_LIBRARIES} GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY ${CMAKE_SOURCE_DIR})
  # Workers that crash on purpose end by their signal there too.
  set_tests_properties(${name} PROPERTIES ENVIRONMENT "ASAN_OPTIONS=handle_segv=0;TSAN_OPTIONS=handle_segv=0")
endfunction()

# sluice_bench(NAME SOURCES … DEPENDS …): one Google Benchmark program; never run as a test.
function(sluice_bench name)
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS;LIBRARIES" ${ARGN})
  list(TRANSFORM ARG_DEPENDS PREPEND sluice_)
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS} sluice_test_places ${ARG_LIBRARIES} benchmark::benchmark)
endfunction()

# sluice_fuzz(NAME SOURCES … DEPENDS …): one libFuzzer program, built by the `fuzz` preset only.
function(sluice_fuzz name)
  if(NOT SLUICE_FUZZ)
    return()
  endif()
  cmake_parse_arguments(ARG "" "" "SOURCES;DEPENDS" ${ARGN})
  list(TRANSFORM ARG_DEPENDS PREPEND sluice_)
  add_executable(${name} ${ARG_SOURCES})
  target_include_directories(${name} PRIVATE ${CMAKE_SOURCE_DIR}/tests)
  target_link_options(${name} PRIVATE -fsanitize=fuzzer)
  target_link_libraries(${name} PRIVATE ${ARG_DEPENDS})
endfunction()
