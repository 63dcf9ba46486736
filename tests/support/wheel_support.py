"""What tests of the wheel share: the wheel, the Pythons that are here, clean
environments, and our whole-program tests run with the tools that are installed."""
import collections
import glob
import os
import re
import subprocess
import time
import unittest
import zipfile

import support

# What runs a whole-program test of ours with the tools that are installed.
TOOLS = {"PYMEMCAT_BIN": "pymemcat", "PYMEMREPORT_BIN": "pymemreport",
         "PYMEMRUN_TEST_PYTHON": "python"}
ASK = """\
import sys, sysconfig
free_threaded = bool(sysconfig.get_config_var("Py_GIL_DISABLED"))
print("%d.%d.%d" % sys.version_info[:3] + "t" * free_threaded)
print("shared" if "/libpython" in open("/proc/self/maps").read() else "static")
try:
    import ensurepip
    print("pip")
except ImportError:
    print("none")
"""


class Python(collections.namedtuple("Python", "name link pip path")):
    """An interpreter: `3.13.0t` for one without GIL, `static` or `shared`."""

    @property
    def version(self):
        return tuple(map(int, self.name.rstrip("t").split(".")))

    @property
    def series(self):
        """As the tracer objects are named: 3.13t."""
        return re.sub(r"\.\d+(t?)$", r"\1", self.name)

    @property
    def free_threaded(self):
        return self.name.endswith("t")


def run(*command, **options):
    options.setdefault("env", clean_environment())
    done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True, **options)
    if done.returncode != 0:
        raise AssertionError(f"{command}: {done.returncode}\n{done.stdout}")
    return done.stdout


def clean_environment(**variables):
    return {name: value for name, value in os.environ.items()
            if not name.startswith(("PYMEMRUN_", "PYTHON", "VIRTUAL_ENV"))} | variables


def pythons():
    """One of each exact version and kind that is here. PYMEMRUN_TEST_PYTHONS names
    others in their place (path:path...)."""
    paths = ["/usr/bin/python3", *sorted(glob.glob("/usr/local/bin/python3.*[0-9]")),
             *sorted(glob.glob(os.path.expanduser("~/.pyenv/versions/3.*/bin/python3")))]
    if "PYMEMRUN_TEST_PYTHONS" in os.environ:
        paths = os.environ["PYMEMRUN_TEST_PYTHONS"].split(":")
    found = {}
    for path in paths:
        asked = subprocess.run([path, "-IS", "-c", ASK], capture_output=True, text=True)
        if asked.returncode == 0:
            name, link, pip = asked.stdout.split()
            found.setdefault((name, link), Python(name, link, pip == "pip", path))
    return [python for python in found.values() if python.version >= (3, 9)]


def make_wheel():
    run("/usr/bin/python3", "-m", "venv", "index")
    tried = subprocess.run(
        ["index/bin/pip", "download", "--no-deps", "-d", "index", "auditwheel"],
        capture_output=True, text=True)
    if tried.returncode != 0:
        raise unittest.SkipTest("pip finds no package index: " + tried.stderr[-200:])
    says = run(os.path.join(support.SOURCE, "scripts", "wheel"), cwd=support.SOURCE)
    wheel, = glob.glob(os.path.join(support.SOURCE, "dist", "*.whl"))
    return wheel, says


class WheelTest(support.ProgramTest):
    """PYMEMRUN_WHEEL names a wheel that is there already. Skipped where one must be
    made and pip has no index."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.wheel, cls.says = os.environ.get("PYMEMRUN_WHEEL"), None
        if not cls.wheel:
            cls.wheel, cls.says = make_wheel()
        with zipfile.ZipFile(cls.wheel) as file:
            cls.traced = set(re.findall(r"pymemrun-tracer-(\d+\.\d+t?)\.so",
                                        " ".join(file.namelist())))

    def environment(self, python):
        """A clean one with the wheel; what installs further packages there; and the
        seconds that the wheel took."""
        folder = os.path.join(self.folder, f"{python.name}-{python.link}")
        pip = (folder + "/bin/pip",)
        if python.pip:
            run(python.path, "-m", "venv", folder)
        else:
            run(python.path, "-m", "venv", "--without-pip", folder)
            other = self.folder + "/pip"
            run("/usr/bin/python3", "-m", "venv", other)
            pip = (other + "/bin/pip", "--python", folder + "/bin/python")
        start = time.monotonic()
        run(*pip, "install", "--no-index", self.wheel)
        return folder, pip, time.monotonic() - start


def installed_test(environment, file, *names):
    """Runs a test of ours, or those of its tests that are named. An installed
    pymemrun refuses a variable that the tests have."""
    folder = os.path.join(environment, "work")
    os.makedirs(folder, exist_ok=True)
    launcher = folder + "/launcher"
    with open(launcher, "w", encoding="utf-8") as script:
        script.write("#!/bin/sh\nunset PYMEMRUN_TEST_PYTHON\n"
                     f"exec {environment}/bin/pymemrun \"$@\"\n")
    os.chmod(launcher, 0o755)
    tools = {name: f"{environment}/bin/{tool}" for name, tool in TOOLS.items()}
    return subprocess.run(
        ["/usr/bin/python3", os.path.join(support.SOURCE, "tests/support/run_test.py"),
         os.path.join(support.SOURCE, "tests", file), *names],
        cwd=folder, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT, text=True,
        env=clean_environment(PYMEMRUN_SOURCE_DIR=support.SOURCE, PYMEMRUN_BIN=launcher,
                              **tools))
