"""Runs a test, which finds this folder's modules: run_test.py FILE [ARGUMENT...]

A variable such as PYTHONPATH would reach the programs that are traced.
"""
import os
import runpy
import sys

path = os.path.abspath(sys.argv[1])
del sys.argv[0]
sys.path.insert(0, os.path.dirname(path))
runpy.run_path(path, run_name='__main__')
