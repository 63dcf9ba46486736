"""What the launcher's tests run: a folder of programs, the table of command lines,
and programs by how they end."""
import os
import zipfile

PROBE = """
import sys, os
names = ('argv orig_argv flags path executable prefix exec_prefix base_prefix '
         '_base_executable warnoptions _xoptions dont_write_bytecode').split()
for name in names:
    print(name, getattr(sys, name, None))
print(__name__, globals().get('__file__'), getattr(__spec__, 'name', None),
      __package__, sorted(globals()))
print(sys.stdout.line_buffering, sys.stdout.encoding, sys.stdin.fileno())
print(sys.getprofile(), sys.gettrace(), sys.getfilesystemencoding())
"""

STATE = """
import os
print([line for line in open('/proc/self/status')
       if line.startswith(('SigB', 'SigC', 'SigI', 'SigP'))])
fds = {}
for fd in os.listdir('/proc/self/fd'):
    try:
        fds[fd] = os.readlink('/proc/self/fd/' + fd)
    except OSError:
        fds[fd] = 'the list itself'
# The gauge's own descriptor, kept out of the way at a high number.
print(sorted(fd for fd in fds if not fds[fd].endswith('/statm')),
      os.open('/dev/null', os.O_RDONLY))
def shows(fd):
    try:
        return os.fstat(fd) is not None
    except OSError:
        return False
print([fd for fd in range(4096) if shows(fd)])
try:
    print(os.wait())
except ChildProcessError:
    print('no child')
print(os.getsid(0) == os.getsid(os.getppid()), os.getpgrp() == os.getpid())
print(sorted(k for k in os.environ if k not in ('_', 'OLDPWD')))
"""


