#include "readers/run/forwarding_visitor.h"

#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace pymemrun {
namespace {

class MockVisitor : public RecordVisitor {
 public:
  MOCK_METHOD(void, OnHeader, (const Header&), (override));
  MOCK_METHOD(void, OnCode, (const CodeDef&), (override));
  MOCK_METHOD(void, OnFunction, (const FunctionDef&), (override));
  MOCK_METHOD(void, OnSite, (const SiteDef&), (override));
  MOCK_METHOD(void, OnThread, (const ThreadDef&), (override));
  MOCK_METHOD(void, OnStack, (const StackDef&), (override));
  MOCK_METHOD(bool, OnRows, (const Row*, size_t), (override));
  MOCK_METHOD(void, OnMapping, (const MappingDef&), (override));
  MOCK_METHOD(bool, OnPages, (const PageEntry*, size_t), (override));
  MOCK_METHOD(void, OnResidency, (const ResidencyView&), (override));
  MOCK_METHOD(bool, OnHeap, (const HeapEvent*, size_t), (override));
#define MOCK_FACT(kind, field, Message, Method, holds) \
  MOCK_METHOD(void, Method, (const Message&), (override));
  PYMEMRUN_FACTS(MOCK_FACT)
#undef MOCK_FACT
  MOCK_METHOD(void, OnFooter, (const Footer&), (override));
  MOCK_METHOD(void, OnUnknown, (), (override));
  MOCK_METHOD(void, OnDamage, (const StreamReader::Damage&), (override));
};

TEST(ForwardingVisitorTest, HandsOnEveryCall) {
  testing::StrictMock<MockVisitor> to;
  ForwardingVisitor visitor(&to);
#define EXPECT_FORWARDED(method, ...)               \
  {                                                 \
    EXPECT_CALL(to, method).Times(1);               \
    visitor.method(__VA_ARGS__);                    \
    testing::Mock::VerifyAndClearExpectations(&to); \
  }
  EXPECT_FORWARDED(OnHeader, Header());
  EXPECT_FORWARDED(OnCode, CodeDef());
  EXPECT_FORWARDED(OnFunction, FunctionDef());
  EXPECT_FORWARDED(OnSite, SiteDef());
  EXPECT_FORWARDED(OnThread, ThreadDef());
  EXPECT_FORWARDED(OnStack, StackDef());
  EXPECT_FORWARDED(OnMapping, MappingDef());
  EXPECT_FORWARDED(OnResidency, ResidencyView());
#define EXPECT_FACT_FORWARDED(kind, field, Message, Method, holds) \
  EXPECT_FORWARDED(Method, Message());
  PYMEMRUN_FACTS(EXPECT_FACT_FORWARDED)
#undef EXPECT_FACT_FORWARDED
  EXPECT_FORWARDED(OnFooter, Footer());
  EXPECT_FORWARDED(OnUnknown);
  EXPECT_FORWARDED(OnDamage, StreamReader::Damage());
#undef EXPECT_FORWARDED
}

TEST(ForwardingVisitorTest, HandsBackWhetherToStop) {
  testing::StrictMock<MockVisitor> to;
  ForwardingVisitor visitor(&to);
  for (const bool go_on : {false, true}) {
    EXPECT_CALL(to, OnRows(nullptr, 3)).WillOnce(testing::Return(go_on));
    EXPECT_EQ(visitor.OnRows(nullptr, 3), go_on);
    EXPECT_CALL(to, OnPages(nullptr, 4)).WillOnce(testing::Return(go_on));
    EXPECT_EQ(visitor.OnPages(nullptr, 4), go_on);
    EXPECT_CALL(to, OnHeap(nullptr, 5)).WillOnce(testing::Return(go_on));
    EXPECT_EQ(visitor.OnHeap(nullptr, 5), go_on);
  }
}

// The names that a pattern finds in a source file.
std::set<std::string> MethodsIn(const char* path, const std::string& pattern) {
  std::ifstream file(path);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  const std::regex method(pattern);
  std::set<std::string> names;
  for (std::sregex_iterator at(text.begin(), text.end(), method), end;
       at != end; ++at) {
    names.insert((*at)[1]);
  }
  return names;
}

// A method that is new in RecordVisitor would be lost without a word. Those of
// facts are made from the list of these.
TEST(ForwardingVisitorTest, KnowsEveryMethodOfRecordVisitor) {
  const std::set<std::string> all =
      MethodsIn("format/records/record_visitor.h", R"(virtual \w+ (On\w+)\()");
  ASSERT_GE(all.size(), 14u);
  EXPECT_EQ(MethodsIn("readers/run/forwarding_visitor.h",
                      R"((On\w+)\([^)]*\) override)"),
            all);
  EXPECT_EQ(MethodsIn("readers/run/forwarding_visitor_test.cc",
                      R"(MOCK_METHOD\(\w+, (On\w+),)"),
            all);
}

}  // namespace
}  // namespace pymemrun
