"""The hooks' fast halves call nothing but their slow halves: no allocator, no
lock, no system call, no Python. Read from the disassembly of the executable."""
import os
import re
import subprocess
import unittest

PYMEMRUN = os.environ["PYMEMRUN_BIN"]

# Functions on the path of every event, and the only ones each may call.
SLOW_HALVES = {
    "LogAllHook": {"UpdateRssSlow", "EnterThreadSlow", "LogWithState",
                   "CodeRegistry::FindCode", "CodeRegistry::FindFunction",
                   "Startup::NotTracing", "Startup::RootReturned",
                   # The clock where the TSC cannot be trusted; the vDSO's.
                   "clock_gettime"},
    "FilterHook": {"UpdateRssSlow", "EnterThreadSlow", "LogWithContext",
                   "CodeRegistry::FindCode", "CodeRegistry::FindFunction",
                   "Startup::NotTracing", "Startup::RootReturned",
                   "clock_gettime"},
}
# Instructions executed by most events; more means that something moved in.
MOST_INSTRUCTIONS = {"LogAllHook": 260, "FilterHook": 260}


def functions():
    """{demangled name: [instruction text]} of the whole executable."""
    text = subprocess.run(["objdump", "-d", "-C", "--no-show-raw-insn", PYMEMRUN],
                          check=True, capture_output=True, text=True).stdout
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
    return target.replace("pymemrun::", "")


class FastPathTest(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.functions = functions()

    def parts(self, name):
        """The function's instructions, its cold part's included."""
        return {full: code for full, code in self.functions.items()
                if re.search(r"\b" + name + r"\(", full)}

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

    def test_hooks_call_only_their_slow_halves(self):
        for name in ("LogAllHook", "FilterHook"):
            with self.subTest(name):
                self.assertLessEqual(self.targets(name), SLOW_HALVES[name])

    def test_hooks_are_seen_to_call_their_slow_halves(self):
        # The check above reads the right functions.
        for name in ("LogAllHook", "FilterHook"):
            self.assertIn("UpdateRssSlow", self.targets(name))

    def test_hooks_stay_short(self):
        for name, most in MOST_INSTRUCTIONS.items():
            size = sum(map(len, self.parts(name).values()))
            self.assertLess(size, most, name)

    def test_no_lock_and_no_system_call(self):
        for name in ("LogAllHook", "FilterHook"):
            for code in self.parts(name).values():
                for instruction in code:
                    self.assertNotRegex(instruction, r"^(lock |syscall|xchg .*\()")


if __name__ == "__main__":
    unittest.main()
