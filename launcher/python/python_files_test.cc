#include "launcher/python/python_files.h"

#include <gtest/gtest.h>

#include "launcher/test_folder.h"

namespace pymemrun {
namespace {

TEST(VersionNumbersTest, TakesSoManyNumbersOrNone) {
  EXPECT_EQ(VersionNumbers("3.11.2+", 2), "3.11");
  EXPECT_EQ(VersionNumbers("3.11.2+", 3), "3.11.2");
  EXPECT_EQ(VersionNumbers("3.11.10.final.0", 3), "3.11.10");
  for (const char* text : {"", "3", "3.", ".3", "x3.1", "3..1"}) {
    EXPECT_EQ(VersionNumbers(text, 2), "") << text;
  }
  EXPECT_EQ(VersionNumbers("3.11", 3), "");
}

TEST(PythonFilesTest, AnInterpreterHoldsTheNameOfItsMainFunction) {
  TestFolder folder;
  std::string before(16384 - 5, 'x');  // across the pieces it is read in
  EXPECT_TRUE(IsInterpreter(folder.Write("a", before + "Py_BytesMain")));
  EXPECT_FALSE(IsInterpreter(folder.Write("b", before + "Py_BytesMai")));
  EXPECT_FALSE(IsInterpreter(folder / "gone"));
}

TEST(PythonFilesTest, VersionFromTheLinkedNameOrTheLibrary) {
  TestFolder folder;
  folder.Write("a/bin/python3.10", "", 0755);
  ASSERT_EQ(symlink("python3.10", (folder / "a/bin/python").c_str()), 0);
  EXPECT_EQ(PythonVersionOf(folder / "a/bin/python"), "3.10");
  folder.Write("b/bin/python", "", 0755);
  folder.Write("b/lib/python3.9/os.py", "");
  EXPECT_EQ(PythonVersionOf(folder / "b/bin/python"), "3.9");
  folder.Write("b/lib/python3.13/os.py", "");
  EXPECT_EQ(PythonVersionOf(folder / "b/bin/python"), "");
}

TEST(PythonFilesTest, TheLibraryIsLookedForFromWhereTheLinkLeads) {
  TestFolder folder;
  folder.Write("a/bin/python3.10", "", 0755);
  std::string library = DirectoryOf(folder.Write("a/lib/python3.10/os.py", ""));
  ASSERT_EQ(symlink("a/bin/python3.10", (folder / "link").c_str()), 0);
  EXPECT_EQ(StandardLibraryOf(folder / "link", "3.10"), library);
  EXPECT_EQ(StandardLibraryOf(folder / "link", "3.9"), "");
  EXPECT_EQ(StandardLibraryOf(folder / "gone", "3.10"), "");
}

}  // namespace
}  // namespace pymemrun
