"""The program's descriptors are its own: what it opens, closes and asks of them
goes as under python3, and harms neither the gauge nor the run."""
import os
import resource
import unittest

from fault_support import CHILD, FaultTest

OURS = 4095  # the number that the gauge keeps for itself


class DescriptorsTest(FaultTest):
    def same_and_whole(self, code, **kwargs):
        self.same([self.script(CHILD + code + "\ntraced_still()\n")], **kwargs)
        file = self.run_file()
        self.assert_whole(file)
        self.assertEqual(file.rows_named("counted"), 2000)
        return file

    def test_closing_everything(self):
        file = self.same_and_whole("""
os.closerange(3, 65536)
first = os.open("victim", os.O_RDWR | os.O_CREAT)
files = [os.open("victim", os.O_RDWR) for _ in range(20)]
print(first, files)
traced = [bytearray(1 << 20) for _ in range(16)]
for fd in files: os.write(fd, b"mine")
os.closerange(3, 65536)
file = open("victim", "r+b")
print(file.fileno(), file.read())
""")
        self.assertGreater(file.footer.max_rss_bytes,
                           file.header.first_rss_bytes + (12 << 20))

    def test_filling_every_descriptor(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 4096))
        file = self.same_and_whole("""
victim = os.open("victim", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
os.write(victim, b"12 34 56 78\\n")
for fd in range(3, 1024):
    if fd != victim: os.dup2(victim, fd)
held = [bytearray(1 << 20) for _ in range(16)]
traced = len(held)
print(os.pread(1023, 100, 0), os.fstat(1000).st_size, traced)
""", preexec_fn=limit)
        self.assertGreater(file.footer.max_rss_bytes,
                           file.header.first_rss_bytes + (12 << 20))

    @unittest.skipUnless(os.uname().machine == "x86_64", "numbers of x86-64")
    def test_taken_away_by_raw_system_calls(self):
        file = self.same_and_whole("""
import ctypes
victim = os.open("victim", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
os.write(victim, b"12 34 56 78\\n")
syscall = ctypes.CDLL(None).syscall
for fd in range(3, 4200):
    if fd != victim: syscall(33, victim, fd)  # dup2
held = [bytearray(1 << 20) for _ in range(16)]
for fd in range(3, 4200): syscall(3, fd)  # close
more = [bytearray(1 << 20) for _ in range(16)]
print(open("victim", "rb").read(), len(held), len(more))
""")
        self.assertGreater(file.footer.max_rss_bytes,
                           file.header.first_rss_bytes + (12 << 20))
        self.assertLess(file.footer.max_rss_bytes, 1 << 30)

    def test_few_descriptors(self):
        for limit_to in (8, 6, 5):  # with 4 python3 does not start
            def limit():
                resource.setrlimit(resource.RLIMIT_NOFILE, (limit_to,) * 2)
            code = CHILD + """
fds = []
try:
    while True: fds.append(os.open("/dev/null", os.O_RDONLY))
except OSError as error: print(fds, error)
traced_still()
"""
            with self.subTest(limit_to):
                expected = self.plain([self.script(code)], preexec_fn=limit)
                found = self.traced([self.path("s.py")], preexec_fn=limit)
                self.assertEqual(expected[:2], found[:2])
                if not found.stderr:
                    self.assert_whole(self.run_file())
                else:
                    self.assertRegex(found.stderr,
                                     rb"\Apymemrun: [^\n]*untraced\n\Z")

    def test_the_same_numbers(self):
        self.same_and_whole("""
import socket, tempfile
print([os.open("/dev/null", os.O_RDONLY) for _ in range(5)], os.pipe(),
      socket.socketpair()[1].fileno(), tempfile.TemporaryFile().fileno())
""")

    def test_no_number_is_open_that_was_not(self):
        """By any call that takes a number, up to where the limit goes."""
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (8192, 20000))
        file = self.same_and_whole("""
def tried(function, *arguments):
    try:
        function(*arguments)
        return True
    except OSError as error:
        return error.errno
for function in (os.fstat, os.close, lambda fd: os.dup2(fd, fd + 1)):
    print([tried(function, fd) for fd in range(3, 8192)])
print(len(os.listdir("/proc/self/fd")) > 0)
held = [bytearray(1 << 20) for _ in range(16)]
""", preexec_fn=limit)
        self.assertGreater(file.footer.max_rss_bytes,
                           file.header.first_rss_bytes + (12 << 20))

    def test_the_program_wants_that_number(self):
        file = self.same_and_whole("""
victim = os.open("victim", os.O_RDWR | os.O_CREAT | os.O_TRUNC)
os.write(victim, b"12 34 56 78\\n")
for fd in (%d, %d + 1, %d):
    os.dup2(victim, fd)
    held = [bytearray(1 << 20) for _ in range(16)]
    print(os.pread(fd, 100, 0), os.fstat(fd).st_size, len(held))
    os.close(fd)
""" % (OURS, OURS, OURS), preexec_fn=lambda: resource.setrlimit(
            resource.RLIMIT_NOFILE, (8192, 20000)))
        self.assertGreater(file.footer.max_rss_bytes,
                           file.header.first_rss_bytes + (12 << 20))

    def test_more_files_than_the_usual_limit(self):
        def limit():
            resource.setrlimit(resource.RLIMIT_NOFILE, (1024, 20000))
        self.same_and_whole("""
import resource
def fill():
    fds = []
    try:
        while len(fds) < 3000: fds.append(os.open("/dev/null", os.O_RDONLY))
    except OSError as error:
        print(error)
    return fds
first = fill()
resource.setrlimit(resource.RLIMIT_NOFILE, (4000, 20000))
second = fill()
print(resource.getrlimit(resource.RLIMIT_NOFILE), first, second)
""", preexec_fn=limit)

    def test_a_child_has_none_of_ours(self):
        self.same_and_whole("""
if os.fork() == 0:
    fds = [os.readlink("/proc/self/fd/" + fd) for fd in
           os.listdir("/proc/self/fd")[:-1]]
    print(sorted(fd for fd in fds if "/proc/" in fd), flush=True)
    os._exit(0)
print(os.wait()[1])
""")


if __name__ == "__main__":
    unittest.main()
