"""What a part of a run did to memory, as text and as a picture. The figures are
pymemreport's."""
import csv
import io
import json
import os
import re
import sysconfig

from . import tools

HERE = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
# Less than this part of the largest change has no line of its own.
LEAST_SHARE = 0.005
# What a kernel has loaded takes more than many a cell. It is together one layer of
# the picture.
LIBRARIES = ("*/site-packages/*", "*/dist-packages/*", "<frozen *",
             sysconfig.get_path("stdlib") + "/*", HERE + "/*")
# Reports of --trace's kinds that the magic has options for.
KINDS = ("gil", "states", "tasks")
MOST_ROWS = 300
WIDTH = 80


def has_pictures(shell):
    """A notebook has, a terminal has not."""
    return getattr(shell, "kernel", None) is not None


def show(shell, text, svg):
    if not has_pictures(shell):
        print(text)
        return
    from IPython.display import display
    display({"text/plain": text}, raw=True)
    if svg is not None:
        display({"image/svg+xml": as_wide_as_the_page(svg), "text/plain": "<memory over time>"}, raw=True)


def as_wide_as_the_page(svg):
    """Without sizes of its own, which would be cut off in a narrow notebook."""
    return re.sub(r'(<svg [^>]*?) width="\d+" height="\d+"', r"\1", svg, count=1)


def picture(file, top, part, ended=True):
    """RSS by what holds it, or live blocks by line without page events. None: the run
    has neither."""
    summary, = json.loads(tools.ask("pymemreport", "summary", "--json", file, ended=ended))
    words = [*part, "--top", str(min(top, 24)), file,
             *(f"--exclude={pattern}" for pattern in LIBRARIES)]
    if summary["page_source"] is not None:
        return tools.ask("pymemreport", "timeline", *words, ended=ended)
    if summary["heap"] not in (None, "off"):
        return tools.ask("pymemreport", "history", "--svg", *words, ended=ended)
    return None


def size(number):
    """As pymemreport writes sizes."""
    for unit in "bytes", "KiB", "MiB", "GiB":
        if abs(number) < 1024 or unit == "GiB":
            break
        number /= 1024
    digits = 1 if abs(number) < 10 and unit != "bytes" else 0
    return f"{number:.{digits}f} {unit}"


def change(number):
    return ("+" if number > 0 else "") + size(number)


