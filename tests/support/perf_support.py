"""How much of perf the machine gives, and a way to run a program as where it, or
other system calls, are refused altogether."""
import ctypes
import os
import struct

PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP = 22
SECCOMP_MODE_FILTER = 2
SECCOMP_RET_ALLOW = 0x7FFF0000
SECCOMP_RET_EPERM = 0x00050000 | 1
# perf_event_open on each architecture.
NUMBERS = {"x86_64": 298, "aarch64": 241}
# poll and ppoll, where there are both.
POLLS = {"x86_64": (7, 271), "aarch64": (73,)}
BPF_LOAD_WORD, BPF_JUMP_EQUAL, BPF_RETURN = 0x20, 0x15, 0x06


class SockFprog(ctypes.Structure):
    _fields_ = [("length", ctypes.c_ushort), ("filter", ctypes.c_char_p)]


def refuse(*numbers):
    """These system calls fail in this process as under a container's seccomp
    profile, for good."""
    checks = [check for number in numbers for check in (
        (BPF_JUMP_EQUAL, 0, 1, number), (BPF_RETURN, 0, 0, SECCOMP_RET_EPERM))]
    program = b"".join(struct.pack("HBBI", *words) for words in (
        (BPF_LOAD_WORD, 0, 0, 0),           # the system call's number
        *checks, (BPF_RETURN, 0, 0, SECCOMP_RET_ALLOW)))
    prog = SockFprog(len(program) // 8, program)
    libc = ctypes.CDLL(None, use_errno=True)
    if (libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 or
            libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER,
                       ctypes.byref(prog), 0, 0) != 0):
        raise OSError(ctypes.get_errno(), "seccomp")


def refuse_perf():
    """In a child before exec: perf_event_open fails."""
    refuse(NUMBERS[os.uname().machine])


def refuse_poll():
    refuse(*POLLS[os.uname().machine])


def paranoid():
    with open("/proc/sys/kernel/perf_event_paranoid") as file:
        return int(file.read())
