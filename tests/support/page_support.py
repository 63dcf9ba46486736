"""Reads what `pymemreport resident` and `timeline` say."""
import csv
import io
import subprocess

import support

# Brings the code of all files that are mapped, so that none comes while RSS is
# compared: of a program that was just built the kernel maps it piece by piece.
ALL_CODE_IS_THERE = r'''
import ctypes
def populate():
    MADV_POPULATE_READ = 22
    madvise = ctypes.CDLL(None).madvise
    with open("/proc/self/maps") as maps:
        lines = [line.split() for line in maps]
    for words in lines:
        if len(words) > 5 and words[5][0] == "/" and words[1][0] == "r":
            begin, end = (int(word, 16) for word in words[0].split("-"))
            madvise(ctypes.c_void_p(begin), ctypes.c_size_t(end - begin),
                    MADV_POPULATE_READ)
populate()
'''


def resident(run, *options):
    """The table of `pymemreport resident` as a list of dicts."""
    text = subprocess.run(
        [support.PYMEMREPORT, "resident", run.path, "--csv", *options],
        check=True, stdout=subprocess.PIPE).stdout.decode()
    return list(csv.DictReader(io.StringIO(text)))


def resident_bytes(table, **where):
    return sum(int(row["resident_bytes"]) for row in table
               if all(row[key] == value for key, value in where.items()))


def timeline(run):
    """The moments of `pymemreport timeline`: (RSS, unattributed), in bytes."""
    text = subprocess.run(
        [support.PYMEMREPORT, "timeline", run.path, "--format", "csv"],
        check=True, stdout=subprocess.PIPE).stdout.decode()
    return [(int(moment["rss_bytes"]), int(moment["unattributed"]))
            for moment in csv.DictReader(io.StringIO(text))]
