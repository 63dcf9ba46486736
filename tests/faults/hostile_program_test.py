"""A traced program that has dropped its privileges writes over all that it
shares with the collector, which still has them: the collector ends by itself,
with a file that can be read."""
import os
import resource
import unittest

from fault_support import (FaultTest, PYMEMCAT, run,
                           wait_for_collector_to_end)

RUNS = int(os.environ.get("PYMEMRUN_TEST_SCRIBBLED_RUNS", "20"))

# The addresses of what is shared, by what the program may do there.
SHARED = """
import ctypes, os, sys
def shared(writable):
    for line in open("/proc/self/maps"):
        fields = line.split()
        if "memfd:pymemrun" in line and ("w" in fields[1]) == writable:
            begin, end = (int(x, 16) for x in fields[0].split("-"))
            yield begin, end
def drop():
    if os.getuid() == 0:
        os.setgid(65534)
        os.setuid(65534)
"""

# The control page is small, and most of it means something. It is put right
# again, mostly before the collector has seen it: one that has read that the
# program ended looks no more.
SCRIBBLE = SHARED + """
import random, time
chance = random.Random(int(sys.argv[1]))
def odd():
    return chance.choice([
        0, (1 << 64) - 1, 1 << chance.randrange(64), chance.randrange(300),
        0x1111111110, chance.getrandbits(64), chance.getrandbits(18)])
[(begin, end)] = shared(True)
drop()
word = ctypes.c_uint64.from_address
for i in range(100):
    control = ctypes.string_at(begin, 8192)
    area = chance.choice([2048, 2048, 4096, 8192 + 65536, end - begin])
    at = begin + chance.randrange(area // 8) * 8
    for address in range(at, min(at + 8 * chance.randrange(1, 40), end), 8):
        word(address).value = odd()
    time.sleep(chance.choice([0, 0, 0.0001, 0.001]))
    if chance.random() < 0.8: ctypes.memmove(begin, control, len(control))
    [len([]) for _ in range(50)]
os._exit(0) if chance.random() < 0.5 else os.kill(os.getpid(), 9)
"""

# A lock of the collector's thread, as libc has it: the owner's number twice, the
# kind (robust, of many processes), and after 24 bytes two pointers, which libc
# follows when the lock is let go.
LOCKS = SHARED + """
import glob, struct
collectors = set()
for name in glob.glob("/proc/[0-9]*/comm"):
    try:
        if open(name).read() == "pymemrun-coll\\n":
            collectors.add(int(name.split("/")[2]))
    except OSError: pass
areas = list(shared(True))
drop()
for begin, end in areas:
    for at in range(begin, min(end, begin + 16384), 8):
        lock, count, owner, users, kind = struct.unpack(
            "<5I", ctypes.string_at(at, 20))
        if lock == owner and owner in collectors and kind == 144:
            print("a lock at", at - begin)
            for address in at + 24, at + 32:
                ctypes.c_uint64.from_address(address).value = 0x1111111110
"""

REACH = SHARED + """
import errno, mmap
[(begin, end)] = shared(False)
libc = ctypes.CDLL(None, use_errno=True)
memory = open("/proc/self/mem", "wb", 0)
if sys.argv[1:] == ["drop"]: drop()
protected = libc.mprotect(ctypes.c_void_p(begin), end - begin, 3)
print("mprotect", errno.errorcode.get(ctypes.get_errno()), protected)
try: memory.seek(begin); print("wrote", memory.write(bytes(8)))
except OSError as error: print("mem", errno.errorcode[error.errno])
for name in os.listdir("/proc/self/fd"):
    try: link = os.readlink("/proc/self/fd/" + name)
    except OSError: continue
    if "pymemrun" in link: print("has", link)
"""


class HostileProgramTest(FaultTest):
    def bounded(self):
        """What nobody in the run may exceed."""
        resource.setrlimit(resource.RLIMIT_AS, (3 << 30, 3 << 30))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))

    def test_what_the_collector_answers_is_out_of_reach(self):
        for argument in ([], ["drop"]):
            found = self.traced([self.script(REACH), *argument])
            self.assertEqual(found.returncode, 0, found.stderr)
            self.assertEqual(found.stdout.decode().split("\n"),
                             ["mprotect EACCES -1", "mem EIO", ""])
            self.assert_whole(self.run_file())

    def assert_ended_by_itself(self):
        """It has neither crashed nor hung: the footer is its last act."""
        wait_for_collector_to_end(self.output)
        shown = run([PYMEMCAT, "--summary", self.output])
        self.assertIn(shown.returncode, (0, 1))
        self.assertNotIn(b"has no footer", shown.stdout + shown.stderr)

    def test_locks_of_the_collector(self):
        found = self.traced([self.script(LOCKS)])
        self.assertEqual(found[:3], (0, b"", b""))
        self.assert_ended_by_itself()

    def test_scribbles(self):
        script = self.script(SCRIBBLE)
        modes = ([], ["--heap", "all"],
                 ["--heap", "all", "--native", "--trace", "calls,pages"])
        for seed in range(RUNS):
            with self.subTest(seed=seed):
                run(self.command([script, str(seed)],
                                 ["--quiet", *modes[seed % len(modes)]]),
                    preexec_fn=self.bounded)
                self.assert_ended_by_itself()


if __name__ == "__main__":
    unittest.main()
