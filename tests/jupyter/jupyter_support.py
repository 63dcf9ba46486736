"""What the tests of Jupyter share: an environment with its packages, and cells run by
its own client."""
import json
import os
import subprocess
import unittest

import support
from waiting import PATIENCE_S

# Run in the environment: cells in, their outputs out, as JSON.
CLIENT = """\
import json, sys
import nbformat
from nbclient import NotebookClient
kernel, cells, stops = json.load(sys.stdin)
notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(c) for c in cells])
client = NotebookClient(notebook, kernel_name=kernel, timeout=%d, allow_errors=not stops)
try:
    client.execute()
except Exception as error:
    if not stops:
        raise
json.dump([cell.outputs for cell in notebook.cells], sys.stdout)
""" % PATIENCE_S


def environment(folder, *packages):
    """The folder of an environment with these packages."""
    named = os.environ.get("PYMEMRUN_TEST_JUPYTER")
    if named:
        return named
    made = os.path.join(folder, "environment")
    subprocess.run([support.PYTHON, "-m", "venv", made], check=True)
    tried = subprocess.run([made + "/bin/pip", "install", *packages], text=True,
                           stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
    if tried.returncode != 0:
        raise unittest.SkipTest("pip cannot install " + " ".join(packages) + ": " +
                                tried.stdout[-200:])
    return made


def variables(folder, **more):
    """Jupyter's, in the folder, and no run file of a test's beside."""
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith(("PYTHON", "PYMEMRUN_", "JUPYTER", "VIRTUAL_ENV"))}
    return kept | {"JUPYTER_DATA_DIR": folder + "/data", "TMPDIR": folder,
                   "JUPYTER_RUNTIME_DIR": folder + "/runtime",
                   "JUPYTER_CONFIG_DIR": folder + "/config",
                   "IPYTHONDIR": folder + "/ipython"} | more


def kernel_command(*words, folder, **more):
    return subprocess.run([support.PYMEMRUN, "kernel", *words], cwd=folder, text=True,
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=variables(folder, **more))


class Output:
    """What a cell has shown."""

    def __init__(self, outputs):
        self.kinds = [one["output_type"] for one in outputs]
        self.stdout, self.stderr = (
            "".join(one["text"] for one in outputs
                    if one["output_type"] == "stream" and one["name"] == name)
            for name in ("stdout", "stderr"))
        self.errors = [one["ename"] for one in outputs if one["output_type"] == "error"]
        self.tracebacks = ["\n".join(one["traceback"]) for one in outputs
                           if one["output_type"] == "error"]
        shown = [one["data"] for one in outputs if "data" in one]
        self.result = "".join(one["data"]["text/plain"] for one in outputs
                              if one["output_type"] == "execute_result")
        self.texts = [data["text/plain"] for data in shown]
        self.pictures = [data["image/svg+xml"] for data in shown if "image/svg+xml" in data]

    @property
    def answer(self):
        """The text of the magic."""
        found, = (text for text in self.texts if "RSS" in text)
        return found


class JupyterTest(support.ProgramTest):
    """With an environment that has a kernel, and a traced one of it installed."""
    PACKAGES = ("ipykernel", "nbclient")

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.addClassCleanup(support.ProgramTest.tearDownClass.__func__, cls)
        cls.environment = environment(cls.folder, *cls.PACKAGES)
        options = os.environ.get("PYMEMRUN_TEST_KERNEL_OPTIONS", "").split()
        done = kernel_command("install", "--python", cls.environment, "--", *options,
                              folder=cls.folder)
        assert done.returncode == 0, done.stderr

    @classmethod
    def tearDownClass(cls):
        pass  # as a cleanup, also where setUpClass skips

    def run_cells(self, kernel, *cells, stops=False, **more):
        done = subprocess.run(
            [self.environment + "/bin/python", "-c", CLIENT], cwd=self.folder,
            input=json.dumps([kernel, cells, stops]), text=True, stdout=subprocess.PIPE,
            stderr=subprocess.PIPE, env=variables(self.folder, **more))
        self.assertEqual(done.returncode, 0, done.stderr)
        return [Output(outputs) for outputs in json.loads(done.stdout)]
