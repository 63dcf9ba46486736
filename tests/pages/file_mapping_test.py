#!/usr/bin/env python3
"""Pages of files that a program maps for a moment are known by the file, also where
the mapping has moved, and where the kernel scans no page tables."""
import json
import os
import subprocess
import unittest

import support

MIB = 1 << 20
IOCTL = {"x86_64": 16, "aarch64": 29}.get(os.uname().machine)

# Reads a mapped file, a page each, and unmaps it at once.
READS = """
import mmap, os
SIZE = 48 << 20
with open("data", "wb") as file:
    file.write(bytes(SIZE))
def read(grow):
    with open("data", "r+b") as file:
        with mmap.mmap(file.fileno(), SIZE // 4 if grow else SIZE) as area:
            if grow: area.resize(SIZE)
            return sum(area[i] for i in range(0, SIZE, mmap.PAGESIZE))
"""
# From here on PAGEMAP_SCAN is a request that the kernel does not know.
REFUSES = f"""
import ctypes, struct
libc = ctypes.CDLL(None, use_errno=True)
LOAD, IS, RETURN = 0x20, 0x15, 0x06
code = [(LOAD, 0, 0, 0), (IS, 0, 3, {IOCTL}), (LOAD, 0, 0, 24),
        (IS, 0, 1, 0xc0606610), (RETURN, 0, 0, 0x50000 | 25),
        (RETURN, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(
    b"".join(struct.pack("HBBI", *line) for line in code))
program = ctypes.create_string_buffer(
    struct.pack("HxxxxxxQ", 6, ctypes.addressof(code)))
assert libc.prctl(38, 1, 0, 0, 0) == 0
assert libc.prctl(22, 2, program, 0, 0) == 0
"""


class FileMappingTest(support.PageEventsTest):
    def check(self, text):
        run = self.run_script(text, env=support.USUAL)
        done = subprocess.run([support.PYMEMREPORT, "report", "--json", run.path],
                              check=True, capture_output=True, text=True)
        parts = json.loads(done.stdout)["peak"]["parts"]
        self.assertLess(abs(parts["unattributed"]), 2 * MIB, parts)
        self.assertGreater(parts["files_and_code"], 46 * MIB, parts)

    def test_a_file_that_is_mapped_for_a_moment(self):
        self.check(READS + "read(False)\n")

    def test_one_whose_mapping_grows(self):
        self.check(READS + "read(True)\n")

    @unittest.skipUnless(IOCTL, "another number")
    def test_where_page_tables_are_not_scanned(self):
        self.check(READS + REFUSES + "read(False)\n")


if __name__ == "__main__":
    unittest.main()
