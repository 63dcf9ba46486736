"""Fails when a source file includes what its folder may not see, and asks about
files, functions and rooms that are larger than most.

Data flows one way: launcher and tracer -> collector -> format -> readers. The
rules below say it as includes. A size is a question, never a refusal: one concept
in one long file reads better than two that were cut for a number.
usage: check_layers.py [SOURCE_DIR]
"""
import collections
import os
import re
import sys

# Room: the rooms whose headers it may include, besides its own. Whole parts come
# with a star. An arrow that nothing needs is a complaint, and so is a circle, of rooms
# or of the folders under a part.
ROOMS = {
    'text': '',
    'format': '',
    'format/stream': 'format',
    'format/batches': 'format format/stream',
    'format/timed': 'format format/batches format/stream',
    'format/objects': 'format format/batches format/stream',
    'format/records': 'format format/batches format/objects format/stream format/timed',
    'format/source': '',
    'format/lock': '',
    'format/summary': 'format text',
    'collector/ring': 'format tracer/wire',
    'collector/process': 'format format/records tracer/wire',
    'collector/output': 'format format/records format/stream tracer/wire',
    'collector/definitions': 'collector/output collector/process collector/ring format format/records format/source tracer/wire',
    'collector/side': 'collector/definitions collector/output collector/process collector/ring format/batches tracer/wire',
    'collector/heap': 'collector/definitions collector/output collector/process collector/side format format/batches tracer/wire',
    'collector/perf': '',
    'collector/states': 'collector/definitions collector/output collector/perf collector/process format format/timed',
    'collector/tasks': 'collector/definitions collector/output collector/process collector/side format/timed tracer/wire',
    'collector/gil': 'collector/definitions collector/output collector/side format format/timed tracer/wire',
    'collector/events': 'collector/definitions collector/heap collector/output collector/process collector/ring collector/side format format/batches tracer/wire',
    'collector/pages': 'collector/definitions collector/output collector/perf collector/process collector/side format format/batches tracer/wire',
    'collector/objects': 'collector/process format format/lock format/objects format/stream tracer/wire',
    'collector/session': 'collector/events collector/gil collector/heap collector/objects collector/output collector/pages collector/process collector/ring collector/side collector/states collector/tasks format format/lock format/summary tracer/wire',
    'readers/output': 'format/stream text',
    'readers/run': 'format format/lock format/records format/stream readers/output text',
    'readers/places': 'readers/output readers/run text',
    'readers/series': 'readers/output readers/places',
    'readers/options': 'readers/run text',
    'readers/replay/gil': 'format readers/output readers/places readers/run text',
    'readers/replay/library_waits': 'format/records readers/run',
    'readers/replay/page_errors': '',
    'readers/replay/states': 'format readers/output readers/places readers/replay/gil text',
    'readers/replay/current_task': 'format format/records format/timed readers/run',
    'readers/replay/growth': 'format/records readers/output readers/places readers/replay/current_task readers/run text',
    'readers/replay/heap': 'format format/batches format/records readers/output readers/places readers/replay/current_task readers/replay/library_waits readers/run readers/series text',
    'readers/replay/counters': 'readers/output readers/replay/heap readers/run readers/series text',
    'readers/replay/resident': 'format/records readers/output readers/places readers/replay/current_task readers/replay/library_waits readers/replay/page_errors readers/run readers/series text',
    'readers/replay/heap_in_rss': 'format/batches readers/output readers/places readers/replay/heap readers/replay/page_errors readers/replay/resident readers/run readers/series text',
    'readers/replay/moments': 'readers/replay/heap readers/replay/resident readers/run text',
    'readers/replay/rows': 'format/records format/timed readers/output readers/replay/heap readers/run text',
    'readers/replay/summary': 'format/records format/summary readers/output readers/places readers/replay/growth readers/run text',
    'readers/replay/tasks': 'format readers/output readers/places readers/replay/current_task readers/replay/heap readers/run text',
    'readers/replay/threads': 'format/records readers/output readers/places readers/replay/growth readers/replay/heap readers/replay/page_errors readers/replay/resident readers/replay/rows readers/run readers/series text',
    'readers/replay/calls': 'format/records readers/output readers/places readers/replay/summary readers/replay/threads readers/run text',
    'readers/watch': 'format readers/replay/growth readers/replay/heap readers/run readers/series text',
    'readers/objects/ask': 'format format/stream readers/watch text',
    'readers/objects/dominators': '',
    'readers/objects/graph': 'format format/objects format/records format/stream readers/run text',
    'readers/objects/findings': 'readers/objects/dominators readers/objects/graph',
    'readers/objects/blocks': 'format/records readers/objects/findings readers/objects/graph readers/output readers/places readers/replay/heap readers/replay/heap_in_rss readers/replay/resident readers/run text',
    'readers/objects/index': 'format format/stream readers/objects/findings readers/objects/graph readers/run text',
    'readers/pictures/chart': 'readers/output readers/places readers/run readers/series text',
    'readers/tracks': 'format readers/output readers/replay/current_task readers/replay/heap readers/replay/moments readers/replay/resident readers/replay/states readers/replay/summary readers/run text',
    'readers/pictures/lanes': 'readers/pictures/chart readers/places readers/run readers/tracks text',
    'readers/answer/memory': 'format/records format/source readers/output readers/places readers/replay/heap readers/replay/heap_in_rss readers/replay/moments readers/replay/resident readers/replay/summary readers/run text',
    'readers/answer/beside': 'format readers/answer/memory readers/output readers/replay/counters readers/replay/gil readers/replay/states readers/replay/summary readers/replay/tasks readers/run text',
    'readers/answer/next_steps': 'readers/answer/memory readers/replay/summary text',
    'readers/across_runs/diff': 'readers/answer/memory readers/output readers/places readers/replay/heap readers/replay/moments readers/replay/summary readers/replay/threads readers/run text',
    'readers/across_runs/processes': 'readers/answer/memory readers/output readers/places readers/replay/summary readers/run text',
    'readers/across_runs/unshared': 'readers/output readers/places readers/replay/page_errors readers/replay/resident readers/run text',
    'readers/relations/engine': 'readers/output text',
    'readers/relations/objects': 'readers/objects/findings readers/objects/graph readers/relations/engine',
    'readers/relations/run': 'format/records readers/across_runs/processes readers/answer/memory readers/output readers/places readers/relations/engine readers/replay/gil readers/replay/heap readers/replay/moments readers/replay/resident readers/replay/rows readers/replay/states readers/replay/summary readers/replay/threads readers/run',
    'readers/export/objects': 'readers/objects/graph readers/output text',
    'readers/export/profiles': 'readers/output readers/places readers/replay/heap readers/replay/heap_in_rss text',
    'readers/export/traces': 'format readers/export/objects readers/objects/blocks readers/objects/graph readers/output readers/run readers/tracks text',
    'readers/report': 'format/stream readers/options readers/output readers/places readers/relations/engine readers/replay/growth readers/replay/moments readers/replay/resident readers/run text',
    'readers/cat': 'format/records format/stream readers/options readers/output readers/replay/heap readers/replay/moments readers/replay/rows readers/replay/summary readers/replay/threads readers/run text',
    'readers/commands': 'readers/options readers/replay/calls readers/replay/growth readers/replay/moments readers/replay/threads readers/report readers/run text',
    'readers/commands/memory': 'readers/across_runs/diff readers/across_runs/processes readers/across_runs/unshared readers/answer/beside readers/answer/memory readers/answer/next_steps readers/commands readers/export/profiles readers/export/traces readers/objects/ask readers/objects/blocks readers/options readers/output readers/pictures/chart readers/places readers/relations/run readers/replay/calls readers/replay/current_task readers/replay/growth readers/replay/heap readers/replay/heap_in_rss readers/replay/moments readers/replay/resident readers/replay/summary readers/replay/threads readers/report readers/run readers/watch text',
    'readers/commands/objects': 'readers/export/objects readers/objects/blocks readers/objects/findings readers/objects/graph readers/objects/index readers/options readers/output readers/pictures/chart readers/relations/objects readers/report readers/run text',
    'readers/commands/time': 'readers/answer/memory readers/commands readers/options readers/output readers/pictures/chart readers/pictures/lanes readers/places readers/replay/calls readers/replay/counters readers/replay/gil readers/replay/heap readers/replay/heap_in_rss readers/replay/moments readers/replay/resident readers/replay/states readers/replay/tasks readers/replay/threads readers/report readers/run readers/series readers/tracks text',
    'readers/python': 'format/records format/stream format/summary readers/objects/blocks readers/objects/findings readers/objects/graph readers/output readers/places readers/relations/engine readers/relations/objects readers/relations/run readers/replay/heap readers/replay/moments readers/replay/rows readers/replay/summary readers/replay/threads readers/run text',
    'tracer/wire': '',
    'tracer/base': 'tracer/wire',
    'tracer/cpython/gc': '',
    'tracer/cpython/gil': '',
    'tracer/cpython': 'tracer/cpython/gc tracer/cpython/gil',
    'tracer/ring': 'tracer/base tracer/wire',
    'tracer/gauge': 'tracer/base tracer/wire',
    'tracer/sigtrap': 'tracer/base',
    'tracer/code': 'tracer/base tracer/cpython tracer/ring tracer/wire',
    'tracer/requests': 'tracer/base tracer/wire',
    'tracer/cpython/objects': 'tracer/cpython',
    'tracer/objects': 'tracer/base tracer/cpython tracer/cpython/objects tracer/wire',
    'tracer/calls': 'tracer/base tracer/code tracer/cpython tracer/gauge tracer/ring tracer/wire',
    'tracer/gil': 'tracer/base tracer/code tracer/ring tracer/wire',
    'tracer/cpython/tasks': 'tracer/cpython',
    'tracer/tasks': 'tracer/base tracer/code tracer/cpython tracer/cpython/tasks tracer/ring tracer/wire',
    'tracer/heap': 'tracer/base tracer/code tracer/cpython tracer/ring tracer/wire',
    'tracer/pages': 'tracer/base tracer/code tracer/ring tracer/sigtrap tracer/wire',
    'tracer/interpose': 'tracer/base tracer/gauge tracer/gil tracer/heap tracer/pages tracer/requests tracer/sigtrap tracer/tasks tracer/wire',
    'tracer/session': 'tracer/base tracer/calls tracer/code tracer/cpython tracer/cpython/gc tracer/cpython/gil tracer/gauge tracer/gil tracer/heap tracer/interpose tracer/objects tracer/pages tracer/requests tracer/ring tracer/tasks tracer/wire',
    'launcher/options': 'text tracer/base tracer/session tracer/wire',
    'launcher/python': 'launcher/options',
    'launcher/session': 'collector/session format/batches format/lock launcher/options tracer/ring tracer/session tracer/wire',
    'launcher/preload': 'launcher/options launcher/python launcher/session tracer/cpython',
    'launcher': 'launcher/options launcher/preload launcher/python launcher/session text',
    # What writes run files for tests, and measures readers.
    'readers/testing': 'format/* readers/*',
}
ROOMS = {room: may.split() for room, may in ROOMS.items()}
PARTS = sorted({room.split('/')[0] for room in ROOMS} | {'bench', 'tests'})
# Rooms that are in a circle yet.
KNOWN_CIRCLES = set()
# What files of a room that are for tests may see besides.
IN_TESTS = {
    'text': ['readers/output'],
    'format': ['format/*', 'text'],
    'collector': ['collector/*', 'format/*', 'tracer/*', 'text'],
    'readers': ['readers/*', 'format/*', 'text'],
    'tracer': ['tracer/*'],
    'launcher': ['launcher', 'tracer/session'],
}
OF_TESTS = re.compile(
    r'(_(tests?|bench|benchmark|fuzz|fuzzer|builder|fixture|for_tests|test_util|test_support)\w*\.\w+'
    r'|test_folder\.h|session_stub\.cc)$')