def make_files(folder):
    def write(name, text):
        path = os.path.join(folder, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as file:
            file.write(text)

    write("s.py", PROBE)
    write("-m", PROBE)
    write("-c.py", PROBE)
    write("state.py", STATE)
    write("x.py", "not python at all\n" + PROBE)
    write("dir/__main__.py", PROBE)
    write("empty/other.py", "")
    write("pkg/__init__.py", "print('init')\n")
    write("pkg/__main__.py", PROBE)
    write("pkg/mod.py", PROBE)
    write("lib/onpath.py", PROBE)
    write("syntax.py", "def f(:\n")
    write("fail.py", "def f():\n    raise ValueError('x')\nf()\n")
    write("unreadable.py", PROBE)
    os.chmod(os.path.join(folder, "unreadable.py"), 0)
    with zipfile.ZipFile(os.path.join(folder, "app.pyz"), "w") as archive:
        archive.writestr("__main__.py", PROBE)
    with zipfile.ZipFile(os.path.join(folder, "nomain.zip"), "w") as archive:
        archive.writestr("other.py", "")


# (arguments, environment, standard input)
COMMAND_LINES = [
    (["s.py"], {}, ""),
    (["s.py", "a", "-b", "--quiet", "--", "-m"], {}, ""),
    (["./s.py"], {}, ""),
    (["{cwd}/s.py", "x"], {}, ""),
    (["./-m"], {}, ""),
    (["./-c.py", "1"], {}, ""),
    (["dir"], {}, ""),
    (["dir/", "a"], {}, ""),
    (["app.pyz", "a"], {}, ""),
    (["-m", "pkg", "a"], {}, ""),
    (["-mpkg.mod"], {}, ""),
    (["-m", "onpath"], {"PYTHONPATH": "lib"}, ""),
    (["-m", "missing_module"], {}, ""),
    (["-c", PROBE, "a", "-c"], {}, ""),
    (["-Ic", PROBE], {}, ""),
    (["-Ic" + PROBE], {}, ""),
    (["-c", ""], {}, ""),
    (["-", "a"], {}, PROBE),
    ([], {}, PROBE),
    (["-i", "-c", "1"], {}, "print(2)\n"),
    (["-i", "-q"], {}, "print(2)\n"),
    (["-x", "x.py"], {}, ""),
    (["-xq", "x.py"], {}, ""),
    (["-W", "ignore", "s.py"], {}, ""),
    (["-Wignore::DeprecationWarning", "-W", "error", "s.py"], {}, ""),
    (["-X", "dev", "s.py"], {}, ""),
    (["-Xutf8=1", "s.py"], {}, ""),
    (["-X", "key=value", "-Xother", "s.py"], {}, ""),
    (["-X", "frozen_modules=off", "s.py"], {}, ""),
    (["-OO", "s.py"], {}, ""),
    (["-bb", "s.py"], {}, ""),
    (["-bdB", "-c", "print(1)"], {}, ""),
    (["-bb", "-c", "b'' == ''"], {}, ""),
    (["-P", "s.py"], {}, ""),
    (["-E", "s.py"], {"PYTHONPATH": "lib"}, ""),
    (["-s", "s.py"], {}, ""),
    (["-S", "s.py"], {}, ""),
    (["-sS", "-E", "s.py"], {}, ""),
    (["-u", "s.py"], {}, ""),
    (["-uR", "s.py"], {}, ""),
    (["-I", "s.py"], {"PYTHONPATH": "lib", "PYTHONSAFEPATH": "1"}, ""),
    (["s.py"], {"PYTHONSAFEPATH": "1"}, ""),
    (["s.py"], {"PYTHONPATH": "lib:/nowhere"}, ""),
    (["s.py"], {"PYTHONOPTIMIZE": "2", "PYTHONDONTWRITEBYTECODE": "x"}, ""),
    (["s.py"], {"PYTHONWARNINGS": "ignore", "PYTHONUTF8": "1"}, ""),
    (["s.py"], {"PYTHONHASHSEED": "7", "PYTHONNOUSERSITE": "1"}, ""),
    (["s.py"], {"LC_ALL": "C"}, ""),
    (["s.py"], {"LC_ALL": "POSIX", "PYTHONCOERCECLOCALE": "0"}, ""),
    (["s.py"], {"LC_CTYPE": "C", "PYTHONCOERCECLOCALE": "warn"}, ""),
    (["s.py"], {"PYTHONIOENCODING": "latin-1"}, ""),
    (["s.py"], {"PYTHONMALLOC": "malloc"}, ""),
    (["s.py"], {"PYTHONHASHSEED": "bad"}, ""),
    (["s.py", b"\xff\xfe\xe9"], {}, ""),
    (["-c", "print('\u00e9\u4e2d')"], {"LC_ALL": "C"}, ""),
    (["--check-hash-based-pycs", "always", "s.py"], {}, ""),
    (["--check-hash-based-pycs", "often", "s.py"], {}, ""),
    (["-V"], {}, ""),
    (["-VV", "s.py"], {}, ""),
    (["-h"], {}, ""),
    (["-?"], {}, ""),
    (["--help-env"], {}, ""),
    (["--help-xoptions"], {}, ""),
    (["-Z", "s.py"], {}, ""),
    (["-J"], {}, ""),
    (["-c"], {}, ""),
    (["-m"], {}, ""),
    (["-W"], {}, ""),
    (["-X", "utf8=9", "s.py"], {}, ""),
    (["missing.py"], {}, ""),
    (["unreadable.py"], {}, ""),
    (["empty"], {}, ""),
    (["nomain.zip"], {}, ""),
    (["syntax.py"], {}, ""),
    (["fail.py"], {}, ""),
    (["", "a"], {}, ""),
    (["state.py"], {}, ""),
    (["-c", STATE], {}, ""),
]

NO_RUN_FILE = [["missing.py"], ["empty"], ["-V"], ["-h"], ["-Z", "s.py"],
               ["--help-env"], ["-c"], ["-m"]]

# Ends of a program (fragments of code), to be equal in status and output.
EXITS = {
    "falls off its end": "print(1)",
    "sys.exit(3)": "import sys; sys.exit(3)",
    "sys.exit(text)": "import sys; sys.exit('bye')",
    "sys.exit(None)": "import sys; sys.exit()",
    "sys.exit(256+7)": "import sys; sys.exit(263)",
    "an exception": "1/0",
    "os._exit(4)": "import os; os._exit(4)",
    "C exit(6)": "import ctypes; ctypes.CDLL(None).exit(6)",
    "quick_exit(7)": "import ctypes; ctypes.CDLL(None).quick_exit(7)",
    "abort": "import os; os.abort()",
    "segmentation fault": "import ctypes; ctypes.string_at(0)",
    "SIGTERM": "import os; os.kill(os.getpid(), 15)",
    "SIGHUP": "import os; os.kill(os.getpid(), 1)",
    "SIGKILL": "import os; os.kill(os.getpid(), 9)",
    "SIGPIPE": "import os, signal; signal.signal(13, signal.SIG_DFL);"
               "os.kill(os.getpid(), 13)",
    "KeyboardInterrupt": "import os; os.kill(os.getpid(), 2); input()",
    "raise KeyboardInterrupt": "raise KeyboardInterrupt",
    "exec": "import os; os.execv('/bin/sh', ['sh', '-c', 'echo new; exit 9'])",
    "atexit": "import atexit; atexit.register(print, 'last'); print('first')",
    "threads": "import threading, time\n"
               "threading.Thread(target=lambda: (time.sleep(.1),"
               "print('joined'))).start()",
    "daemon thread": "import threading, time\n"
                     "threading.Thread(target=time.sleep, args=(60,),"
                     "daemon=True).start(); print('left')",
    "child sys.exit(5)": "import os, sys\nif os.fork() == 0: sys.exit(5)\n"
                         "print(os.waitstatus_to_exitcode(os.wait()[1]))",
    "child falls off": "import os, sys\npid = os.fork()\n"
                       "if pid: print(os.wait()[1])",
    "closed stdout": "import os; print('x'); os.close(1)",
    "closed stderr": "import os; os.close(2)",
    "all closed": "import os; os.closerange(0, 4096)",
    "recursion": "def f(): f()\ntry: f()\nexcept RecursionError: print('deep')",
    "children's usage": "import subprocess\n"
                        "print(subprocess.run(['true']).returncode)",
}
