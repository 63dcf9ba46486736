#!/usr/bin/env python3
"""Large packages from an index beside the tracer: importing and using them gives
the same output traced, by the default run, as untraced. Packages that the index
does not have are skipped.

PYMEMRUN_WHEEL and PYMEMRUN_TEST_PYTHONS: see wheel_support.
"""
import os
import subprocess
import sys
import unittest

import wheel_support

VERSIONS = ("3.11", "3.12")
# What is installed, and a small use of it.
PACKAGES = {
    "pyarrow": """
import pyarrow, pyarrow.compute
table = pyarrow.table({"n": list(range(100_000)), "s": [str(n % 7) for n in range(100_000)]})
print(table.group_by("s").aggregate([("n", "sum")]).sort_by("s").to_pydict())
""",
    "grpcio": """
import concurrent.futures, grpc
def answer(request, context): return request[::-1]
server = grpc.server(concurrent.futures.ThreadPoolExecutor(2))
server.add_generic_rpc_handlers((grpc.method_handlers_generic_handler("S", {
    "Reverse": grpc.unary_unary_rpc_method_handler(answer)}),))
port = server.add_insecure_port("127.0.0.1:0")
server.start()
with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
    print([channel.unary_unary("/S/Reverse")(b"%d!" % n) for n in range(20)])
server.stop(None).wait()
""",
    "protobuf": """
from google.protobuf import struct_pb2
from google.protobuf.internal import api_implementation
message = struct_pb2.Struct()
message.update({str(n): list(range(n)) for n in range(100)})
again = struct_pb2.Struct.FromString(message.SerializeToString())
print(again == message, len(again), api_implementation.Type())
""",
    "polars": """
import polars
frame = polars.DataFrame({"n": range(100_000)}).with_columns(k=polars.col("n") % 5)
print(frame.group_by("k").agg(polars.col("n").sum()).sort("k").rows())
""",
    "duckdb": """
import duckdb
print(duckdb.sql("select n % 5 as k, sum(n) from range(100000) t(n) group by k order by k")
      .fetchall())
""",
}


class ImportsTest(wheel_support.WheelTest):
    def test_packages_work_as_untraced(self):
        for python in wheel_support.pythons():
            if python.series in VERSIONS:
                home, pip, _ = self.environment(python)
                for package, text in PACKAGES.items():
                    with self.subTest(python=python.name, package=package):
                        self.check(home, pip, package, text)

    def check(self, home, pip, package, text):
        clean = wheel_support.clean_environment()
        got = subprocess.run([*pip, "install", "--only-binary", ":all:", package],
                             capture_output=True, text=True, env=clean)
        if got.returncode != 0:
            self.skipTest(f"not in the index: {package}: {got.stderr[-300:]}")
        script = os.path.join(home, "uses.py")
        with open(script, "w", encoding="utf-8") as file:
            file.write(text)
        plain = subprocess.run([home + "/bin/python", script], env=clean,
                               capture_output=True, text=True)
        self.assertEqual(plain.returncode, 0, plain.stderr)
        traced = subprocess.run([home + "/bin/pymemrun", "--quiet", "--force", "-o",
                                 script + ".pb", script], env=clean,
                                capture_output=True, text=True)
        self.assertEqual((traced.stdout, traced.returncode), (plain.stdout, 0),
                         traced.stderr)
        report = wheel_support.run(home + "/bin/pymemreport", script + ".pb")
        self.assertIn("uses.py", report)
        print(f"{os.path.basename(home)}: {package} works", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