MANY_FILES = 30  # in one room

PYTHON_HEADER = r'Python\.h$|pybind11/|internal/pycore_|structmember\.h$|frameobject\.h$'
PYTHON_FOLDERS = ('tracer', 'launcher', 'readers/python')

# What code inside the traced program must do without: whatever allocates, does
# formatted I/O, or brings a library along.
CAPTURE_FOLDER = 'tracer'
CAPTURE_HEADERS = re.compile(
    r'(string|vector|deque|list|forward_list|map|set|unordered_map|unordered_set|queue|stack'
    r'|iostream|fstream|sstream|ostream|istream|iomanip|functional|regex|format|filesystem'
    r'|memory_resource|any|future|thread)$|google/protobuf/|.*\.pb\.h$|zstd|absl/')
CAPTURE_NAMES = re.compile(
    r'std::(string|vector|deque|list|map|set|unordered_\w+|function|shared_ptr|cout|cerr)\b'
    r'|\bgoogle::protobuf\b')

# What depends on CPython's version lies in one room; others ask abilities.h.
VERSION_FOLDER = 'tracer/cpython'
VERSION_TEST = re.compile(r'\bPY_VERSION_HEX\b')

# (What a file's name ends with, the lines beyond which we ask); the first that fits.
SIZES = (
    ('_main.cc', 60),
    ('.h', 150),
    ('.cc', 400),
    ('.c', 400),
    ('.py', 400),
    ('.proto', 400),
)

