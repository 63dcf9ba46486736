"""The hooks' fast halves call nothing and leave only to their slow halves: no
allocator, no lock, no system call, no Python. Read from the disassembly of the
executable."""
import os
import re
import subprocess
import unittest

PYMEMRUN = os.environ["PYMEMRUN_BIN"]

# Functions on the path of every event, and what each may leave to, by a jump at
# its end: the fast halves themselves call nothing at all. Its slow half first.
SLOW_HALVES = {
    f"Hook<{everything},{calls}>": (
        f"SlowHalf<{everything},false>::Take",
        f"SlowHalf<{everything},false>::TakeByClock", "Startup::NotTracing")
    for everything, calls in (("true", "false"), ("false", "false"),
                              ("false", "true"))
}
# Instructions in the code of each; more means that something moved in.
# What only fills up to a round address does not count.
MOST_INSTRUCTIONS = {"Hook<true,false>": 191, "Hook<false,false>": 207,
                     "Hook<false,true>": 250}
FILLING = re.compile(r"nop|data16|cs nop|xchg +%ax,%ax")


def _monitoring_hooks():
    """From CPython 3.12 on there is one for each callback of sys.monitoring's;
    those of exceptions that leave a frame or enter one have no fast half."""
    halves, most = {}, {}
    for everything in ("true", "false"):
        for callback in (0, 2, 4, 5, 6):
            kind = f"<{everything},{callback}>"
            halves["Hook" + kind] = (
                f"RecordSlow<{everything},false>", "NotTracing",
                "OwnProfiler::Tell", "RecordUnusual" + kind)
            most["Hook" + kind] = 300
    return halves, most


VERSION = subprocess.run([PYMEMRUN, "--version"], check=True, capture_output=True,
                         text=True).stdout
if int(re.search(r"CPython 3\.(\d+)", VERSION).group(1)) >= 12:
    SLOW_HALVES, MOST_INSTRUCTIONS = _monitoring_hooks()


def functions():
    """{demangled name: [instruction text]} of the whole executable."""
    text = subprocess.run(["objdump", "-d", "-C", "--no-show-raw-insn", PYMEMRUN],
                          check=True, capture_output=True, text=True).stdout
    text = re.sub(r"<(\w+), (?:\(PymemrunCallback\))?(\w+)>", r"<\1,\2>", text)
    found, name = {}, None
    for line in text.splitlines():
        heading = re.fullmatch(r"[0-9a-f]+ <(.*)>:", line)
        if heading:
            name = heading.group(1)
            found[name] = []
        elif name and "\t" in line:
            found[name].append(line.split("\t", 1)[1].strip())
    return found


def short(target):
    """`CodeRegistry::FindCode` of `pymemrun::CodeRegistry::FindCode(…) [clone]`."""
    target = re.sub(r"\(anonymous namespace\)::", "", target)
    target = re.sub(r"\(.*", "", target)
    target = re.sub(r"[+@].*", "", target)
    # Before a template's name stands what it returns.
    return target.replace("pymemrun::", "").split(" ")[-1]


class FastPathTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.functions = functions()

    def parts(self, name):
        """The function's instructions, its cold part's included."""
        return {full: code for full, code in self.functions.items()
                if re.search(r"\b" + re.escape(name) + r"\(", full)}

    def targets(self, name):
        """What the function calls, or leaves to by a jump."""
        parts = self.parts(name)
        self.assertTrue(parts, f"no {name} in {PYMEMRUN}")
        called = set()
        for code in parts.values():
            for instruction in code:
                match = re.match(r"(?:call|jmp)\s+(.*)", instruction)
                if not match:
                    continue
                named = re.search(r"<(.*)>", match.group(1))
                if not named:
                    self.assertFalse(instruction.startswith("call"),
                                     f"{name} calls through a pointer: {instruction}")
                elif short(named.group(1)) != name:
                    called.add(short(named.group(1)))
        return called

    def test_hooks_leave_only_to_their_slow_halves(self):
        for name in SLOW_HALVES:
            with self.subTest(name):
                self.assertLessEqual(self.targets(name), {*SLOW_HALVES[name]})

    def test_hooks_call_nothing(self):
        for name in SLOW_HALVES:
            for code in self.parts(name).values():
                for instruction in code:
                    self.assertFalse(instruction.startswith("call"),
                                     f"{name}: {instruction}")

    def test_hooks_are_seen_to_leave_to_their_slow_halves(self):
        # The checks above read the right functions.
        for name, halves in SLOW_HALVES.items():
            self.assertIn(halves[0], self.targets(name))

    def test_hooks_stay_short(self):
        for name, most in MOST_INSTRUCTIONS.items():
            size = sum(not FILLING.match(instruction)
                       for code in self.parts(name).values()
                       for instruction in code)
            self.assertLess(size, most, name)

    def test_no_lock_and_no_system_call(self):
        for name in SLOW_HALVES:
            for code in self.parts(name).values():
                for instruction in code:
                    self.assertNotRegex(instruction, r"^(lock |syscall|xchg .*\()")

    def test_the_next_function_is_found_without_leaving_the_executable(self):
        # It works before the executable is relocated, and inside of dlsym.
        reached, waiting = set(), {"FindNext"}
        while waiting:
            name = waiting.pop()
            reached.add(name)
            for code in self.parts(name).values():
                for instruction in code:
                    self.assertNotIn("@plt", instruction, name)
            waiting |= {short(target) for target in self.calls_of(name)} - reached
        self.assertIn("Defines", reached)

    def calls_of(self, name):
        """What it calls by name."""
        for code in self.parts(name).values():
            for instruction in code:
                match = re.match(r"call\s.*<(.*)>", instruction)
                if match:
                    yield match.group(1)


if __name__ == "__main__":
    unittest.main()
