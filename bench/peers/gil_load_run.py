"""Runs a script under gil_load, and writes what it found: python -m gil_load
gil_load_run.py OUTPUT SCRIPT. Shares are of `elapsed` seconds; threads by ident."""
import json
import runpy
import sys
import time

import gil_load

gil_load.init()
output, sys.argv = sys.argv[1], sys.argv[2:]
begin = time.monotonic()
gil_load.start()
runpy.run_path(sys.argv[0], run_name="__main__")
gil_load.stop()
elapsed = time.monotonic() - begin
with open(output, "w", encoding="ascii") as file:
    json.dump({"elapsed": elapsed, "threads": gil_load.get()[1]}, file)
