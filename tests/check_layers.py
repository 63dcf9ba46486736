"""Fails when a source file includes what its folder may not see, or outgrows
the size that stays readable.

Data flows one way: launcher and tracer -> collector -> format -> readers. The
rules below say it as includes. usage: check_layers.py [SOURCE_DIR]
"""
import os
import re
import sys

# Folder: which of our own headers it may include.
ALLOWED = {
    'format': r'format/',
    'collector': r'collector/|format/|tracer/(side_)?ring_layout\.h$',
    'readers': r'readers/(?!python/)|format/|collector/end_report\.h$',
    # The module for Python sits on top of the readers.
    'readers/python': r'readers/|format/',
    'tracer': r'tracer/',
    'launcher': r'launcher/|tracer/|collector/collector_start\.h$|format/(heap_size_table|nearest_name|size_text)\.h$',
    'tests': r'',
    'bench': r'',
}
# Unit tests may also see the other side of the wire they test.
ALLOWED_IN_TESTS = {
    'collector': r'tracer/',
}

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

# Lines: (what a file's name ends with, most it may have); the first that fits.
SIZES = (
    ('_main.cc', 60),
    ('.h', 150),
    ('.cc', 400),
    ('.c', 400),
    ('.py', 400),
)
# Files that may be larger, each with the reason.
SIZE_EXCEPTIONS = {
    'tracer/ring_layout.h': 'the whole wire on one page: it is read as a document',
    'tracer/side_ring_layout.h': 'the second wire, likewise',
}

FUNCTION_LINES = 40
# A line at the left margin that begins a function, if a `{` comes before a `;`.
FUNCTION = re.compile(r'[A-Za-z~_]')
NO_FUNCTION = re.compile(
    r'(namespace|struct|class|enum|union|using|typedef|template|public|private)\b'
    r'|extern "C" \{|.*= \{|[A-Z_]+$|.*;$')

INCLUDE = re.compile(r'\s*#\s*include\s*([<"])([^>"]+)[>"]')
COMMENT = re.compile(r'//.*|/\*.*?\*/|"(\\.|[^"\\])*"')


def folder_of(path):
    """The folder whose rules are the file's: the longest that has some."""
    folders = [f for f in ALLOWED if path.startswith(f + '/')]
    return max(folders, key=len, default=path.split('/')[0])


def wrong_include(folder, is_test, quote, header):
    """Why the file may not include it, or None."""
    own = header.split('/')[0] in ALLOWED
    if own:
        if quote != '"':
            return 'our own headers are included with quotes'
        allowed = ALLOWED[folder]
        if is_test and folder in ALLOWED_IN_TESTS:
            allowed += '|' + ALLOWED_IN_TESTS[folder]
        if not re.match(allowed, header):
            return '%s/ may not see it' % folder
    elif quote == '"' and '/' not in header:
        return 'included from the root of the tree, please: "folder/%s"' % header
    if re.match(PYTHON_HEADER, header) and folder not in PYTHON_FOLDERS + ('tests', 'bench'):
        return 'only %s know Python' % ' and '.join(PYTHON_FOLDERS)
    if folder == CAPTURE_FOLDER and not is_test and CAPTURE_HEADERS.match(header):
        return 'the traced program is to carry none of it'
    return None


def wrong_guard(path, lines):
    guard = 'PYMEMRUN_' + re.sub(r'\W', '_', path).upper() + '_'
    if '#ifndef %s' % guard not in lines or '#define %s' % guard not in lines:
        return 'include guard is not %s' % guard
    return None


def long_functions(lines):
    """Yields (line number, complaint). Knows functions by the layout that
    clang-format gives them: from the left margin to a `}` there."""
    start = None
    for number, line in enumerate(lines, 1):
        if start is None:
            if FUNCTION.match(line) and not NO_FUNCTION.match(line):
                start = number
        elif line.startswith('}'):
            if number - start + 1 > FUNCTION_LINES:
                yield start, 'function of %d lines, more than %d: which part has a name?' % (
                    number - start + 1, FUNCTION_LINES)
            start = None
        elif line.endswith(';') and not line.startswith('  ') or line.endswith(');') and (
                number == start + 1):
            start = None  # it was a declaration


def check_file(path, text):
    """Yields (line number, complaint). `path` is relative to the source tree."""
    folder, name = folder_of(path), path.split('/')[-1]
    lines = text.split('\n')
    if text.endswith('\n'):
        lines.pop()
    limit = next((n for end, n in SIZES if name.endswith(end)), None)
    if limit and len(lines) > limit and path not in SIZE_EXCEPTIONS:
        yield len(lines), 'more than %d lines: which concept is missing?' % limit
    if name.endswith('.py'):
        return
    if name.endswith('.h'):
        complaint = wrong_guard(path, lines)
        if complaint:
            yield 1, complaint
    is_test = bool(re.search(r'_(test|tests|bench|benchmark|fuzz|fuzzer)\w*\.\w+$', name))
    if not is_test:  # a test's tables of cases are better left in one piece
        yield from long_functions(lines)
    for number, line in enumerate(lines, 1):
        include = INCLUDE.match(line)
        if include:
            complaint = wrong_include(folder, is_test, *include.groups())
            if complaint:
                yield number, '%s: %s' % (include.group(2), complaint)
        elif folder == CAPTURE_FOLDER and not is_test:
            found = CAPTURE_NAMES.search(COMMENT.sub('', line))
            if found:
                yield number, '%s: the traced program is to carry none of it' % found.group()


def source_files(top):
    for folder in sorted({f.split('/')[0] for f in ALLOWED}):
        for where, folders, names in os.walk(os.path.join(top, folder)):
            folders[:] = sorted(f for f in folders if f not in ('__pycache__', 'workloads'))
            for name in sorted(names):
                if name.endswith(('.h', '.cc', '.c', '.py')):
                    yield os.path.relpath(os.path.join(where, name), top)


def main():
    top = sys.argv[1] if len(sys.argv) > 1 else os.path.join(os.path.dirname(__file__), '..')
    files = complaints = 0
    for path in source_files(top):
        files += 1
        with open(os.path.join(top, path), encoding='utf-8') as f:
            text = f.read()
        for number, complaint in check_file(path, text):
            complaints += 1
            print('%s:%d: %s' % (path, number, complaint))
    for path in SIZE_EXCEPTIONS:
        if not os.path.exists(os.path.join(top, path)):
            complaints += 1
            print('%s: no such file, yet its size is excused' % path)
    print('%d files, %d complaints' % (files, complaints))
    if not files:
        sys.exit('no source files in %s' % top)
    sys.exit(1 if complaints else 0)


if __name__ == '__main__':
    main()
