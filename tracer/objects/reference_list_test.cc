// Which reference is called what, beside a slow count of the same.
#include "tracer/objects/reference_list.h"

#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "gtest/gtest.h"

namespace pymemrun {
namespace {

PyObject* At(uint64_t number) {
  return reinterpret_cast<PyObject*>(0x7f0000000000 + number * 16);
}

PymemrunEdge Named(uint64_t number, const char* text, int always = 0) {
  return {At(number), kPymemrunAttribute, always, nullptr, text};
}

struct Told {
  PyObject* target;
  int kind;
  const char* text;
  bool operator==(const Told& other) const {
    return target == other.target && kind == other.kind && text == other.text;
  }
};

std::vector<Told> All(ReferenceList* list) {
  std::vector<Told> told;
  list->ForEach([&](const PymemrunEdge& edge) {
    told.push_back({edge.target, edge.kind, edge.text});
  });
  return told;
}

Told Plain(uint64_t number) { return {At(number), kPymemrunOther, nullptr}; }

constexpr char kA[] = "a", kB[] = "b";

TEST(ReferenceListTest, ANameGoesToOneReferenceAndTheRestHaveNone) {
  ReferenceList list;
  list.AddVisited(At(1));
  list.AddVisited(At(2));
  list.AddVisited(At(1));
  list.AddVisited(At(1));
  list.AddNamed(Named(1, kB));
  list.AddNamed(Named(1, kA));
  EXPECT_EQ(All(&list), (std::vector<Told>{{At(1), kPymemrunAttribute, kB},
                                           {At(1), kPymemrunAttribute, kA},
                                           Plain(1),
                                           Plain(2)}));
}

TEST(ReferenceListTest, ANameOfWhatWasNotVisitedIsNoneUnlessItAlwaysIs) {
  ReferenceList list;
  list.AddVisited(At(1));
  list.AddNamed(Named(5, kA));
  list.AddNamed(Named(6, kB, 1));
  list.AddNamed(Named(1, kA));
  list.AddNamed(Named(1, kB));
  EXPECT_EQ(All(&list), (std::vector<Told>{{At(6), kPymemrunAttribute, kB},
                                           {At(1), kPymemrunAttribute, kA}}));
}

TEST(ReferenceListTest, NothingIsLeftOfTheObjectBefore) {
  ReferenceList list;
  EXPECT_TRUE(All(&list).empty());
  for (uint64_t i = 0; i < 10000; ++i) list.AddVisited(At(i));
  EXPECT_EQ(All(&list).size(), 10000u);
  list.Clear();
  EXPECT_TRUE(All(&list).empty());
  list.AddNamed(Named(9, kA));
  EXPECT_TRUE(All(&list).empty());
  list.AddVisited(At(9));
  EXPECT_EQ(All(&list), (std::vector<Told>{{At(9), kPymemrunAttribute, kA}}));
}

// As the interface says it: of each target as many as were visited, the names
// first; and names that always are references, visited or not.
std::vector<Told> Expected(const std::vector<uint64_t>& visited,
                           const std::vector<PymemrunEdge>& named) {
  std::multimap<PyObject*, int> left;
  for (const uint64_t number : visited) left.emplace(At(number), 0);
  std::vector<Told> told;
  for (const PymemrunEdge& edge : named) {
    const auto one = left.find(edge.target);
    if (one != left.end())
      left.erase(one);
    else if (edge.always == 0)
      continue;
    told.push_back({edge.target, edge.kind, edge.text});
  }
  for (const uint64_t number : visited) {
    const auto one = left.find(At(number));
    if (one == left.end()) continue;
    left.erase(one);
    told.push_back(Plain(number));
  }
  return told;
}

TEST(ReferenceListTest, ManyListsAreAsASlowCountHasThem) {
  std::mt19937 random(5);
  ReferenceList list;
  for (int round = 0; round < 100; ++round) {
    list.Clear();
    const unsigned few = 1 + random() % 2000, many = random() % 3000;
    std::vector<uint64_t> visited;
    std::vector<PymemrunEdge> named;
    for (unsigned i = 0; i < many; ++i) {
      if (random() % 3 != 0) {
        visited.push_back(random() % few);
        list.AddVisited(At(visited.back()));
      } else {
        named.push_back(Named(random() % few, random() % 2 == 0 ? kA : kB,
                              random() % 4 == 0));
        list.AddNamed(named.back());
      }
    }
    ASSERT_EQ(All(&list), Expected(visited, named)) << round;
  }
}

}  // namespace
}  // namespace pymemrun