FUNCTION_LINES = 40
# A line at the left margin that begins a function, if a `{` comes before a `;`.
FUNCTION = re.compile(r'[A-Za-z~_]')
NO_FUNCTION = re.compile(
    r'(namespace|struct|class|enum|union|using|typedef|template|public|private)\b'
    r'|extern "C" \{|.*= \{|[A-Z_]+$|.*;$')

# The first line of a table or `switch` right in a function's body.
TABLE = re.compile(r'  (switch \(.*\{|(static |constexpr |const ).*= \{)$')

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT = re.compile(r'//.*|/\*.*?\*/|"(\\.|[^"\\])*"')


def room_of(path):
    return os.path.dirname(path)


def is_for_tests(path):
    return bool(OF_TESTS.search(path)) or room_of(path) == 'readers/testing'


def may_see(may, room):
    return room in may or room.split('/')[0] + '/*' in may


def wrong_include(path, quote, header):
    """Why the file may not include it, or None."""
    room, part = room_of(path), path.split('/')[0]
    own = header.split('/')[0] in PARTS
    if own:
        if quote != '"':
            return 'our own headers are included with quotes'
        may = ROOMS.get(room, []) + [room]
        if is_for_tests(path):
            may = may + IN_TESTS.get(part, [])
        generated = room_of(header) == part and header.endswith('.pb.h')
        if part not in ('bench', 'tests') and not generated and not may_see(may, room_of(header)):
            return '%s/ may not see it' % room
    elif quote == '"' and '/' not in header:
        return 'included from the root of the tree, please: "folder/%s"' % header
    if re.match(PYTHON_HEADER, header) and part not in ('tests', 'bench') and (
            not room.startswith(PYTHON_FOLDERS)):
        return 'only %s know Python' % ' and '.join(PYTHON_FOLDERS)
    if part == CAPTURE_FOLDER and not is_for_tests(path) and CAPTURE_HEADERS.match(header):
        return 'the traced program is to carry none of it'
    return None


