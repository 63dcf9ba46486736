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

# pymemrun_precompile(TARGET [HEADER...]): what its sources include most is read
# by the compiler once: libraries' headers, and the messages. Sources still
# include what they use: builds without this option see to it.
function(pymemrun_precompile target)
  if(PYMEMRUN_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE
      <algorithm> <functional> <map> <memory> <optional> <string> <utility> <vector>
      <absl/container/flat_hash_map.h> <absl/status/statusor.h>
      <absl/strings/str_cat.h> <absl/strings/str_format.h>
      <absl/strings/str_split.h> <format/trace.pb.h> ${ARGN})
  endif()
endfunction()

# pymemrun_share_precompiled(TARGET): the same, as read for pymemrun_format, which is
# compiled with the same options.
function(pymemrun_share_precompiled target)
  if(PYMEMRUN_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} REUSE_FROM pymemrun_format)
  endif()
endfunction()

# pymemrun_precompile_python(TARGET): the same of the interpreter's headers, for
# C++. C files include its internal headers, which must come first. What defines
# libc's functions does without: Python.h renames some of them.
function(pymemrun_precompile_python target)
  if(PYMEMRUN_PRECOMPILED_HEADERS)
    target_precompile_headers(${target} PRIVATE
      "$<$<COMPILE_LANGUAGE:CXX>:<Python.h$<ANGLE-R>;<atomic$<ANGLE-R>;<span$<ANGLE-R>;<string_view$<ANGLE-R>>")
    get_target_property(sources ${target} SOURCES)
    list(FILTER sources INCLUDE REGEX "(^|/)interpose/")
    set_source_files_properties(${sources} PROPERTIES SKIP_PRECOMPILE_HEADERS ON)
  endif()
endfunction()

# pymemrun_unite(TARGET ROOMS...): sources are compiled together, so that the
# headers that they share are read, and templates made, once for all: half of the
# time. Each ROOMS is a regular expression: what is in rooms that match it is one
# piece, the first that matches counts. Any other room is a piece of its own. After
# a change of one source its piece is compiled again. Names in namespaces without
# a name must differ within a piece.
function(pymemrun_unite target)
  if(PYMEMRUN_UNITY_BUILD)
    set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
    # A tenth of the time goes into what GCC collects of 700 MB. It takes each
    # source of a piece for a header, which should have no such members.
    target_compile_options(${target} PRIVATE
      $<$<CXX_COMPILER_ID:GNU>:--param=ggc-min-heapsize=524288;-Wno-subobject-linkage>)
    get_target_property(sources ${target} SOURCES)
    foreach(source IN LISTS sources)
      get_filename_component(room "${source}" DIRECTORY)
      string(REPLACE "/" "_" piece "${room}")
      set(number 0)
      foreach(rooms IN LISTS ARGN)
        math(EXPR number "${number} + 1")
        if(room MATCHES "^(${rooms})$")
          set(piece "piece_${number}")
          break()
        endif()
      endforeach()
      set_source_files_properties("${source}" PROPERTIES UNITY_GROUP "${piece}")
    endforeach()
  endif()
endfunction()

# pymemrun_sources(VARIABLE ROOM...): the sources of a library that is made of
# these rooms (folders, relative to the caller's): all .c and .cc files but those
# of tests, benchmarks and programs.
set(PYMEMRUN_NOT_IN_LIBRARIES
    "_(test|benchmark|main|builder|for_tests|test_support)\\.cc?$")
function(pymemrun_sources variable)
  set(found "")
  foreach(room IN LISTS ARGN)
    file(GLOB more CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}"
         "${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.c"
         "${CMAKE_CURRENT_SOURCE_DIR}/${room}/*.cc")
    list(APPEND found ${more})
  endforeach()
  list(FILTER found EXCLUDE REGEX "${PYMEMRUN_NOT_IN_LIBRARIES}")
  set(${variable} "${found}" PARENT_SCOPE)
endfunction()

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
  if(TARGET pymemrun_test_headers AND A_LIBS MATCHES "pymemrun_(text|format|collector|readers)")
    target_precompile_headers(${name} REUSE_FROM pymemrun_test_headers)
  endif()
  # What is tested is optimized; the tests themselves run once for each time that
  # they are compiled.
  target_compile_options(${name} PRIVATE -O0)
  add_test(NAME ${name} COMMAND ${name} WORKING_DIRECTORY "${PROJECT_SOURCE_DIR}")
  set_tests_properties(${name} PROPERTIES LABELS "${A_LABELS}" TIMEOUT ${A_TIMEOUT})
endfunction()

# pymemrun_add_room_test(ROOM LIBS... [EXCEPT name...]): one GoogleTest program,
# named after the part and the room, of all the room's *_test.cc; without those
# named, which are programs of their own. A room without tests has no program.
function(pymemrun_add_room_test room)
  cmake_parse_arguments(A "" "" "LIBS;EXCEPT" ${ARGN})
  file(GLOB tests CONFIGURE_DEPENDS RELATIVE "${CMAKE_CURRENT_SOURCE_DIR}"
       "${CMAKE_CURRENT_SOURCE_DIR}/${room}/*_test.cc")
  foreach(name IN LISTS A_EXCEPT)
    list(REMOVE_ITEM tests "${room}/${name}_test.cc")
  endforeach()
  if(NOT tests)
    return()
  endif()
  get_filename_component(part "${CMAKE_CURRENT_SOURCE_DIR}" NAME)
  string(REGEX REPLACE "_\\.$" "" name "${part}_${room}")
  string(REPLACE "/" "_" name "${name}")
  pymemrun_add_test(${name}_test SOURCES ${tests} LIBS ${A_LIBS} TIMEOUT 300)
  pymemrun_unite(${name}_test ".*")
endfunction()

# pymemrun_add_benchmark(NAME SOURCES... LIBS...): a micro-benchmark.
function(pymemrun_add_benchmark name)
  if(NOT PYMEMRUN_BUILD_BENCH)
    return()
  endif()
  cmake_parse_arguments(A "" "" "SOURCES;LIBS" ${ARGN})
  add_executable(${name} ${A_SOURCES})
  target_link_libraries(${name} PRIVATE ${A_LIBS} pymemrun_compile benchmark::benchmark)
endfunction()

# pymemrun_for_module(TARGETS...): libraries that go into a shared object too. With
# hidden names the code is as that for programs alone. Modules of several Pythons
# share one such object, whose names they must see (readers/python).
function(pymemrun_for_module)
  set(visibility hidden)
  list(LENGTH PYMEMRUN_READER_PYTHONS count)
  if(count GREATER 1)
    set(visibility default)
    foreach(target IN LISTS ARGN)
      target_compile_options(${target} PRIVATE -fno-semantic-interposition)
    endforeach()
  endif()
  set_target_properties(${ARGN} PROPERTIES POSITION_INDEPENDENT_CODE ON
    CXX_VISIBILITY_PRESET ${visibility} VISIBILITY_INLINES_HIDDEN ON)
endfunction()
