#!/usr/bin/env python3
"""What a run records unless somebody says otherwise, and what it then leaves out
where that would harm the program."""
import ctypes
import os
import resource
import unittest

import support

PTRACE_TRACEME, PTRACE_CONT = 0, 7
ptrace = ctypes.CDLL(None, use_errno=True).ptrace
ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


class UnaskedTest(support.ProgramTest):
    def header(self, *options, **kwargs):
        return self.run_script("print(1)", *options, env=support.USUAL,
                               **kwargs).header

    def has_pages(self):
        """Whether perf lets page faults be traced here."""
        return self.header("--trace", "pages").page_period > 0

    def test_calls_pages_and_both_heaps(self):
        header = self.header()
        self.assertFalse(header.calls_off)
        self.assertEqual(header.page_period > 0, self.has_pages())
        self.assertEqual(header.heap, support.trace_pb2().HEAP_SAMPLED)
        self.assertTrue(header.heap_native)

    def test_light_and_full(self):
        header = self.header("--light")
        self.assertTrue(header.calls_off)
        self.assertTrue(header.page_scan)
        self.assertEqual(header.heap, support.trace_pb2().HEAP_SAMPLED)
        self.assertTrue(header.heap_native)
        header = self.header("--full")
        self.assertFalse(header.calls_off)
        self.assertEqual(header.heap, support.trace_pb2().HEAP_ALL)
        self.assertTrue(header.heap_native)

    def test_no_pages_in_a_short_address_space(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (60 << 20,) * 2)
        header = self.header(preexec=limit)
        self.assertEqual(header.page_period, 0)
        self.assertEqual(header.heap, support.trace_pb2().HEAP_OFF)

    def under_debugger(self, *options):
        """The header of a run whose parent debugs it."""
        path = os.path.join(self.folder, f"debugged{len(options)}.pb")
        script = self.write("debugged.py", "print(1)")
        pid = os.fork()
        if pid == 0:
            ptrace(PTRACE_TRACEME, 0, None, None)
            os.execv(support.PYMEMRUN, [support.PYMEMRUN, "--quiet", "-o", path,
                                        *options, script])
        first = True
        while True:
            _, status = os.waitpid(pid, 0)
            if not os.WIFSTOPPED(status):
                break
            # The first stop is the exec's own.
            passed = 0 if first else os.WSTOPSIG(status)
            first = False
            ptrace(PTRACE_CONT, pid, None, passed)
        self.assertEqual(os.waitstatus_to_exitcode(status), 0)
        return next(iter(support.file_records(path))).header

    def test_no_page_signals_under_a_debugger(self):
        header = self.under_debugger()
        self.assertEqual(header.page_period, 0)
        self.assertTrue(header.page_scan)
        if self.has_pages():
            self.assertGreater(self.under_debugger("--trace", "pages").page_period,
                               0)


if __name__ == "__main__":
    unittest.main()
