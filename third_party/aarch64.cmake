# Toolchain file: Debian's cross compiler, with the files of an arm64 Debian in
# PYMEMRUN_AARCH64_ROOT, which tests/aarch64 makes. What must run while CMake
# configures, and the unit tests, run under qemu.
set(CMAKE_SYSTEM_NAME Linux)
set(CMAKE_SYSTEM_PROCESSOR aarch64)
set(CMAKE_C_COMPILER aarch64-linux-gnu-gcc)
set(CMAKE_CXX_COMPILER aarch64-linux-gnu-g++)

set(PYMEMRUN_AARCH64_ROOT "${CMAKE_CURRENT_LIST_DIR}/../build/aarch64-root"
    CACHE PATH "An arm64 Debian's files")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES PYMEMRUN_AARCH64_ROOT)
file(REAL_PATH "${PYMEMRUN_AARCH64_ROOT}" CMAKE_SYSROOT)
set(CMAKE_CROSSCOMPILING_EMULATOR /usr/bin/qemu-aarch64-static -L "${CMAKE_SYSROOT}")
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
foreach(kind LIBRARY INCLUDE PACKAGE)
  set(CMAKE_FIND_ROOT_PATH_MODE_${kind} ONLY)
endforeach()
set(ENV{PKG_CONFIG_SYSROOT_DIR} "${CMAKE_SYSROOT}")
set(ENV{PKG_CONFIG_LIBDIR}
    "${CMAKE_SYSROOT}/usr/lib/aarch64-linux-gnu/pkgconfig:${CMAKE_SYSROOT}/usr/share/pkgconfig")
