#!/usr/bin/env python3
"""Programs whose memory is known, in each way to record and with each Python: every answer
is right, as often as it is asked for.

known_answers_test.py [--runs N] [--jobs N] [--python PATH]... [--mode NAME]... [PROGRAM...]"""
import argparse
import collections
import concurrent.futures
import os
import subprocess
import sys
import tempfile
import traceback

import known_answers
import known_case
import known_objects
import known_packages
import perf_support
import support

assert known_answers and known_objects and known_packages  # They register their programs.
PROGRAMS = known_case.ALL
MODES = {"default": ((), None), "light": (("--light",), None), "full": (("--full",), None),
         "refused": ((), perf_support.refuse_perf)}


def record(folder, mode, python, name):
    """Runs the program; None, or what is wrong with what is said of it."""
    text, arguments, options, _, module, check = PROGRAMS[name]
    script = os.path.join(folder, (module or "program") + ".py")
    os.makedirs(os.path.dirname(script), exist_ok=True)
    environment = dict(os.environ, PYTHONPATH=os.path.dirname(script)) if module else None
    command = ["-m", os.path.basename(module)] if module else [script]
    with open(script, "w") as file:
        file.write(text)
    path = os.path.join(folder, "run.pb")
    mode_options, before = MODES[mode]
    result = subprocess.run(
        [support.PYMEMRUN, "--quiet", "-o", path, "--python", python, *mode_options, *options,
         *command, *arguments], cwd=folder, env=environment, text=True, stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, preexec_fn=before)
    if result.returncode != 0:
        return f"exit {result.returncode}: {result.stderr}"
    try:
        check(known_case.Case(path, text, result))
    except AssertionError as error:
        return str(error)
    except Exception:
        return traceback.format_exc()
    return None


def attempt(mode, python, name):
    with tempfile.TemporaryDirectory(prefix="pymemrun_") as folder:
        return record(folder, mode, python, name)


def has(python, module):
    return module is None or subprocess.run(
        [python, "-c", f"import {module}"], stderr=subprocess.DEVNULL).returncode == 0


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--runs", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--python", action="append")
    parser.add_argument("--mode", action="append", choices=MODES)
    parser.add_argument("program", nargs="*", choices=[[], *PROGRAMS])
    chosen = parser.parse_args()
    names = chosen.program or list(PROGRAMS)
    pythons = chosen.python or ["/usr/bin/python3"]
    work = [(mode, python, name) for python in pythons for mode in chosen.mode or MODES
            for name in names
            if mode in known_case.modes(name, MODES) and
            has(python, PROGRAMS[name][3])]
    wrong = collections.defaultdict(list)
    with concurrent.futures.ThreadPoolExecutor(chosen.jobs) as pool:
        asked = [(one, pool.submit(attempt, *one)) for _ in range(chosen.runs) for one in work]
        for one, answer in asked:
            if answer.result():
                wrong[one].append(answer.result())
    for (mode, python, name), answers in wrong.items():
        print(f"{name} ({mode}, {python}): {len(answers)} of {chosen.runs} wrong, such as\n"
              f"{answers[0]}\n")
    right = len(work) * chosen.runs - sum(map(len, wrong.values()))
    print(f"{right} of {len(work) * chosen.runs} answers are right")
    sys.exit(1 if wrong or not work else 0)


if __name__ == "__main__":
    main()
