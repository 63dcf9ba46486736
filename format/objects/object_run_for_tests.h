// A small object dump. For tests and the fuzzer only.
#ifndef PYMEMRUN_FORMAT_OBJECTS_OBJECT_RUN_FOR_TESTS_H_
#define PYMEMRUN_FORMAT_OBJECTS_OBJECT_RUN_FOR_TESTS_H_

#include <cstdlib>
#include <string>
#include <vector>

#include "format/objects/object_batch.h"
#include "format/stream/stream_for_tests.h"

namespace pymemrun {

inline Record ObjectTypeRecord(uint32_t id, const std::string& name,
                               uint32_t base = 0, bool synthetic = false) {
  Record record;
  record.mutable_object_type()->set_id(id);
  record.mutable_object_type()->set_name(name);
  record.mutable_object_type()->set_module("builtins");
  record.mutable_object_type()->set_base(base);
  record.mutable_object_type()->set_synthetic(synthetic);
  return record;
}

inline Record ObjectNameRecord(uint32_t id, const std::string& text) {
  Record record;
  record.mutable_object_name()->set_id(id);
  record.mutable_object_name()->set_text(text);
  return record;
}

inline ObjectNode PlainNode(uint32_t type, uint64_t address, uint64_t size) {
  ObjectNode node;
  node.type = type;
  node.address = address;
  node.size_bytes = size;
  return node;
}

// Puts each batch behind the others.
inline ObjectBatchEncoder::Emit EmitTo(std::vector<Record>* records) {
  return [records](absl::string_view bytes) {
    records->emplace_back();
    if (!records->back().ParseFromArray(bytes.data(),
                                        static_cast<int>(bytes.size()))) {
      abort();
    }
    return absl::OkStatus();
  };
}

inline void MustBeOk(const absl::Status& status) {
  if (!status.ok()) abort();
}

// The root leads to a list, that to a string, an int and itself. The root has
// one more reference, which comes late, to a cut string.
inline std::vector<Record> ObjectRunBatches(size_t batch_bytes) {
  std::vector<Record> records;
  ObjectBatchEncoder encoder(EmitTo(&records), batch_bytes);
  MustBeOk(encoder.AddNode(PlainNode(1, 0, 0)));
  MustBeOk(encoder.AddReference(EDGE_ROOT, 1, 1));
  ObjectNode list = PlainNode(2, 0x7000, 88);
  list.length = 3;
  list.flags = ObjectBatch::TRACKED;
  MustBeOk(encoder.AddNode(list));
  MustBeOk(encoder.AddReference(EDGE_INDEX, 0, 2));
  MustBeOk(encoder.AddReference(EDGE_INDEX, 0, 3));
  MustBeOk(encoder.AddReference(EDGE_INDEX, 0, 1));
  ObjectNode text = PlainNode(3, 0x6000, 52);
  text.length = 3;
  text.text = "a\"b";
  MustBeOk(encoder.AddNode(text));
  ObjectNode number = PlainNode(4, 0x6100, 28);
  number.text = "-7";
  number.flags = ObjectBatch::IMMORTAL;
  MustBeOk(encoder.AddNode(number));
  MustBeOk(encoder.ContinueNode(0));
  MustBeOk(encoder.AddReference(EDGE_WEAK, 2, 4));
  ObjectNode cut = PlainNode(3, 0x8000, 1049);
  cut.length = 1000;
  cut.text = "xxxx";
  cut.text_hash = 0xFEDCBA9876543210;
  cut.line = 12;
  MustBeOk(encoder.AddNode(cut));
  MustBeOk(encoder.Flush());
  return records;
}

// Frames: definitions, the batches, the end.
inline std::vector<std::string> ObjectRunFrames(
    int level = StreamWriter::kStored, size_t batch_bytes = 1 << 20) {
  Record begin, end;
  begin.mutable_objects_begin()->set_time_us(4000);
  begin.mutable_objects_begin()->set_pause_us(5700);
  end.mutable_objects_end()->set_objects(4);
  end.mutable_objects_end()->set_references(5);
  return {
      FrameOf({HeaderRecord(), begin, ObjectTypeRecord(1, "<root>", 0, true),
               ObjectTypeRecord(2, "list"), ObjectTypeRecord(3, "str", 2),
               ObjectTypeRecord(4, "int"), ObjectNameRecord(1, "modules"),
               ObjectNameRecord(2, "late")},
              level),
      FrameOf(ObjectRunBatches(batch_bytes), level), FrameOf({end}, level)};
}

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_OBJECTS_OBJECT_RUN_FOR_TESTS_H_