def concept_of(room):
    """The folder under its part: `readers/replay` of `readers/replay/heap`."""
    return '/'.join(room.split('/')[:2])


def concepts():
    """As ROOMS, of folders under the parts: rooms of one folder are one concept."""
    found = collections.defaultdict(set)
    for room, may in ROOMS.items():
        own = concept_of(room)
        found[own].update(other for other in map(concept_of, may) if other != own)
    return found


def circles(arrows):
    """Those that can be reached from themselves, by whatever way."""
    def reached(room):
        found, left = set(), [room]
        while left:
            for other in arrows.get(left.pop(), []):
                if other not in found:
                    found.add(other)
                    left.append(other)
        return found
    return [room for room in arrows if room in reached(room)]


def wrong_guard(path, lines):
    guard = 'PYMEMRUN_' + re.sub(r'\W', '_', path).upper() + '_'
    if '#ifndef %s' % guard not in lines or '#define %s' % guard not in lines:
        return 'include guard is not %s' % guard
    return None


def table_lines(lines):
    """The lines of a function's longest table or `switch`, which reads as one."""
    longest = start = 0
    for number, line in enumerate(lines, 1):
        if TABLE.match(line):
            start = number
        elif start and line in ('  }', '  };'):
            longest, start = max(longest, number - start), 0
    return longest


def long_functions(lines):
    """Yields (line number, complaint). Knows functions by the layout that
    clang-format gives them: from the left margin to a `}` there."""
    start = None
    for number, line in enumerate(lines, 1):
        if start is None:
            if FUNCTION.match(line) and not NO_FUNCTION.match(line):
                start = number
        elif line.startswith('}'):
            length = number - start + 1 - table_lines(lines[start:number])
            if length > FUNCTION_LINES:
                yield start, 'function of %d lines: which part has a name?' % length
            start = None
        elif line.endswith(';') and not line.startswith('  ') or line.endswith(');') and (
                number == start + 1):
            start = None  # it was a declaration


def lines_of(text):
    lines = text.split('\n')
    return lines[:-1] if text.endswith('\n') else lines


def questions_of(path, text):
    """Yields (line number, question) about the sizes of a file and its functions."""
    lines = lines_of(text)
    many = next((n for end, n in SIZES if path.endswith(end)), None)
    if many and len(lines) > many:
        yield len(lines), '%d lines: one concept?' % len(lines)
    # A test's tables of cases are better left in one piece.
    if not is_for_tests(path) and not path.endswith(('.py', '.proto')):
        yield from long_functions(lines)


