"""What the tools' --help and --help-all print, as data."""
import dataclasses
import re
import subprocess

# A sentence of --help-all that the tool itself adds: what an option does not go with.
NOTE = re.compile(r'(?<=\.) (?=(?:[a-z][a-z, -]*: (?:not with|needs) |Not with |Needs ))')


@dataclasses.dataclass
class Row:
    name: str    # '-o, --output PATH'
    group: str   # the line above the options of its kind, or ''
    text: str    # what it means
    notes: list  # and what it needs, or does not go with


@dataclasses.dataclass
class Command:
    name: str
    usage: str   # 'FILE...'
    about: str   # the first paragraph, without what it needs
    needs: str   # 'GIL events (--trace gil)', or ''
    rows: list


def printed(program, *words):
    return subprocess.run([program, *words], stdin=subprocess.DEVNULL, check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def command_names(program):
    """The commands that --help lists."""
    listed = printed(program, '--help').partition('\nCommands:\n')[2]
    others = re.search(r'^Others: (.*?)\.$', listed, re.M | re.S)
    return re.findall(r'^  ([a-z-]+)  ', listed, re.M) + (
        re.split(r',\s+', others.group(1)) if others else [])


def old_names(program):
    """[(old name, words that mean it)]."""
    listed = printed(program, '--help-all').partition('\nOld names:\n')[2]
    return re.findall(r'^  ([a-z-]+) +(\S.*)$', listed, re.M)


def rows(text):
    """The options of a --help-all, and not what stands by its place."""
    found, group = [], ''
    for line in text.split('\n'):
        row = re.match(r'  (\S.*?)(?:  +(\S.*))?$', line)
        if re.match(r'\S.*:$', line):
            group = line[:-1]
        elif row:
            found.append([row.group(1), group, row.group(2) or ''])
        elif found and line.startswith(' ' * 10):
            found[-1][2] += ' ' + line.strip()
        elif line.strip() and found and not line.startswith('  '):
            break  # what stands below the options
    made = []
    for name, group, text in found:
        if not name.startswith('-'):
            continue
        parts = NOTE.split(text.strip())
        made.append(Row(name, group, parts[0], parts[1:]))
    return made


def command(program, name):
    text = printed(program, name, '--help-all')
    before, _, after = text.partition('Usage: ')
    about = ' '.join(before.split('\n\n')[0].split())
    needs = re.search(r' It needs a run with (.*?)\.$', about)
    usage = re.search(r' %s ?(.*?) ?\[options\]' % name, after.split('\n')[0])
    return Command(name, usage.group(1), about[:needs.start()] if needs else about,
                   needs.group(1) if needs else '', rows(after))


def commands(program):
    return [command(program, name) for name in command_names(program)]
