# Warnings and sanitizers for our own code, and the helpers that keep the
# per-folder lists short.
add_library(pymemrun_compile INTERFACE)
target_include_directories(pymemrun_compile INTERFACE
  "${PROJECT_SOURCE_DIR}" "${PROJECT_BINARY_DIR}")
target_compile_options(pymemrun_compile INTERFACE
  -Wall -Wextra -Wno-unused-parameter
  $<$<COMPILE_LANGUAGE:CXX>:-Wnon-virtual-dtor -Wno-missing-field-initializers>)
if(PYMEMRUN_SANITIZER)
  # The traced process is left out (see tracer/CMakeLists.txt): its hooks run
  # inside allocators, where a sanitizer's own hooks cannot.
  add_library(pymemrun_sanitize INTERFACE)
  target_compile_options(pymemrun_sanitize INTERFACE
    -fsanitize=${PYMEMRUN_SANITIZER} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(pymemrun_sanitize INTERFACE -fsanitize=${PYMEMRUN_SANITIZER})
else()
  add_library(pymemrun_sanitize INTERFACE)
endif()

if(PYMEMRUN_BUILD_TESTS)
  enable_testing()
endif()

# pymemrun_add_library(NAME SOURCES... LIBS...): a static library of one part.
function(pymemrun_add_library name)
  cmake_parse_arguments(A "" "" "SOURCES;LIBS" ${ARGN})
  add_library(${name} STATIC ${A_SOURCES})
  target_link_libraries(${name} PUBLIC ${A_LIBS} pymemrun_compile pymemrun_sanitize)
endfunction()

# pymemrun_add_test(NAME SOURCES... LIBS... [LABELS...] [TIMEOUT n]): a
# GoogleTest program; ctest runs it as one test, labelled `unit` by default.
function(pymemrun_add_test name)
  if(NOT PYMEMRUN_BUILD_TESTS)
    return()
  endif()
  cmake_parse_arguments(A "" "TIMEOUT" "SOURCES;LIBS;LABELS" ${ARGN})
  if(NOT A_LABELS)
    set(A_LABELS unit)
  endif()
  if(NOT A_TIMEOUT)
    set(A_TIMEOUT 120)
  endif()
  math(EXPR A_TIMEOUT "5 * ${A_TIMEOUT}")  # other work may slow the machine
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE ${A_LIBS} pymemrun_compile pymemrun_sanitize
                        GTest::gmock GTest::gtest GTest::gtest_main)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS "${A_LABELS}" TIMEOUT ${A_TIMEOUT})
endfunction()

# pymemrun_for_module(TARGETS...): libraries that go into a shared object too. With
# hidden names the code is as that for programs alone.
function(pymemrun_for_module)
  set_target_properties(${ARGN} PROPERTIES POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON)
endfunction()
