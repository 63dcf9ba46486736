"""Reads what `pymemreport resident` and `timeline` say."""
import csv
import io
import subprocess

import support


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
