# cmake --install and cpack.
