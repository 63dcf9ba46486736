// libFuzzer's mutator of run files, for all fuzzers that read them. Checksums
// stop blind mutation: it opens the frames, changes the records in them and
// closes them again with right checksums.
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include "format/stream/stream_for_tests.h"
#include "format/stream/stream_reader.h"
#include "format/stream/stream_writer.h"
#include "tests/fuzz/state_mutator.h"
#include "tests/fuzz/task_mutator.h"

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace pymemrun {
namespace {

void MutateBytes(std::string* bytes) {
  const size_t size = bytes->size();
  bytes->resize(size + 64);
  bytes->resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(&(*bytes)[0]), size,
                                 bytes->size()));
}

void MutateBatch(EventBatch* b, Random* random) {
  google::protobuf::RepeatedField<uint32_t>* const columns[] = {
      b->mutable_site(),       b->mutable_number_at(),  b->mutable_time_at(),
      b->mutable_thread_at(),  b->mutable_thread(),     b->mutable_rss_at(),
      b->mutable_context_at(), b->mutable_inexact_at(), b->mutable_stack()};
  switch ((*random)() % 6) {
    case 0:
      return MutateColumn(b->mutable_number_skip(), random);
    case 1:
      return MutateColumn(b->mutable_time_step(), random);
    case 2:
      MutateColumn(b->mutable_drss(), random);
      return MutateColumn(b->mutable_rss_step(), random);
    default:
      return MutateColumn(columns[(*random)() % std::size(columns)], random);
  }
}

void MutatePages(PageBatch* b, Random* random) {
  google::protobuf::RepeatedField<uint32_t>* const columns[] = {
      b->mutable_time_at(),     b->mutable_thread_at(),
      b->mutable_thread(),      b->mutable_stack_at(),
      b->mutable_stack(),       b->mutable_code_at(),
      b->mutable_code(),        b->mutable_action_at(),
      b->mutable_inferred_at(), b->mutable_collecting_at()};
  switch ((*random)() % 6) {
    case 0:
      return MutateColumn(b->mutable_page_step(), random);
    case 1:
      return MutateColumn(b->mutable_time_step(), random);
    case 2:
      MutateColumn(b->mutable_action(), random);
      MutateColumn(b->mutable_moved_to(), random);
      return MutateColumn(b->mutable_action_pages(), random);
    default:
      return MutateColumn(columns[(*random)() % std::size(columns)], random);
  }
}

void MutateResidency(Residency* r, Random* random) {
  google::protobuf::RepeatedField<uint32_t>* const columns[] = {
      r->mutable_mapping_at(), r->mutable_mapping(), r->mutable_flags_at(),
      r->mutable_flags()};
  if ((*random)() % 2 == 0) {
    return MutateColumn(columns[(*random)() % std::size(columns)], random);
  }
  MutateColumn(r->mutable_gap_pages(), random);
  MutateColumn(r->mutable_pages(), random);
}

// Other guesses and predictions, often with the columns that they take.
void MutateOps(HeapBatch* b, Random* random) {
  std::string* const op = b->mutable_op();
  const auto value = static_cast<char>((*random)());
  if (op->empty() || (*random)() % 3 == 0) {
    op->push_back(value);
  } else {
    (*op)[(*random)() % op->size()] = value;
  }
  if ((*random)() % 2 == 0) return;
  MutateColumn(b->mutable_address_step(), random);
  b->add_stack(0);
  b->add_size((*random)() % 1024);
}

void MutateHeap(HeapBatch* b, Random* random) {
  google::protobuf::RepeatedField<uint32_t>* const columns[] = {
      b->mutable_stack(),  b->mutable_time_at(), b->mutable_thread_at(),
      b->mutable_thread(), b->mutable_code_at(), b->mutable_code()};
  switch ((*random)() % 6) {
    case 0:
      return MutateColumn(b->mutable_address_step(), random);
    case 1:
      return MutateColumn(b->mutable_time_step(), random);
    case 2:
      return MutateColumn(b->mutable_size(), random);
    case 3:
      return MutateColumn(columns[(*random)() % std::size(columns)], random);
    default:
      return MutateOps(b, random);
  }
}

