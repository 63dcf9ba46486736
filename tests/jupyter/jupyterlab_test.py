#!/usr/bin/env python3
"""A notebook in a real JupyterLab, in a real browser: with the traced kernel, the
answer and the picture are on the page. PYMEMRUN_KEEP_PICTURES names a folder for a
screenshot."""
import glob
import json
import os
import signal
import subprocess
import unittest

import jupyter_support
from browser import CHROMIUM, Browser
from waiting import PATIENCE_S, wait_until

CELLS = ["%load_ext pymemrun",
         "def table(rows):\n    return [str(n) * 4 for n in range(rows)]",
         "%%pymemrun\nkept = table(400_000)\npart = bytearray(b'1') * 30_000_000\n"
         "both = part + part\ndel both"]
OUTPUTS = """Array.from(document.querySelectorAll('.jp-Cell .jp-OutputArea-output'))
    .map(one => one.textContent).join('\\n')"""
# JupyterLab draws a picture as an image, or in the page.
PICTURE = """(() => {
  const found = document.querySelector('.jp-RenderedSVG img, .jp-RenderedSVG svg');
  if (!found || found.complete === false) return [0, 0, ''];
  found.scrollIntoView({block: 'end'});
  const box = found.getBoundingClientRect();
  const room = found.closest('.jp-OutputArea-output').getBoundingClientRect();
  return [box.width, room.width, found.tagName === 'IMG' ? decodeURIComponent(found.src) : found.outerHTML];
})()"""


def notebook():
    return {"cells": [{"cell_type": "code", "execution_count": None, "id": f"cell{number}",
                       "metadata": {}, "outputs": [], "source": cell}
                      for number, cell in enumerate(CELLS)],
            "metadata": {"kernelspec": {"name": "pymemrun", "language": "python",
                                        "display_name": "Python, traced"}},
            "nbformat": 4, "nbformat_minor": 5}


@unittest.skipUnless(CHROMIUM, "there is no chromium")
class JupyterLabTest(jupyter_support.JupyterTest):
    PACKAGES = ("jupyterlab",)

    def setUp(self):
        self.write("notebook.ipynb", json.dumps(notebook()))
        self.log = open(self.folder + "/lab.log", "w", encoding="utf-8")
        self.addCleanup(self.log.close)
        self.lab = subprocess.Popen(
            [self.environment + "/bin/jupyter-lab", "--no-browser", "--allow-root",
             "--expose-app-in-browser", "--ServerApp.port=0", "--ServerApp.ip=127.0.0.1",
             "--ServerApp.root_dir=" + self.folder],
            cwd=self.folder, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log,
            env=jupyter_support.variables(self.folder))
        self.addCleanup(self.end_lab)
        self.assertTrue(wait_until(self.address), self.said())
        self.browser = Browser(self.folder + "/profile")
        self.addCleanup(self.browser.close)

    def end_lab(self):
        self.lab.send_signal(signal.SIGTERM)  # which ends its kernels
        self.lab.wait(timeout=PATIENCE_S)

    def said(self):
        with open(self.folder + "/lab.log", encoding="utf-8") as file:
            return file.read()[-2000:]

    def address(self):
        self.assertIsNone(self.lab.poll(), self.said())
        for path in glob.glob(self.folder + "/runtime/jpserver-*.json"):
            with open(path, encoding="utf-8") as file:
                text = file.read()
            if text.endswith("}"):
                server = json.loads(text)
                return server["url"] + "lab/tree/notebook.ipynb?token=" + server["token"]
        return None

    def wait_for(self, expression):
        self.assertTrue(wait_until(lambda: self.browser.value(expression)),
                        f"{expression}\n{self.browser.value(OUTPUTS)}\n{self.said()}")

    def test_a_cell_shows_its_answer_and_picture(self):
        self.browser.open(self.address(), height=1000)
        self.wait_for("Boolean(window.jupyterapp && jupyterapp.shell.currentWidget && "
                      "jupyterapp.shell.currentWidget.sessionContext && jupyterapp.shell"
                      ".currentWidget.sessionContext.session && document.querySelectorAll("
                      f"'.jp-CodeCell').length >= {len(CELLS)})")
        self.browser.value("void jupyterapp.commands.execute('notebook:run-all-cells')")
        self.wait_for(f"({OUTPUTS}).includes('RSS ')")
        says = self.browser.value(OUTPUTS)
        self.assertIn("In [3]: ", says)
        self.assertRegex(says, r"In \[2\]:2 +return \[str\(n\)")
        self.assertRegex(says, r"In \[3\]:4 +both = part \+ part")
        self.wait_for(f"{PICTURE}[0] > 300")
        width, room, picture = self.browser.value(PICTURE)
        self.assertLessEqual(width, room)
        self.assertTrue("In [3]:3" in picture)
        keep = os.environ.get("PYMEMRUN_KEEP_PICTURES")
        if keep:
            self.browser.keep_picture(os.path.join(keep, "jupyterlab.png"))


if __name__ == "__main__":
    unittest.main()
