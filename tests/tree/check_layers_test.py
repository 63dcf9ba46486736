"""check_layers complains of what it should, and of nothing else."""
import unittest
import unittest.mock

import check_layers
from check_layers import (ask_rooms, check_file, check_rooms, circles, concepts, questions_of,
                          repeated_types)


def complaints(path, text):
    return [complaint for _, complaint in check_file(path, text)]


def questions(path, text):
    return [question for _, question in questions_of(path, text)]


class Layers(unittest.TestCase):
    def refused(self, path, line):
        self.assertEqual(1, len(complaints(path, line + '\n')), (path, line))

    def fine(self, path, line):
        self.assertEqual([], complaints(path, line + '\n'))

    def test_readers_and_format_never_see_the_tracer_or_python(self):
        for folder in ('format/stream', 'readers/output'):
            self.refused(folder + '/x.cc', '#include "tracer/session/session.h"')
            self.refused(folder + '/x.cc', '#include "tracer/wire/ring_layout.h"')
            self.refused(folder + '/x_test.cc', '#include "tracer/wire/ring_layout.h"')
            self.refused(folder + '/x.cc', '#include <Python.h>')
        self.refused('format/x.cc', '#include "readers/run/run_index.h"')
        self.refused('readers/x.cc', '#include "collector/stats.h"')
        self.fine('readers/replay/summary/x.cc', '#include "format/summary/end_report.h"')

    def test_only_the_readers_module_sees_pybind(self):
        self.fine('readers/python/x.cc', '#include "pybind11/pybind11.h"')
        self.fine('readers/python/x.cc', '#include "readers/run/run_index.h"')
        self.refused('readers/python/x.cc', '#include "tracer/session/session.h"')
        self.refused('readers/x.cc', '#include "pybind11/pybind11.h"')
        self.refused('readers/x.cc', '#include "readers/python/run_file.h"')
        self.refused('format/x.cc', '#include "readers/python/run_file.h"')

    def test_the_collector_sees_only_the_wire(self):
        self.fine('collector/ring/x.cc', '#include "tracer/wire/ring_layout.h"')
        self.refused('collector/ring/x.cc', '#include "tracer/session/session.h"')
        self.refused('collector/x.cc', '#include "Python.h"')

    def test_the_launcher_sees_how_the_collector_starts(self):
        self.fine('launcher/session/x.cc', '#include "collector/session/collector_start.h"')
        self.refused('launcher/session/x.cc', '#include "collector/encoder.h"')
        self.refused('launcher/session/x.cc', '#include "format/stream_writer.h"')

    def test_the_launcher_sees_what_of_format_is_plain(self):
        self.fine('launcher/session/x.cc', '#include "format/batches/heap_size_table.h"')
        self.refused('launcher/session/x.cc', '#include "format/records/record_visitor.h"')

    def test_one_room_knows_versions_of_cpython(self):
        line = '#if PY_VERSION_HEX >= 0x030B0000'
        self.refused('tracer/objects/x.cc', line)
        self.refused('launcher/preload/x.cc', line)
        self.fine('tracer/cpython/objects/x.c', line)
        self.fine('tracer/code/x_test.cc', line)

    def test_the_traced_program_carries_no_containers(self):
        for header in ('<string>', '<vector>', '<iostream>', '<unordered_map>',
                       '"google/protobuf/message.h"', '"absl/strings/str_cat.h"'):
            self.refused('tracer/x.cc', '#include ' + header)
            self.fine('tracer/x_test.cc', '#include ' + header)
        self.refused('tracer/x.cc', 'std::string name;')
        self.refused('tracer/x.cc', 'f(std::vector<int>{});')
        self.fine('tracer/x.cc', '// unlike std::string, this keeps no copy')
        self.fine('tracer/x.cc', '#include <string.h>')

    def test_includes_start_at_the_root(self):
        self.refused('format/x.cc', '#include "byte_io.h"')
        self.refused('format/x.cc', '#include <format/byte_io.h>')

    def test_guards(self):
        good = '#ifndef PYMEMRUN_FORMAT_X_H_\n#define PYMEMRUN_FORMAT_X_H_\n#endif\n'
        self.assertEqual([], complaints('format/x.h', good))
        self.assertEqual(1, len(complaints('format/y.h', good)))

    def test_asks_about_long_files(self):
        self.assertEqual([], questions('format/x.cc', 'int x;\n' * 400))
        self.assertEqual(1, len(questions('format/x.cc', 'int x;\n' * 401)))
        self.assertEqual([], complaints('format/x.cc', 'int x;\n' * 401))
        self.assertEqual([], questions('readers/x_main.cc', 'int x;\n' * 60))
        self.assertEqual(1, len(questions('readers/x_main.cc', 'int x;\n' * 61)))

    def test_asks_about_long_functions(self):
        def function(body_lines):
            return 'int F(\n    int x) {\n' + '  x++;\n' * body_lines + '}\n'
        self.assertEqual([], questions('format/x.cc', function(37) * 2))
        self.assertEqual(1, len(questions('format/x.cc', function(38))))
        self.assertEqual([], complaints('format/x.cc', function(38)))
        table = 'const int kTable[] = {\n' + '    1,\n' * 60 + '};\n'
        self.assertEqual([], questions('format/x.cc', table))
        switch = 'void F() {\n  switch (x) {\n' + '    case 1:\n' * 60 + '  }\n}\n'
        self.assertEqual([], questions('format/x.cc', switch))
        self.assertEqual(1, len(questions('format/x.cc', switch.replace('  }\n}', '  }\n' + '  x++;\n' * 40 + '}'))))
        in_namespace = 'namespace pymemrun {\nvoid F();\n' + function(20) * 3 + '}  // namespace\n'
        self.assertEqual([], questions('format/x.cc', in_namespace))

    def test_rooms(self):
        def of(texts):
            return [c for _, c in check_rooms(texts) if 'includes nothing' not in c]
        self.assertEqual([], of({'text/x.cc': ''}))
        self.assertEqual(1, len(of({'text/attic/x.cc': ''})))
        many = {'text/x%d.cc' % n: '' for n in range(40)}
        self.assertEqual([], of(many))
        self.assertEqual([('text', '40 files: one room?')], list(ask_rooms(many)))
        self.refused('tracer/ring/x.cc', '#include "tracer/session/session.h"')
        self.fine('tracer/ring/x_test.cc', '#include "tracer/session/session.h"')
        self.assertIn(('text', 'includes nothing of format/, but may'),
                      list(check_rooms_with(text=['format'])))
        self.assertIn(('text', 'can be reached from itself: a circle'),
                      list(check_rooms_with(text=['format/summary'])))

    def test_folders_of_rooms_form_no_circle(self):
        rooms = {'readers/a/x': ['readers/b/x'], 'readers/b/y': ['readers/a/y'],
                 'readers/b/x': [], 'readers/a/y': []}
        self.assertEqual([], circles(rooms))
        with unittest.mock.patch.dict(check_layers.ROOMS, rooms, clear=True):
            self.assertEqual(['readers/a', 'readers/b'], sorted(circles(concepts())))
            self.assertEqual(['readers/a', 'readers/b'],
                             sorted(where for where, what in check_rooms({}) if 'circle' in what))
    def test_no_two_types_of_a_program_have_one_name(self):
        header = 'namespace pymemrun {\nstruct Row {\n};\n}\n'
        found = list(repeated_types({'readers/a/a.h': header, 'readers/b/b.h': header,
                                     'collector/c/c.h': header, 'text/d.cc': header}))
        self.assertEqual([('readers/b/b.h', 'there is another Row in readers/a/a.h')], found)
        self.assertEqual([], list(repeated_types({'text/a.h': 'struct Row;\n' + header})))


def check_rooms_with(**rooms):
    """What is said of the tree of no files with other arrows from these rooms."""
    with unittest.mock.patch.dict(check_layers.ROOMS, rooms):
        return list(check_rooms({}))


if __name__ == '__main__':
    unittest.main()
