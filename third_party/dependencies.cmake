# How each dependency is found. Nothing is vendored: on Debian 12 all of them
# are packages (scripts/setup installs them).

# The embedded interpreter: Debian's own python3 unless told otherwise, because
# another python3 often comes first in PATH.
if(NOT DEFINED Python3_EXECUTABLE)
  set(Python3_EXECUTABLE /usr/bin/python3 CACHE FILEPATH "The interpreter to embed")
endif()
include(python)

find_package(absl REQUIRED)                       # libabsl-dev
set(Protobuf_USE_STATIC_LIBS ON)
find_package(Protobuf 3.21 REQUIRED)              # libprotobuf-dev protobuf-compiler
find_package(PkgConfig REQUIRED)
pkg_check_modules(ZSTD REQUIRED IMPORTED_TARGET libzstd>=1.4)  # libzstd-dev
find_package(CLI11 REQUIRED)                      # libcli11-dev
find_package(nlohmann_json REQUIRED)              # nlohmann-json3-dev
find_package(Threads REQUIRED)
find_library(PYMEMRUN_ZSTD_STATIC libzstd.a REQUIRED)
add_library(pymemrun_zstd INTERFACE)
target_link_libraries(pymemrun_zstd INTERFACE "${PYMEMRUN_ZSTD_STATIC}")
find_path(PYMEMRUN_ZLIB_INCLUDE zlib.h REQUIRED)  # zlib1g-dev
find_library(PYMEMRUN_ZLIB_STATIC libz.a REQUIRED)
add_library(pymemrun_zlib INTERFACE)
target_include_directories(pymemrun_zlib SYSTEM INTERFACE "${PYMEMRUN_ZLIB_INCLUDE}")
target_link_libraries(pymemrun_zlib INTERFACE "${PYMEMRUN_ZLIB_STATIC}")
# Archives, as a wheel may bring no libtinfo; the machine's terminfo is taken.
find_path(PYMEMRUN_CURSES_INCLUDE curses.h REQUIRED)  # libncurses-dev
find_library(PYMEMRUN_NCURSES_STATIC libncursesw.a REQUIRED)
find_library(PYMEMRUN_TINFO_STATIC libtinfo.a REQUIRED)
add_library(pymemrun_curses INTERFACE)
target_include_directories(pymemrun_curses SYSTEM INTERFACE "${PYMEMRUN_CURSES_INCLUDE}")
target_link_libraries(pymemrun_curses INTERFACE "${PYMEMRUN_NCURSES_STATIC}"
                      "${PYMEMRUN_TINFO_STATIC}")
find_path(PYMEMRUN_SQLITE_INCLUDE sqlite3.h REQUIRED)  # libsqlite3-dev
find_library(PYMEMRUN_SQLITE_STATIC libsqlite3.a REQUIRED)
find_library(PYMEMRUN_SQLITE_SHARED libsqlite3.so REQUIRED)
add_library(pymemrun_sqlite INTERFACE)
target_include_directories(pymemrun_sqlite SYSTEM INTERFACE "${PYMEMRUN_SQLITE_INCLUDE}")
target_link_libraries(pymemrun_sqlite INTERFACE "${PYMEMRUN_SQLITE_STATIC}"
                      Threads::Threads ${CMAKE_DL_LIBS} m)
if(PYMEMRUN_BUILD_TESTS)
  find_package(GTest REQUIRED)                    # libgtest-dev libgmock-dev
endif()
if(PYMEMRUN_BUILD_BENCH)
  find_package(benchmark REQUIRED)                # libbenchmark-dev
endif()

# The module pymemrun_reader is for Debian's own python3, or where nothing is
# embedded for each version that can be traced.
set(PYMEMRUN_READER_PYTHONS /usr/bin/python3)
if(PYMEMRUN_PYTHON_LINK STREQUAL "none")
  set(PYMEMRUN_READER_PYTHONS ${PYMEMRUN_TRACED_PYTHONS})
elseif(NOT Python3_EXECUTABLE IN_LIST PYMEMRUN_READER_PYTHONS)
  set(PYMEMRUN_READER_PYTHONS "")
endif()
set(PYMEMRUN_READER_MODULE OFF)
if(PYMEMRUN_READER_PYTHONS AND NOT PYMEMRUN_SANITIZER)
  set(PYBIND11_NOPYTHON ON)                       # it would look for another
  find_package(pybind11 2.10 CONFIG)              # pybind11-dev
  set(PYMEMRUN_READER_MODULE ${pybind11_FOUND})
endif()
find_library(PYMEMRUN_PROTOBUF_LITE_SHARED libprotobuf-lite.so REQUIRED)
