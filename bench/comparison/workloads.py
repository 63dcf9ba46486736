"""The programs that are run, and how large."""
import dataclasses
import os
import pathlib
import subprocess
import threading

FOLDER = pathlib.Path(__file__).resolve().parent.parent / "workloads"
PYTHON = "/usr/bin/python3"

# full: seconds untraced, for what costs little; short: a fraction of a second,
# for what takes hundreds of times that; tiny: to see that it works.
SCALES = ("full", "short", "tiny")


@dataclasses.dataclass(frozen=True)
class Workload:
    name: str
    script: str
    variables: dict            # scale: environment
    data: dict = None          # scale: (bytes, files) that gen_las.py makes
    single_threaded: bool = True

    def describe(self, scale):
        words = [f"{k}={v}" for k, v in self.variables[scale].items()]
        if self.data:
            words.append(f"{self.data[scale][0] / 1e6:g} MB of data")
        return ", ".join(words)


def _by_scale(variable, *values):
    return {scale: {variable: str(v)} for scale, v in zip(SCALES, values)}


WORKLOADS = {w.name: w for w in (
    Workload("calls", "calls.py", _by_scale("WORK_REPEAT", 10, 1, 1),
             {"full": (20_000_000, 82), "short": (4_000_000, 82),
              "tiny": (50_000, 4)}),
    Workload("alloc", "alloc.py", _by_scale("WORK_N", 24, 4, 1)),
    Workload("numpy", "numpy_arrays.py", _by_scale("WORK_N", 25, 3, 1)),
    Workload("threads", "threads.py", _by_scale("WORK_N", 8000, 500, 10),
             single_threaded=False),
    Workload("builtins", "builtins_loop.py",
             _by_scale("WORK_N", 1_000_000, 50_000, 1000)),
)}


def base_environment():
    """This process's own, without what changes a Python or pymemrun."""
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith(("PYMEMRUN_", "PYTHON"))}
    environment["PYTHONHASHSEED"] = "0"
    return environment


class DataSets:
    """The generated input of workloads, made once and kept in `folder`."""

    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.making = threading.Lock()   # runs may be prepared side by side

    def environment(self, workload, scale, out_folder):
        environment = base_environment()
        environment.update(workload.variables[scale])
        if workload.data:
            environment["WORK_DATA"] = str(self.las(*workload.data[scale]))
            environment["WORK_OUT"] = str(out_folder)
        return environment

    def las(self, size, files):
        path = self.folder / f"las-{size}-{files}"
        with self.making:
            if not path.exists():
                self.folder.mkdir(parents=True, exist_ok=True)
                unfinished = path.with_name(f"{path.name}.{os.getpid()}")
                subprocess.run([PYTHON, FOLDER / "gen_las.py", unfinished,
                                str(size), str(files)],
                               check=True, stdout=subprocess.DEVNULL)
                unfinished.rename(path)
        return path
