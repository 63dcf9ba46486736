"""The overview of pymemrun's parts. Used by docs/pictures/make."""
from picture import Picture


def part(picture, x, y, width, name, *lines):
    picture.box(x, y, width, 24 + 15 * len(lines), kind='part')
    picture.text(x + width / 2, y + 17, name, bold=True, anchor='middle')
    for number, line in enumerate(lines):
        picture.text(x + width / 2, y + 33 + 15 * number, line, size=11, soft=True, anchor='middle')


def store(picture, x, y, width, name, *lines):
    picture.box(x, y, width, 24 + 15 * len(lines), kind='store')
    picture.text(x + width / 2, y + 17, name, bold=True, anchor='middle')
    for number, line in enumerate(lines):
        picture.text(x + width / 2, y + 33 + 15 * number, line, size=11, soft=True, anchor='middle')


def room(picture, y, height, name):
    picture.box(8, y, 464, height, kind='room')
    picture.text(18, y + 18, name, soft=True)


def draw():
    picture = Picture(480, 716, 'The parts of pymemrun and what flows between them')
    room(picture, 8, 268, 'the traced process')
    part(picture, 150, 28, 180, 'launcher + CPython', 'runs the program')
    part(picture, 18, 98, 134, 'call hooks', 'each call, return', 'of each thread')
    part(picture, 164, 98, 140, 'heap hooks', 'allocations, frees', 'of Python and of C')
    part(picture, 316, 98, 146, 'page hooks', 'SIGTRAP, unmapping', 'calls of libc')
    for x in (85, 234, 389):
        picture.arrow((240, 67), (240, 82), (x, 82), (x, 98))
    part(picture, 18, 188, 134, 'RSS gauge', 'fault counters,', 'break, statm')
    picture.arrow((60, 188), (60, 152))
    picture.text(164, 196, 'rows and definitions;', size=11, soft=True)
    picture.text(164, 211, 'all heap events', size=11, soft=True)
    picture.text(330, 196, 'samples, stacks,', size=11, soft=True)
    picture.text(330, 211, 'unmapped ranges', size=11, soft=True)
    room(picture, 296, 92, 'shared memory')
    store(picture, 18, 324, 200, 'event ring', '4 MiB: one producer, the GIL')
    store(picture, 262, 324, 200, 'side ring', '2 MiB: any thread, any time')
    picture.arrow((128, 152), (128, 172), (158, 172), (158, 324))
    picture.arrow((196, 152), (196, 172), (158, 172), (158, 324))
    picture.arrow((276, 152), (276, 172), (318, 172), (318, 324))
    picture.arrow((389, 152), (389, 172), (318, 172), (318, 324))
    room(picture, 408, 128, 'pymemrun-collector')
    store(picture, 18, 480, 122, 'perf rings', 'kernel: faults')
    part(picture, 160, 436, 302, 'merge, resolve, encode', 'both rings and faults in one order,',
         'lines, stacks, columns, zstd', 'asks the kernel which pages are resident')
    picture.arrow((190, 363), (190, 436))
    picture.arrow((362, 363), (362, 436))
    picture.arrow((140, 498), (160, 498))
    store(picture, 160, 560, 302, 'run.pb', 'independent, checksummed frames')
    picture.arrow((311, 505), (311, 560))
    room(picture, 620, 88, 'readers')
    part(picture, 18, 656, 134, 'pymemcat', 'rows')
    part(picture, 164, 656, 140, 'pymemreport', 'answers, pictures')
    part(picture, 316, 656, 146, 'pymemrun_reader', 'Python module')
    for x in (85, 234, 389):
        picture.arrow((311, 599), (311, 640), (x, 640), (x, 656))
    return picture