// Other actions, often with the columns that they take.
void MutateGil(GilBatch* b, Random* random) {
  google::protobuf::RepeatedField<uint64_t>* const holds[] = {
      b->mutable_free_ns(), b->mutable_pauses(), b->mutable_paused_ns()};
  google::protobuf::RepeatedField<uint32_t>* const columns[] = {
      b->mutable_thread(), b->mutable_gil_at(),   b->mutable_gil(),
      b->mutable_stack(),  b->mutable_function(), b->mutable_by()};
  switch ((*random)() % 6) {
    case 0:
      return MutateColumn(b->mutable_time_step_ns(), random);
    case 1:
      return MutateColumn(holds[(*random)() % std::size(holds)], random);
    case 2:
      return MutateColumn(columns[(*random)() % std::size(columns)], random);
    case 3:
      return b->set_first_ns((*random)() % 4 == 0 ? ~uint64_t{0}
                                                  : (*random)() % 5000);
    default:
      break;
  }
  // One entry more.
  const auto action = static_cast<GilAction>((*random)() % (GilAction_MAX + 2));
  b->add_action(action);
  b->add_time_step_ns((*random)() % 1000);
  b->add_thread(1 + (*random)() % 3);
  if (action == GIL_WAITER || action == GIL_HOLDER) {
    b->add_stack((*random)() % 3);
    b->add_function(0);
  } else if (action == GIL_TAKEN || action == GIL_WAITING ||
             action == GIL_STATE) {
    for (auto* column : holds) column->Add((*random)() % 1000);
  } else if (action == GIL_LOCK_TAKEN || action == GIL_GOES_ON) {
    b->add_by((*random)() % 4);
  }
}

void MutateRates(HeapRates* rates, Random* random) {
  rates->set_mean_bytes((*random)() % 2 * 65536);
  HeapClass* const one = rates->add_classes();
  one->set_below_bytes((*random)() % 300);
  one->set_probability(static_cast<double>((*random)() % 5) / 4);
}

// Kinds beyond the last one, and more or fewer of them than targets.
void MutateKinds(ObjectBatch* b, Random* random) {
  std::string* const kinds = b->mutable_edge_kind();
  const auto kind = static_cast<char>((*random)() % 18);
  if (kinds->empty() || (*random)() % 4 == 0) {
    kinds->push_back(kind);
    if ((*random)() % 4 != 0) b->add_target((*random)() % 4);
  } else {
    (*kinds)[(*random)() % kinds->size()] = kind;
  }
}

void MutateTexts(ObjectBatch* b, Random* random) {
  MutateColumn(b->mutable_text_at(), random);
  if (b->text_size() == 0 || (*random)() % 2 == 0) {
    b->add_text(std::string((*random)() % 1100, '\x80'));
  } else {
    MutateBytes(b->mutable_text(
        static_cast<int>((*random)() % static_cast<unsigned>(b->text_size()))));
  }
  if ((*random)() % 2 == 0) return;
  MutateColumn(b->mutable_hash_at(), random);
  MutateColumn(b->mutable_hash(), random);
}

// Where the batch begins, and what earlier nodes refer to.
void MutateNumbers(ObjectBatch* b, Random* random) {
  switch ((*random)() % 4) {
    case 0:
      return b->set_first_node((*random)() % 8);
    case 1:
      return b->set_first_new((*random)() % 8);
    default:
      MutateColumn(b->mutable_late_node(), random);
      return MutateColumn(b->mutable_late_edges(), random);
  }
}

void MutateObjects(ObjectBatch* b, Random* random) {
  google::protobuf::RepeatedField<uint32_t>* const columns[] = {
      b->mutable_type(),     b->mutable_edges(),        b->mutable_length_at(),
      b->mutable_flags_at(), b->mutable_flags(),        b->mutable_line_at(),
      b->mutable_line(),     b->mutable_edge_name_at(), b->mutable_edge_name()};
  switch ((*random)() % 8) {
    case 0:
      return MutateColumn(b->mutable_address_step(), random);
    case 1:
      MutateColumn(b->mutable_size_bytes(), random);
      return MutateColumn(b->mutable_length(), random);
    case 2:
      return MutateColumn(b->mutable_target(), random);
    case 3:
      return MutateKinds(b, random);
    case 4:
      return MutateTexts(b, random);
    case 5:
      return MutateNumbers(b, random);
    default:
      return MutateColumn(columns[(*random)() % std::size(columns)], random);
  }
}

void MutateObjectType(ObjectTypeDef* type, Random* random) {
  switch ((*random)() % 4) {
    case 0:
      return type->set_id((*random)() % 6);
    case 1:
      return type->set_base((*random)() % 6);
    case 2:
      return type->set_head_bytes((*random)());
    default:
      return type->set_synthetic(!type->synthetic());
  }
}

// Returns false where the record is not about counters.
bool MutateCounters(Record* record, Random* random) {
  const uint64_t number = ~uint64_t{0} >> ((*random)() % 64);
  if (record->has_gc_run()) {
    GcRun* const run = record->mutable_gc_run();
    (*random)() % 2 == 0 ? run->set_begin_us(number) : run->set_time_us(number);
    run->set_stack((*random)() % 6);
  } else if (record->has_counter()) {
    CounterValue* const value = record->mutable_counter();
    (*random)() % 2 == 0 ? value->set_whole(static_cast<int64_t>(number))
                         : value->set_real(1 / static_cast<double>(number - 1));
    MutateBytes(value->mutable_name());
  } else if (record->has_counter_plan()) {
    record->mutable_counter_plan()->set_every_us(number);
  } else if (record->has_process()) {
    record->mutable_process()->set_counted((*random)() % 4 != 0);
    record->mutable_process()->set_time_us(number);
    record->mutable_process()->set_descriptors(number);
  } else {
    return false;
  }
  return true;
}

