"""Reads a folder of well logs and writes one HTML page per well and an index.

usage: summarise.py FOLDER_WITH_LAS_FILES FOLDER_FOR_HTML

Its memory has a shape worth looking for with pymemrun. Each file is read as one
string, becomes a table of floats, and most of that is released when the next
file is read. What stays: the deep wells, which the Field keeps whole because
shallow ones are compared with them, and a thinned-out copy of every curve for
the index page.
"""
import bisect
import html
import math
import os
import re
import sys

HEADER_LINE = re.compile(r'\s*(\w+)\s*\.(\S*)\s+(.*?)\s*:\s*(.*)$')
DEEP_WELL_STEPS = 15000
THUMBNAIL_POINTS = 400


class LasError(Exception):
    """A file is not what LAS 2.0 says it should be."""


class Curve:
    """One column of the table: NaN where the instrument gave nothing."""

    def __init__(self, mnemonic, unit, description):
        self.mnemonic = mnemonic
        self.unit = unit
        self.description = description
        self.values = []

    def add(self, word, null):
        value = float(word)
        self.values.append(math.nan if value == null else value)

    def known(self):
        return [v for v in self.values if not math.isnan(v)]


class WellLog:
    """One file: header items by mnemonic, and the curves; the first is depth."""

    def __init__(self, path):
        self.path = path
        self.header = {}
        self.curves = []

    @property
    def name(self):
        return self.header.get('WELL', ('', os.path.basename(self.path), ''))[1]

    @property
    def depths(self):
        return self.curves[0].values

    def curve(self, mnemonic):
        for curve in self.curves:
            if curve.mnemonic == mnemonic:
                return curve
        return None


class LasReader:
    """Turns the text of a LAS file into a WellLog."""

    def __init__(self, path):
        self.path = path
        self.log = WellLog(path)
        self.section = ''
        self.line_number = 0

    def fail(self, what):
        raise LasError('%s:%d: %s' % (self.path, self.line_number, what))

    def read(self):
        with open(self.path, encoding='ascii') as f:
            text = f.read()
        lines = text.splitlines()
        for line in lines:
            self.line_number += 1
            self.read_line(line)
        return self.log

    def read_line(self, line):
        if line.startswith('~'):
            self.section = line[1:2].upper()
            if self.section == 'A':
                self.null = float(self.log.header['NULL'][1])
        elif self.section == 'A':
            self.read_row(line)
        elif line and not line.startswith('#'):
            self.read_header_line(line)

    def read_header_line(self, line):
        match = HEADER_LINE.match(line)
        if match is None:
            self.fail('not a header line: %r' % line)
        mnemonic, unit, value, description = match.groups()
        if self.section == 'C':
            self.log.curves.append(Curve(mnemonic, unit, description))
        else:
            self.log.header[mnemonic] = (unit, value, description)

    def read_row(self, line):
        words = line.split()
        if len(words) != len(self.log.curves):
            self.fail('%d values for %d curves' % (len(words), len(self.log.curves)))
        for curve, word in zip(self.log.curves, words):
            curve.add(word, self.null)


class Statistics:
    """What a page says about one curve."""

    QUANTILES = (0.0, 0.1, 0.5, 0.9, 1.0)

    def __init__(self, curve):
        known = curve.known()
        self.count = len(curve.values)
        self.missing = self.count - len(known)
        self.mean = math.fsum(known) / len(known) if known else math.nan
        self.deviation = self.standard_deviation(known)
        known.sort()
        self.quantiles = [self.quantile(known, q) for q in self.QUANTILES]

    def standard_deviation(self, known):
        if not known:
            return math.nan
        return math.sqrt(math.fsum((v - self.mean) ** 2 for v in known) / len(known))

    @staticmethod
    def quantile(known, q):
        return known[round(q * (len(known) - 1))] if known else math.nan


