"""The recipes of CONTRIBUTING.md work as they are written: in a copy of the tree a report
command and a fact record are added in the files that the page names, and no others. The
copy is built, and both show what a run recorded.

Compiles the programs: some minutes of CPU, or seconds with ccache.
"""
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

import markdown_text

TREE = markdown_text.SOURCE_DIR
BUILD_DIR = os.environ.get('PYMEMRUN_BUILD_DIR', '.')

HELLO = '''\
#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/output/table_columns.h"
#include "readers/report/report_command.h"
#include "readers/report/run_reading.h"

namespace pymemrun {
namespace {

using Rows = std::pair<std::string, uint64_t>;  // of a thread

// Counts the rows of each thread.
class HelloReplay final : public ReplayVisitor {
 public:
  bool OnRows(const Row* rows, size_t count) override {
    for (size_t i = 0; i < count; ++i) ++rows_[rows[i].thread];
    return true;
  }
  void Finish() override {}
  const std::map<uint32_t, uint64_t>& rows() const { return rows_; }

 private:
  std::map<uint32_t, uint64_t> rows_;
};

class HelloCommand final : public ReportCommand {
 public:
  HelloCommand()
      : ReportCommand("hello", "how many rows each thread has",
                      "Counts the rows of each thread.") {}
  void AddOptions(CLI::App* app) override {
    needs_.Add(Recorded::kCalls);
    files_.AddOne(app);
    table_.Add(app, 20, "A row for each thread.", "threads");
    files_.AddOutput(app);
  }
  int Run(const Console& console, OutputBuffer* output) override {
    RunReading run(*this, console);
    HelloReplay replay;
    if (!run.Read(&replay)) return run.code();
    std::vector<Rows> rows;
    for (const auto& [thread, count] : replay.rows()) {
      rows.emplace_back(absl::StrCat("thread ", thread), count);
    }
    TableColumns<Rows> columns;
    columns.Add("thread", "thread", CellLook::kKey,
                [](const Rows& row) -> Cell { return row.first; });
    columns.Add("rows", "rows", CellLook::kPlain,
                [](const Rows& row) -> Cell { return row.second; });
    table_.Print("Rows by thread:\\n", columns.Make(rows), output);
    return run.code();
  }

 private:
  TableOptions table_;
};

}  // namespace

std::unique_ptr<ReportCommand> NewHelloCommand() {
  return std::make_unique<HelloCommand>();
}

}  // namespace pymemrun
'''

# (file, the line behind which it goes, what goes there), as the recipes say.
COMMAND = (
    ('readers/commands/memory/all_commands.cc', r'  COMMAND\(NewSummaryCommand\) +\\',
     '  COMMAND(NewHelloCommand) \\'),
)
FACT = (
    ('format/trace.proto', r'    SourceFile source = 16;', '    Toy toy = 17;'),
    ('format/record_kinds.h', r'  FACT\(kMark, .*', '  FACT(kToy, toy, Toy, OnToy, kTime) \\'),
    ('collector/session/run_end.cc', r'void RunEnd::Write\(.*\{',
     '  Record toy;\n  toy.mutable_toy()->set_wheels(4);\n  in_.writer->Write(toy);'),
    ('readers/replay/summary/run_summary.cc', r'  lines.emplace_back\("clock", .*',
     '  lines.emplace_back("toys",\n'
     '                     absl::StrCat(facts.Kept<Toy>().last.wheels(), " wheels"));'),
)
TOY = 'message Toy {\n  uint64 time_us = 1;\n  uint32 wheels = 2;\n}\n'


