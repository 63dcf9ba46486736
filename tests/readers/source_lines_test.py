#!/usr/bin/env python3
"""A run file knows its source lines again: by hashes, or by their text."""
import os
import unittest

import support

SCRIPT = """\
def keep():
    return [bytes(1000) for _ in range(4000)]

kept = keep()
"""

def fnv1a(line):
    value = 0x811c9dc5
    for byte in line.encode().strip():
        value = (value ^ byte) * 0x01000193 & 0xffffffff
    return value


class SourceLinesTest(support.ProgramTest):
    def sources(self, run):
        """{base name: {line: (hash, text)}}"""
        found = {}
        for source in run.records("source"):
            lines = found.setdefault(os.path.basename(source.file.decode()), {})
            texts = list(source.text) or [None] * len(source.line)
            self.assertEqual(len(source.line), len(source.hash))
            self.assertEqual(list(source.line), sorted(source.line))
            lines.update(zip(source.line, zip(source.hash, texts)))
        return found

    def test_each_line_that_definitions_name_has_its_hash(self):
        run = self.run_script(SCRIPT, "--trace", "calls", "--min-drss", "0")
        lines = self.sources(run)["script.py"]
        text = dict(enumerate(SCRIPT.splitlines(), 1))
        self.assertEqual(lines, {line: (fnv1a(text[line]), None)
                                 for line in lines})
        codes = {code.id: code.file for code in run.records("code")}
        self.assertEqual(set(lines), {
            site.line for kind in ("site", "stack")
            for site in run.records(kind)
            if codes.get(site.code, b"").endswith(b"/script.py") and site.line})
        source, = (source for source in run.records("source")
                   if source.file.endswith(b"/script.py"))
        self.assertEqual(source.size_bytes, len(SCRIPT))
        self.assertEqual(source.mtime_ns, os.stat(source.file).st_mtime_ns)

    def test_text_is_stored_only_if_asked(self):
        run = self.run_script(SCRIPT, "--store-source", env=support.USUAL)
        lines = self.sources(run)["script.py"]
        self.assertEqual(lines[2][1], b"return [bytes(1000) for _ in range(4000)]")
        os.remove(os.path.join(os.path.dirname(run.path), "script.py"))
        self.assertIn("return [bytes(1000)", run.report("report"))

    def test_a_changed_line_is_not_shown_and_others_are(self):
        run = self.run_script(SCRIPT, env=support.USUAL)
        path = os.path.join(os.path.dirname(run.path), "script.py")
        self.write("script.py", SCRIPT + "# edited later\n")
        self.assertGreater(os.stat(path).st_mtime_ns, run.header.start_realtime_ns)
        self.assertIn("return [bytes(1000)", run.report("report"))
        self.write("script.py", SCRIPT.replace("4000", "5000"))
        self.assertNotIn("return [bytes(1000)", run.report("report"))


if __name__ == "__main__":
    unittest.main()
