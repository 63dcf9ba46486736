"""A tool's section of docs/cli.md as a manual page."""
import re

from manual import reference

TITLES = {'Environment variables': 'ENVIRONMENT', 'Exit codes of the readers': 'EXIT STATUS'}


def escaped(text):
    text = text.replace('\\|', '|').replace('\\', r'\e').replace('-', r'\-')
    text = text.replace("'", r'\(aq').replace('`', r'\(ga').replace('^', r'\(ha')
    return text.replace('~', r'\(ti').replace('…', '...').replace('“', '"').replace('”', '"')


def inline(markdown):
    """Markdown as one line of roff."""
    markdown = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', markdown)
    parts = []
    for number, part in enumerate(re.split(r'`+(.+?)`+', markdown)):
        if number % 2:
            parts.append(r'\fB%s\fP' % escaped(part))
        else:
            part = re.sub(r'\*\*(.+?)\*\*', '\x01\\1\x02', part)
            part = re.sub(r'\*(.+?)\*', '\x03\\1\x02', part)
            part = escaped(part)
            parts.append(part.replace('\x01', r'\fB').replace('\x02', r'\fP')
                         .replace('\x03', r'\fI'))
    line = ''.join(parts)
    return r'\&' + line if line.startswith(('.', "'")) else line


def term(header, row):
    """A table's row: what it is of, what it says, and further columns by name."""
    more = ['%s: %s' % named for named in zip(header[2:], row[2:]) if named[1]]
    text = row[1] + (' (%s)' % '; '.join(more) if more else '')
    return ['.TP', inline(row[0]) or r'\&', inline(text) or r'\&']


def option_term(option):
    names = ', '.join(r'\fB%s\fP' % escaped(name) for name in option.names)
    value = ' ' + (r'\fB%s\fP' if option.choices else r'\fI%s\fP') % escaped(
        option.value) if option.value else ''
    meaning = inline(option.meaning)
    if option.commands:
        meaning += ' (' + ', '.join(r'\fB%s\fP' % name for name in option.commands) + ')'
    return ['.TP', names + value, meaning]


def body(lines):
    """Paragraphs, lists, code and tables."""
    out, paragraph, header, in_rows = [], [], [], False

    def end_paragraph():
        if paragraph:
            text = ' '.join(paragraph)
            if text.startswith('- '):
                out.extend([r'.IP \(bu 2', inline(text[2:])])
            else:
                out.extend(['.PP', inline(text)])
            paragraph.clear()

    in_code = False
    for line in lines + ['']:
        is_code = line.startswith('    ') and not paragraph
        if in_code and not is_code:
            out.extend(['.fi', '.RE'])
            in_code = False
        if is_code:
            if not in_code:
                out.extend(['.PP', '.RS 4', '.nf'])
                in_code = True
            code = escaped(line[4:])
            out.append(r'\&' + code if code.startswith('.') else code)
        elif line.startswith('|'):
            end_paragraph()
            if reference.is_delimiter(line):
                in_rows = True
            elif in_rows:
                out.extend(term(header, reference.cells(line)))
            else:
                header = reference.cells(line)
        else:
            in_rows = False
            if not line.strip() or line.startswith('- '):
                end_paragraph()
            if line.strip():
                paragraph.append(line.strip())
    return out


def options_section(tool, lines):
    """As the page groups them: a line of text before each table."""
    out, pending = [], []
    for line in lines:
        if line.startswith('|') and '`-' in line.split('|')[1]:
            out.extend(body(pending))
            pending = []
            out.extend(option_term(reference.option(reference.cells(line), list(tool.commands))))
        elif not line.startswith('|'):
            pending.append(line)
    return out + body(pending)


def page(tool, tools, version):
    out = [r'.\" Made by docs/make_man from docs/cli.md.',
           '.TH %s 1 "" "pymemrun %s" "User Commands"' % (tool.name.upper(), version),
           '.SH NAME', r'%s \- %s' % (tool.name, escaped(tool.summary)), '.SH SYNOPSIS', '.nf']
    out += [escaped(line) for line in tool.synopsis.split('\n')] + ['.fi', '.SH DESCRIPTION']
    out += body([line for line in tool.sections[0][1]
                 if not (line.startswith('    ' + tool.name) and '[' in line)])
    for title, lines in tool.sections[1:]:
        if title.startswith('Options of'):
            out += ['.SH OPTIONS'] + options_section(tool, lines)
        elif title.startswith('Exit status'):
            out += ['.SH EXIT STATUS'] + body(lines)
        else:
            out += ['.SH ' + escaped(TITLES.get(title, re.sub(' of pymem.*', '', title).upper()))]
            out += body(lines)
    for title, lines in tool.closing:
        out += ['.SH ' + TITLES[title]] + body(lines)
    others = [r'.BR %s (1)' % other.name for other in tools if other is not tool]
    out += ['.SH SEE ALSO'] + [other + ',' for other in others[:-1]] + others[-1:]
    return '\n'.join(out) + '\n'
