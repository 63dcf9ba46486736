// The half of CheckingVisitor that checks object dumps, and what both halves
// need. For tests and the fuzzer only.
#ifndef PYMEMRUN_FORMAT_RECORDS_CHECKING_OBJECTS_H_
#define PYMEMRUN_FORMAT_RECORDS_CHECKING_OBJECTS_H_

#include <cstdio>
#include <cstdlib>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "format/limits.h"
#include "format/records/record_visitor.h"

namespace pymemrun {

class CheckingObjects : public RecordVisitor {
 public:
  explicit CheckingObjects(bool keep_lines) : keep_(keep_lines) {}
  void OnObjectType(const ObjectTypeDef& d) override {
    Check(d.base() < d.id());
    Define("object type", d.id(), &object_types_);
  }
  void OnObjectName(const ObjectNameDef& d) override {
    Define("object name", d.id(), &object_names_);
  }
  bool OnObjects(const ObjectNode* nodes, size_t count) override {
    Check(count > 0 && count <= kEntriesPerCall);
    for (size_t i = 0; i < count; ++i) {
      Check(nodes[i].number >= next_object_ && nodes[i].number < kMaxObjects);
      Check(nodes[i].type <= object_types_);
      Check(nodes[i].text.size() <= kMaxObjectTextBytes);
      next_object_ = nodes[i].number + 1;
      Keep("object ", nodes[i].number);
    }
    return true;
  }
  bool OnReferences(const ObjectReference* references, size_t count) override {
    Check(count > 0 && count <= kEntriesPerCall);
    for (size_t i = 0; i < count; ++i) {
      Check(references[i].name <= object_names_);
      Check(references[i].from < kMaxObjects);
      Check(references[i].target < kMaxObjects);
      Keep("reference ", references[i].target);
    }
    return true;
  }
  const std::vector<std::string>& lines() const { return lines_; }

 protected:
  static void Check(bool condition) {
    if (condition) return;
    fprintf(stderr, "CheckingVisitor: a promise to visitors was broken\n");
    abort();
  }
  void Define(const char* kind, uint32_t id, uint32_t* last) {
    Check(id == ++*last);
    Keep(kind, id);
  }
  void Keep(const char* kind, uint64_t value) {
    if (keep_) lines_.push_back(absl::StrCat(kind, value));
  }

  const bool keep_;

 private:
  std::vector<std::string> lines_;
  uint32_t object_types_ = 0, object_names_ = 0;
  uint64_t next_object_ = 0;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_CHECKING_OBJECTS_H_
