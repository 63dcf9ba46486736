"""docs/cli.md as data: tools, their options and commands, their sections.

What the page has to look like: a section `## tool` for each tool, with its synopsis
in the first code block; tables whose first cell is an option in `### Options of`
`tool`; a table whose first cell is a command in `### Commands of` `tool`.
"""
import dataclasses
import re


@dataclasses.dataclass
class Option:
    names: list      # ['-o', '--output']
    value: str       # 'PATH', 'a|b|c' or ''
    commands: list   # those that take it; empty: the tool has no commands, or all do
    for_tool: bool   # it stands without a command
    meaning: str     # Markdown

    @property
    def choices(self):
        return self.value.split('|') if '|' in self.value else []

    @property
    def is_file(self):
        return self.value in ('PATH', 'FILE2')

    @property
    def long(self):
        return next(name for name in self.names if name.startswith('--'))


@dataclasses.dataclass
class Tool:
    name: str
    summary: str     # what it does, in some words
    synopsis: str
    sections: list   # (title, lines), the first one without a title
    options: list
    commands: dict   # name: meaning
    closing: list    # the same of sections that several tools share


def plain(markdown):
    """Text without markup."""
    text = re.sub(r'\[([^]]*)\]\([^)]*\)', r'\1', markdown)
    text = re.sub(r'`+(.+?)`+', r'\1', text)
    return text.replace('\\|', '|').replace('**', '').replace('*', '')


def cells(row):
    return [cell.strip() for cell in re.split(r'(?<!\\)\|', row.strip()[1:-1])]


def is_delimiter(row):
    return re.fullmatch(r'\|[\s:|-]+\|', row.strip()) is not None


def split(lines, mark):
    """[(title, lines)] at headings that begin with `mark`, the first one untitled."""
    parts = [('', [])]
    for line in lines:
        if line.startswith(mark + ' '):
            parts.append((plain(line[len(mark):]).strip(), []))
        else:
            parts[-1][1].append(line)
    return parts


def rows(lines):
    """The cells of all tables' rows, without header rows."""
    found, header = [], True
    for line in lines:
        if not line.startswith('|'):
            header = True
        elif is_delimiter(line):
            header = False
        elif not header:
            found.append(cells(line))
    return found


def option(row, all_commands):
    words = plain(row[0]).split()
    names = [word.rstrip(',') for word in words if word.startswith('-')]
    value = ' '.join(word for word in words if not word.startswith('-'))
    cell = row[1] if len(row) == 3 else ''
    commands = re.findall(r'`([^`]+)`', cell)
    if cell.startswith('all but'):
        commands = [name for name in all_commands if name not in commands]
    return Option(names, value, commands, cell in ('', 'none') or names[-1] == '--help', row[-1])


def tool(name, lines, summary, closing):
    sections = split(lines, '###')
    synopsis = [line[4:] for line in sections[0][1] if line.startswith('    ' + name)]
    synopsis = [line for line in synopsis if '[' in line]
    options, commands = [], {}
    for title, part in sections:
        if title == 'Options of ' + name:
            options = [option(row, list(commands)) for row in rows(part)]
        elif title == 'Commands of ' + name:
            # A second table, of old names, may come behind.
            first = '\n'.join(part).partition('|')[2].partition('\n\n')[0]
            commands = {plain(row[0]).split()[0]: plain(row[1]).partition('. ')[0].rstrip('.')
                        for row in rows(('|' + first).split('\n'))}
    if not synopsis or not options:
        raise SystemExit('docs/cli.md: no synopsis or no options of ' + name)
    return Tool(name, summary, '\n'.join(synopsis), sections, options, commands, closing)


def tools(text):
    text = re.sub(r'<!--.*?-->\n', '', text, flags=re.S)
    sections = split(text.split('\n'), '##')
    introduction = plain(' '.join(sections[0][1]))
    found = []
    shared = [(title, lines) for title, lines in sections if title.startswith('Exit codes')]
    for name, lines in sections[1:]:
        says = re.search(r'\b%s (.+?)\.(?: |$)' % re.escape(name), introduction)
        if says:
            is_reader = name != 'pymemrun'
            found.append(tool(name, lines, says.group(1), shared if is_reader else []))
    return found