class Field:
    """All wells seen so far. Keeps the deep ones whole, and of every well a
    thumbnail of each curve."""

    def __init__(self):
        self.reference_wells = []
        self.thumbnails = {}

    def add(self, log):
        if len(log.depths) >= DEEP_WELL_STEPS:
            self.reference_wells.append(log)
        self.thumbnails[log.name] = {
            c.mnemonic: self.thumbnail(c.values) for c in log.curves[1:]}

    @staticmethod
    def thumbnail(values):
        step = max(1, len(values) // THUMBNAIL_POINTS)
        return [math.fsum(values[i:i + step]) / step for i in range(0, len(values), step)]

    def nearest_reference(self, log):
        """The other deep well whose gamma ray is closest to this one's at the
        same depths, and the mean difference; (None, inf) without one."""
        best, smallest = None, math.inf
        for reference in self.reference_wells:
            if reference is log:
                continue
            difference = self.difference(log, reference, 'GR')
            if difference < smallest:
                best, smallest = reference, difference
        return best, smallest

    @staticmethod
    def difference(log, reference, mnemonic):
        total, count = 0.0, 0
        values = log.curve(mnemonic).values
        others = reference.curve(mnemonic).values
        for i in range(0, len(values), 16):
            j = bisect.bisect_left(reference.depths, log.depths[i])
            if j < len(others) and not math.isnan(values[i] + others[j]):
                total += abs(values[i] - others[j])
                count += 1
        return total / count if count else math.inf


class Page:
    """An HTML page that grows from top to bottom."""

    def __init__(self, title):
        self.parts = ['<!DOCTYPE html>\n<meta charset="utf-8">\n']
        self.element('title', title)
        self.element('h1', title)

    def element(self, tag, text):
        self.parts.append('<%s>%s</%s>\n' % (tag, html.escape(str(text)), tag))

    def table(self, titles, rows):
        self.parts.append('<table border="1">\n')
        self.row('th', titles)
        for row in rows:
            self.row('td', row)
        self.parts.append('</table>\n')

    def row(self, tag, cells):
        self.parts.append('<tr>')
        for cell in cells:
            text = '%.4g' % cell if isinstance(cell, float) else str(cell)
            self.parts.append('<%s>%s</%s>' % (tag, html.escape(text), tag))
        self.parts.append('</tr>\n')

    def line_chart(self, values, width=THUMBNAIL_POINTS, height=60):
        known = [v for v in values if not math.isnan(v)]
        low, high = min(known, default=0.0), max(known, default=1.0)
        scale = height / (high - low or 1.0)
        points = ' '.join('%d,%.1f' % (i * width / len(values), height - (v - low) * scale)
                          for i, v in enumerate(values) if not math.isnan(v))
        self.parts.append('<svg width="%d" height="%d"><polyline fill="none" stroke="navy" '
                          'points="%s"/></svg>\n' % (width, height, points))

    def save(self, path):
        with open(path, 'w', encoding='utf-8') as f:
            f.write(''.join(self.parts))
        return os.path.getsize(path)


class Summariser:
    """Goes through a folder, well by well."""

    def __init__(self, folder_in, folder_out):
        self.folder_in = folder_in
        self.folder_out = folder_out
        self.field = Field()
        self.bytes_in = 0
        self.bytes_out = 0

    def run(self):
        os.makedirs(self.folder_out, exist_ok=True)
        for name in sorted(os.listdir(self.folder_in)):
            if name.endswith('.las'):
                self.summarise(os.path.join(self.folder_in, name))
        self.write_index()

    def summarise(self, path):
        log = LasReader(path).read()
        self.bytes_in += os.path.getsize(path)
        self.field.add(log)
        page = Page(log.name)
        page.table(('Mnemonic', 'Unit', 'Value', 'Description'),
                   ((mnemonic,) + item for mnemonic, item in log.header.items()))
        reference, difference = self.field.nearest_reference(log)
        if reference is not None:
            page.element('p', 'Most like %s: gamma ray differs by %.2f on average.'
                         % (reference.name, difference))
        page.table(('Curve', 'Unit', 'Description', 'Values', 'Missing', 'Mean', 'Deviation')
                   + tuple('%d %%' % (100 * q) for q in Statistics.QUANTILES),
                   (self.curve_row(curve) for curve in log.curves))
        self.bytes_out += page.save(os.path.join(self.folder_out, log.name + '.html'))

    @staticmethod
    def curve_row(curve):
        s = Statistics(curve)
        return [curve.mnemonic, curve.unit, curve.description, s.count, s.missing,
                s.mean, s.deviation] + s.quantiles

    def write_index(self):
        page = Page('All wells')
        for name, thumbnails in self.field.thumbnails.items():
            page.element('h2', name)
            for mnemonic, values in thumbnails.items():
                page.element('h3', mnemonic)
                page.line_chart(values)
        self.bytes_out += page.save(os.path.join(self.folder_out, 'index.html'))


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__.split('\n\n')[1])
    summariser = Summariser(sys.argv[1], sys.argv[2])
    summariser.run()
    print('%d wells (%d of them deep), %.1f MB in, %.1f MB out' % (
        len(summariser.field.thumbnails), len(summariser.field.reference_wells),
        summariser.bytes_in / 1e6, summariser.bytes_out / 1e6))


if __name__ == '__main__':
    main()