class OfPart:
    """The time between two marks of a run that goes on."""

    def __init__(self, file, span, marks, names, top):
        self.file, self.span, self.names, self.top = file, span, names, top
        begin, end = marks[span.begin], marks[span.end]
        self.from_s, self.to_s = begin["clock_s"], end["clock_s"]
        self.rss_before, self.rss_after = begin["rss_bytes"], end["rss_bytes"]
        self.summary, = json.loads(self.ask("pymemreport", "summary", "--json"))
        self.find_peak()

    def ask(self, tool, *words):
        return tools.ask(tool, *words, self.file, ended=False)

    def part(self):
        return ["--from", f"{self.from_s:.6f}", "--to", f"{self.to_s:.6f}"]

    def find_peak(self):
        """VmHWM says how high it was if it rose, page events say when."""
        self.peak, self.peak_s = max((self.rss_before, self.from_s),
                                     (self.rss_after, self.to_s))
        if self.summary["page_source"] is not None:
            rows = csv.DictReader(io.StringIO(
                self.ask("pymemreport", "timeline", "--format", "csv", "--top", "1",
                         "--owner", "touch", *self.part())))
            for row in rows:
                if int(row["rss_bytes"]) > self.peak:
                    self.peak, self.peak_s = int(row["rss_bytes"]), float(row["time_s"])
        if self.span.peak_after > self.span.peak_before:
            self.peak = max(self.peak, self.span.peak_after)

    def changes(self, to_s):
        """{(file, line): (bytes, error)} of what lives then and did not before."""
        rows = json.loads(self.ask(
            "pymemreport", "heap", "--json", "--limit", str(MOST_ROWS), *self.names.own(),
            "--at", f"{self.from_s:.6f}", "--to", f"{to_s:.6f}"))
        return {(row["file"], row["line"]): (row["change_bytes"], row["error_bytes"] or 0)
                for row in rows
                if row["line"] and not row["file"].startswith(HERE)}

    def text(self):
        lines = [f"{self.span.name}: {self.span.duration_s:.3f} s. "
                 f"RSS {size(self.rss_after)} ({change(self.rss_after - self.rss_before)}), "
                 f"peak {size(self.peak)} ({change(self.peak - self.rss_before)}) "
                 f"{self.peak_s - self.from_s:.3f} s into the cell."]
        if self.summary["heap"] in (None, "off"):
            lines.append("No lines: this kernel does not record heap events.")
        else:
            lines += self.table()
        return "\n".join(lines)

    def table(self):
        at_peak = self.changes(max(self.peak_s, self.from_s + 1e-6))
        at_end = self.changes(self.to_s)
        # What a line of an earlier cell lost here is no line of this cell.
        places = {place: max(at_peak.get(place, (0, 0))[0],
                             at_end.get(place, (0, 0))[0])
                  for place in {*at_peak, *at_end}}
        most = max((abs(number) for changes in (at_peak, at_end)
                    for number, _ in changes.values()), default=0)
        lost = sum(min(number, 0) for number, _ in at_end.values())
        released = ([f"Released in this cell: {size(-lost)} allocated before it."]
                    if -lost >= max(LEAST_SHARE * most, 64 << 10) else [])
        shown = sorted((place for place in places
                        if places[place] >= max(LEAST_SHARE * most, 1)),
                       key=lambda place: (-places[place], place))[:self.top]
        if not shown:
            return ["No line of the cell, or of code it called, added live memory.",
                    *released]
        rows = [self.row(place, at_peak, at_end) for place in shown]
        columns = [max(len(cell) for cell in column) for column in zip(*rows)]
        head = ("at its peak", "at its end")
        columns[0], columns[1] = (max(pair) for pair in
                                  zip(columns[:2], map(len, head)))
        lines = [f"{head[0]:>{columns[0]}}  {head[1]:>{columns[1]}}  live bytes by line"]
        for peak, end, name, source in rows:
            line = (f"{peak:>{columns[0]}}  {end:>{columns[1]}}  "
                    f"{name:<{columns[2]}}  {source}").rstrip()
            lines.append(line if len(line) <= WIDTH else line[:WIDTH - 1] + "\u2026")
        return lines + released

    def row(self, place, at_peak, at_end):
        file, line = place
        return (*(self.figure(*changes.get(place, (0, 0))) for changes in (at_peak, at_end)),
                self.names.line(file, line), self.names.source(file, line))

    @staticmethod
    def figure(number, error):
        text = change(number)
        return text if not number or error <= 0.05 * abs(number) else f"{text} \u00b1{size(error)}"

    def of_kinds(self, kinds):
        """What further reports say of this time."""
        texts = []
        for kind in kinds or ():
            try:
                texts.append(self.ask("pymemreport", kind, *self.names.own(), *self.part())
                             if kind != "states" else
                             self.ask("pymemreport", kind, *self.part()))
            except tools.ToolError as error:
                if "record them with" not in str(error):
                    raise
                texts.append(f"This kernel does not record --{kind}. A kernel that does: "
                             f"pymemrun kernel install -- --trace pages,{','.join(kinds)}\n")
        return "".join("\n\n" + self.names.rename_text(text.rstrip()) for text in texts)

    def svg(self):
        svg = picture(self.file, self.top, self.part(), ended=False)
        title = svg and re.search("<title>.* of (.*)</title>", svg)
        if title:  # the picture is of the cell, not of the kernel's program
            svg = svg.replace(f" of {title[1]}<", f" of {self.span.name}<")
        return svg and self.names.rename(svg)
