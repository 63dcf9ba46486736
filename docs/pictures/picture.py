"""An SVG that is legible on light and on dark pages. Used by docs/pictures/make."""
from xml.sax.saxutils import escape, quoteattr

STYLE = '''
.back{fill:#fff;stroke:#d0d7de}.ink{fill:#1f2328}.soft{fill:#59636e}.on{fill:#1f2328}
.grid{stroke:#d1d9e0}.rss{stroke:#1f2328;stroke-width:1.6;fill:none}
.edge{stroke:#59636e;stroke-width:1.5;fill:none}.tip{fill:#59636e}
.room{fill:#f6f8fa;stroke:#afb8c1}.part{fill:#ddf4ff;stroke:#54aeff}
.store{fill:#fff8c5;stroke:#d4a72c}.layer{stroke:#fff;stroke-width:.4}
@media (prefers-color-scheme:dark){
.back{fill:#0d1117;stroke:#30363d}.ink{fill:#e6edf3}.soft{fill:#9198a1}
.grid{stroke:#30363d}.rss{stroke:#e6edf3}.edge{stroke:#9198a1}.tip{fill:#9198a1}
.room{fill:#151b23;stroke:#3d444d}.part{fill:#0c2d4d;stroke:#388bfd}
.store{fill:#3a2d0b;stroke:#bb8009}.layer{stroke:#0d1117}}
'''


class Picture:
    def __init__(self, width, height, title):
        self._parts = [
            '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" width="%d" role="img" '
            'font-family="DejaVu Sans,Verdana,Arial,sans-serif" font-size="12.5">' %
            (width, height, width),
            '<title>%s</title>' % escape(title), '<style>%s</style>' % STYLE,
            '<rect class="back" x=".5" y=".5" width="%d" height="%d" rx="6"/>' %
            (width - 1, height - 1)]

    def _add(self, element, title=None, **attributes):
        words = ''.join(' %s=%s' % (name.replace('_', '-'), quoteattr(str(value)))
                        for name, value in attributes.items() if value is not None)
        inside = '><title>%s</title></%s>' % (escape(title), element) if title else '/>'
        self._parts.append('<%s%s%s' % (element, words.replace(' kind=', ' class='), inside))

    def text(self, x, y, text, size=None, bold=False, soft=False, anchor=None, on_colour=False):
        words = ''.join((
            ' class="%s"' % ('on' if on_colour else 'soft' if soft else 'ink'),
            ' font-size="%g"' % size if size else '', ' font-weight="bold"' if bold else '',
            ' text-anchor="%s"' % anchor if anchor else ''))
        self._parts.append('<text x="%g" y="%g"%s>%s</text>' % (x, y, words, escape(text)))

    def box(self, x, y, width, height, fill=None, title=None, kind=None):
        self._add('rect', title, kind=kind, x='%.1f' % x, y='%.1f' % y, width='%.1f' % width,
                  height='%.1f' % height, rx=4 if kind else 2, fill=fill)

    def path(self, points, fill, title=None):
        self._add('path', title, kind='layer', d=points, fill=fill)

    def outline(self, points):
        self._add('path', kind='rss', d=points)

    def line(self, x1, y1, x2, y2, kind):
        self._add('path', kind=kind, d='M%g %gL%g %g' % (x1, y1, x2, y2))

    def arrow(self, *points):
        """Along the points; the last stretch is horizontal or vertical."""
        (x0, y0), (x1, y1) = points[-2:]
        self._add('path', kind='edge', d='M' + 'L'.join('%g %g' % point for point in points))
        if x0 == x1:
            back = -7 if y1 > y0 else 7
            tip = (x1, y1, x1 - 4, y1 + back, x1 + 4, y1 + back)
        else:
            back = -7 if x1 > x0 else 7
            tip = (x1, y1, x1 + back, y1 - 4, x1 + back, y1 + 4)
        self._add('path', kind='tip', d='M%g %gL%g %gL%g %gZ' % tip)

    def save(self, path):
        with open(path, 'w', encoding='utf-8') as file:
            file.write('\n'.join(self._parts) + '\n</svg>\n')