// Returns false where the record is not of a dump of the object graph.
bool MutateDump(Record* record, Random* random) {
  if (record->has_objects()) {
    MutateObjects(record->mutable_objects(), random);
  } else if (record->has_object_type()) {
    MutateObjectType(record->mutable_object_type(), random);
  } else if (record->has_object_name()) {
    record->mutable_object_name()->set_id((*random)() % 6);
  } else {
    return false;
  }
  return true;
}

void MutateRecord(std::string* bytes, Random* random) {
  Record record;
  if ((*random)() % 2 == 0 || !record.ParseFromString(*bytes)) {
    return MutateBytes(bytes);
  }
  if (MutateDump(&record, random) || MutateCounters(&record, random) ||
      MutateThreadStates(&record, random) || MutateTasks(&record, random)) {
    *bytes = record.SerializeAsString();
    return;
  }
  if (record.has_events()) {
    MutateBatch(record.mutable_events(), random);
  } else if (record.has_pages()) {
    MutatePages(record.mutable_pages(), random);
  } else if (record.has_residency()) {
    MutateResidency(record.mutable_residency(), random);
  } else if (record.has_heap()) {
    MutateHeap(record.mutable_heap(), random);
  } else if (record.has_gil()) {
    MutateGil(record.mutable_gil(), random);
  } else if (record.has_heap_rates()) {
    MutateRates(record.mutable_heap_rates(), random);
  } else if (record.has_site() && (*random)() % 4 == 0) {
    // Events of the GIL in a file that had none.
    MutateGil(record.mutable_gil(), random);
  } else if (record.has_site()) {
    record.mutable_site()->set_id((*random)() % 9);
  } else {
    record.mutable_thread()->set_id(1 + (*random)() % 4);
  }
  *bytes = record.SerializeAsString();
}

void MutateRecords(std::vector<std::string>* records, Random* random) {
  if (records->empty()) {
    for (const Record& record : Definitions()) {
      records->push_back(record.SerializeAsString());
    }
  }
  const size_t at = (*random)() % records->size();
  const size_t other = (*random)() % records->size();
  switch ((*random)() % 8) {
    case 0:
      records->erase(records->begin() + static_cast<std::ptrdiff_t>(at));
      break;
    case 1: {
      const std::string copy = (*records)[other];
      records->insert(records->begin() + static_cast<std::ptrdiff_t>(at), copy);
      break;
    }
    case 2:
      std::swap((*records)[at], (*records)[other]);
      break;
    default:
      MutateRecord(&(*records)[at], random);
  }
}

std::vector<std::string> TakeApart(absl::string_view file) {
  StringSource source(file);
  auto reader = StreamReader::Create(&source, {});
  std::vector<std::string> records;
  absl::string_view record;
  while (records.size() < 1000) {
    const StreamReader::Result result = reader->Next(&record);
    if (result == StreamReader::Result::kRecord) records.emplace_back(record);
    if (result == StreamReader::Result::kTorn ||
        result == StreamReader::Result::kEnd) {
      break;
    }
  }
  return records;
}

std::string PutTogether(const std::vector<std::string>& records,
                        Random* random) {
  StringSink sink;
  auto writer = StreamWriter::Create(
      &sink, {.level = (*random)() % 2 == 0 ? StreamWriter::kStored : 1,
              .max_frame_bytes = 1 + (*random)() % 2000});
  for (const std::string& record : records) {
    (*writer)->AppendSerialized(record).IgnoreError();
  }
  (*writer)->Flush().IgnoreError();
  if ((*random)() % 2 == 0) (*writer)->WriteIndex().IgnoreError();
  return sink.contents();
}

}  // namespace
}  // namespace pymemrun

extern "C" size_t LLVMFuzzerCustomMutator(uint8_t* data, size_t size,
                                          size_t max_size, unsigned int seed) {
  pymemrun::Random random(seed);
  // Headers of frames and blocks are found by plain mutation.
  if (random() % 4 == 0) return LLVMFuzzerMutate(data, size, max_size);
  std::vector<std::string> records = pymemrun::TakeApart(
      absl::string_view(reinterpret_cast<const char*>(data), size));
  do {
    pymemrun::MutateRecords(&records, &random);
  } while (random() % 2 == 0);
  const std::string file = pymemrun::PutTogether(records, &random);
  if (file.size() > max_size) return LLVMFuzzerMutate(data, size, max_size);
  memcpy(data, file.data(), file.size());
  return file.size();
}
