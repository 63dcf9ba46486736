# What differs between versions of CPython for the build; all else that does is
# in the sources here. Included by tracer/CMakeLists.txt.

# The last version that has a header here.
set(PYMEMRUN_NEWEST_MINOR 14 CACHE INTERNAL "")

# Functions of CPython's that are renamed in a copy of its archive, where they
# are defined and nowhere else, so that ours take their names for every caller.
# The two that fill a profile slot (slot_watch.c): sys.setprofile, cProfile,
# extension modules. Those by which tools put layers on the allocators
# (allocator_layers.h).
set(PYMEMRUN_RENAMED_FUNCTIONS _PyEval_SetProfile PyEval_SetProfile
    PyMem_GetAllocator PyMem_SetAllocator)
if(PYMEMRUN_PYTHON_VERSION VERSION_EQUAL 3.11)  # see pending_work.c
  list(APPEND PYMEMRUN_RENAMED_FUNCTIONS _PyEval_SignalReceived _PyEval_SignalAsyncExc)
endif()
if(PYMEMRUN_PYTHON_VERSION VERSION_GREATER_EQUAL 3.11)  # see finalize_watch.c
  list(APPEND PYMEMRUN_RENAMED_FUNCTIONS _PyAtExit_Call)
endif()

# As PYMEMRUN_FRAME_MARKS, where the interpreter is linked, and PYMEMRUN_MONITORING
# in the versions' headers: for tests and benchmarks of what only these versions
# have. Those of CPython 3.12 and 3.13 are in launcher/preload/preload_objects.cmake.
string(COMPARE EQUAL "${PYMEMRUN_PYTHON_VERSION}" 3.11 PYMEMRUN_HAS_FRAME_MARKS)
if(PYMEMRUN_PYTHON_VERSION VERSION_LESS 3.12)
  set(PYMEMRUN_HAS_PROFILE_SLOTS ON)
endif()