def copy_tree(to):
    listed = subprocess.run(['git', '-C', TREE, 'ls-files', '-z'], check=True,
                            stdout=subprocess.PIPE).stdout.decode().split('\0')
    for name in filter(None, listed):
        path = os.path.join(to, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        shutil.copy2(os.path.join(TREE, name), path, follow_symlinks=False)


def insert(top, name, behind, line):
    path = os.path.join(top, name)
    with open(path, encoding='utf-8') as f:
        lines = f.read().split('\n')
    at = [number for number, old in enumerate(lines) if re.fullmatch(behind, old)]
    assert len(at) == 1, '%s: %d lines match %s' % (name, len(at), behind)
    lines.insert(at[0] + 1, line)
    with open(path, 'w', encoding='utf-8') as f:
        f.write('\n'.join(lines))


def cached(name):
    """What the build that we are part of was configured with."""
    with open(os.path.join(BUILD_DIR, 'CMakeCache.txt'), encoding='utf-8') as f:
        found = re.search('^%s:[A-Z]+=(.*)$' % name, f.read(), re.MULTILINE)
    return found.group(1) if found else ''


class Recipes(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        if not os.path.isdir(os.path.join(TREE, '.git')):
            raise unittest.SkipTest('no git checkout')
        cls.top = tempfile.mkdtemp(dir='.')
        copy_tree(cls.top)
        with open(os.path.join(cls.top, 'readers/commands/memory/hello_command.cc'), 'w',
                  encoding='utf-8') as f:
            f.write(HELLO)
        for name, behind, line in COMMAND + FACT:
            insert(cls.top, name, behind, line)
        with open(os.path.join(cls.top, 'format/trace.proto'), 'a', encoding='utf-8') as f:
            f.write('\n' + TOY)
        cls.build = os.path.abspath(os.path.join(cls.top, 'build'))
        launcher = cached('CMAKE_CXX_COMPILER_LAUNCHER')
        options = ['-DCMAKE_BUILD_TYPE=Release', '-DPYMEMRUN_BUILD_TESTS=OFF',
                   *('-DCMAKE_%s_COMPILER_LAUNCHER=%s' % (language, launcher)
                     for language in ('C', 'CXX'))]
        for command in (['cmake', '-G', 'Ninja', '-S', cls.top, '-B', cls.build, *options],
                        ['cmake', '--build', cls.build, '--parallel', str(os.cpu_count()),
                         '--target', 'pymemrun', 'pymemrun-collector', 'pymemreport']):
            done = subprocess.run(command, text=True, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
            if done.returncode != 0:
                raise AssertionError('%s\n%s' % (' '.join(command), done.stdout[-8000:]))
        cls.run_file = os.path.join(cls.top, 'run.pb')
        subprocess.run([os.path.join(cls.build, 'launcher', 'pymemrun'), '--quiet', '-o',
                        cls.run_file, '-c', 'sum(map(abs, range(9)))'], check=True)

    @classmethod
    def tearDownClass(cls):
        shutil.rmtree(cls.top)

    def report(self, *words):
        return subprocess.run(
            [os.path.join(self.build, 'readers', 'pymemreport'), *words], check=True, text=True,
            stdout=subprocess.PIPE).stdout

    def test_the_page_names_each_file(self):
        page = markdown_text.read('CONTRIBUTING.md')
        for name, *_ in COMMAND + FACT:
            if name != 'collector/session/run_end.cc':  # the page says `RunEnd::Write`
                self.assertIn(name, page)
        self.assertIn('RunEnd::Write', page)

    def test_a_report_command(self):
        self.assertRegex(self.report('--help'), r'\bhello\b')
        self.assertIn('Counts the rows of each thread.', self.report('hello', '--help'))
        text = self.report('hello', '--csv', self.run_file).split('\n')
        self.assertEqual('thread,rows', text[0])
        self.assertRegex(text[1], r'^thread \d+,[1-9]\d*$')

    def test_a_fact_record(self):
        self.assertRegex(self.report('summary', self.run_file), r'\n *toys +4 wheels\n')

    def test_the_layers_are_as_before(self):
        done = subprocess.run([sys.executable, os.path.join(TREE, 'tests/tree/check_layers.py'),
                               self.top], text=True, stdout=subprocess.PIPE)
        self.assertEqual(0, done.returncode, done.stdout)


if __name__ == '__main__':
    unittest.main()