def check_file(path, text):
    """Yields (line number, complaint). `path` is relative to the source tree."""
    part, name = path.split('/')[0], path.split('/')[-1]
    lines = lines_of(text)
    if name.endswith(('.py', '.proto')):
        return
    if name.endswith('.h'):
        complaint = wrong_guard(path, lines)
        if complaint:
            yield 1, complaint
    is_test = is_for_tests(path)
    for number, line in enumerate(lines, 1):
        include = INCLUDE.match(line)
        if include:
            complaint = wrong_include(path, *include.groups())
            if complaint:
                yield number, '%s: %s' % (include.group(2), complaint)
        elif not is_test and part not in ('bench', 'tests') and VERSION_TEST.search(line) and (
                not room_of(path).startswith(VERSION_FOLDER)):
            yield number, 'only %s/ knows versions: which ability is asked for?' % VERSION_FOLDER
        elif part == CAPTURE_FOLDER and not is_test:
            found = CAPTURE_NAMES.search(COMMENT.sub('', line))
            if found:
                yield number, '%s: the traced program is to carry none of it' % found.group()


TYPE = re.compile(r'^(?:struct|class|enum class) (\w+) (?:final )?[:{]', re.MULTILINE)
LINKED = ('readers/', 'format/', 'text/')


def repeated_types(texts):
    """Types of one name in the readers' programs: templates of one would work on the
    other."""
    first = {}
    for path, text in texts.items():
        if not path.endswith('.h') or not path.startswith(LINKED):
            continue
        for name in TYPE.findall(text):
            if first.setdefault(name, path) != path:
                yield path, 'there is another %s in %s' % (name, first[name])


def source_files(top):
    for folder in PARTS:
        for where, folders, names in os.walk(os.path.join(top, folder)):
            folders[:] = sorted(f for f in folders if f not in ('__pycache__', 'workloads'))
            for name in sorted(names):
                if name.endswith(('.h', '.cc', '.c', '.py', '.proto')):
                    yield os.path.relpath(os.path.join(where, name), top)


def check_rooms(texts):
    """Yields (where, complaint) of the rooms as such. texts: path -> contents."""
    used = set()
    rooms = {room_of(path) for path in texts if path.endswith(('.h', '.cc', '.c'))}
    for path, text in texts.items():
        room = room_of(path)
        if is_for_tests(path):
            continue
        for line in text.split('\n'):
            include = INCLUDE.match(line)
            if include and include.group(2).split('/')[0] in PARTS:
                used.add((room, room_of(include.group(2))))
    for room in sorted(rooms - set(ROOMS)):
        if room.split('/')[0] not in ('tests', 'bench'):
            yield room, 'no room that is known: what may it see?'
    for room, may in ROOMS.items():
        for other in may:
            if '*' not in other and (room, other) not in used:
                yield room, 'includes nothing of %s/, but may' % other
    for room in {*circles(ROOMS), *circles(concepts())} - KNOWN_CIRCLES:
        yield room, 'can be reached from itself: a circle'


def ask_rooms(texts):
    """Yields (room, question) of the rooms with many files. texts: path -> contents."""
    files = collections.Counter(room_of(path) for path in texts
                                if path.endswith(('.h', '.cc', '.c', '_test.py')))
    for room, count in sorted(files.items()):
        if count > MANY_FILES:
            yield room, '%d files: one room?' % count


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.environ.get(
        'PYMEMRUN_SOURCE_DIR', os.path.join(os.path.dirname(__file__), '..', '..'))
    texts = {}
    for path in source_files(top):
        with open(os.path.join(top, path), encoding='utf-8') as f:
            texts[path] = f.read()
    complaints = ['%s:%d: %s' % (path, number, complaint)
                  for path, text in texts.items()
                  for number, complaint in check_file(path, text)]
    complaints += ['%s/: %s' % found for found in check_rooms(texts)]
    complaints += ['%s: %s' % found for found in repeated_types(texts)]
    questions = ['%s:%d: %s' % (path, number, question)
                 for path, text in texts.items()
                 for number, question in questions_of(path, text)]
    questions += ['%s/: %s' % found for found in ask_rooms(texts)]
    print('\n'.join(questions))
    print('%d questions of size' % len(questions))
    print('\n'.join(complaints + ['%d files, %d complaints' % (len(texts), len(complaints))]))
    if not texts:
        sys.exit('no source files in %s' % top)
    sys.exit(1 if complaints else 0)


if __name__ == '__main__':
    main()
