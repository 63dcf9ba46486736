"""A program whose memory is known, after it ran, and how its check asks the reports."""
import csv
import io
import json
import subprocess

import support

MIB = 1 << 20


class Case:
    """A program that ran, and what the reports say of it. Raises AssertionError with the
    report's text where something is not as it must be."""

    def __init__(self, path, text, result):
        self.path, self.text, self.result = path, text, result

    def ask(self, tool, *arguments):
        done = subprocess.run([tool, *arguments], text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)
        assert done.returncode == 0, f"{arguments}: {done.stderr}"
        return done.stdout

    def dump(self, command, *arguments, path=None):
        """What pymemobj says of the dump that was made at the exit, or of another."""
        path = path or self.path.replace(".pb", ".obj.pb")
        return self.ask(support.PYMEMOBJ, path, command, *arguments)

    def report(self, *arguments):
        return self.ask(support.PYMEMREPORT, arguments[0], self.path, *arguments[1:])

    def rows(self, *arguments):
        return list(csv.DictReader(io.StringIO(self.report(*arguments, "--csv"))))

    def screen(self):
        return self.report("report")

    def by_scan(self):
        """Nobody saw who touched the pages."""
        return "pages by scan" in self.screen()

    def answer(self):
        return json.loads(self.report("report", "--json"))

    def line(self, tag):
        return next(n for n, line in enumerate(self.text.splitlines(), 1)
                    if line.endswith("# " + tag))

    def held(self, tag):
        """Bytes of the line at the peak, with what it uses in pools."""
        return self._of_line(tag, "bytes")

    def error(self, tag):
        """The standard error of the line's bytes."""
        return self._of_line(tag, "error_bytes")

    def in_pool(self, tag):
        """The part of the line's bytes that lies in a library's pool."""
        return self._of_line(tag, "pool_bytes")

    def _of_line(self, tag, key):
        line = self.line(tag)
        return sum(place[key] for place in self.answer()["peak"]["places"]
                   if place["line"] == line)

    def first(self, moment="peak"):
        """The own line that holds most, imports left out."""
        imports = {n for n, line in enumerate(self.text.splitlines(), 1) if "import " in line}
        places = [place for place in self.answer()[moment]["places"]
                  if place["own"] and place["line"] and place["line"] not in imports]
        return max(places, key=lambda place: place["bytes"])["line"] if places else None

    def near(self, what, found, expected, tolerance):
        assert abs(found - expected) <= tolerance, (
            f"{what}: {found / MIB:.2f} MiB, {expected / MIB:.2f} are true\n{self.screen()}")

    def unattributed(self):
        for moment in "peak", "end":
            missing = self.answer()[moment]["parts"]["unattributed"]
            assert -0.5 * MIB <= missing <= 2 * MIB, (
                f"{missing / MIB:.2f} MiB unattributed at {moment}\n{self.screen()}")


ALL = {}
# What a mode does not record cannot be asked of it.
_without_light = set()


def known(name, text, *arguments, options=(), needs=None, light=True, module=None):
    """The decorated function checks the program. `needs`: a package; without `light` only
    modes that trace calls tell; `module`: the name to run it by, with -m."""
    def add(check):
        ALL[name] = text.lstrip("\n"), arguments, options, needs, module, check
        if not light:
            _without_light.add(name)
        return check
    return add


def modes(name, names):
    return [mode for mode in names if mode != "light" or name not in _without_light]
