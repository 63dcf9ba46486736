"""Runs a script under cPyMemTrace, on the main thread as that tool has it.
usage: cpymemtrace_run.py TRIGGER LOG SCRIPT

TRIGGER: the change of RSS in bytes from which on an event is logged; -1 for a
page, 0 for every event.
"""
import runpy
import sys

from pymemtrace import cPyMemTrace

trigger, log, script = sys.argv[1:4]
sys.argv = sys.argv[3:]
with cPyMemTrace.Profile(int(trigger), filepath=log):
    runpy.run_path(script, run_name="__main__")
