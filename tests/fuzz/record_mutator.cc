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

extern "C" size_t LLVMFuzzerMutate(uint8_t* data, size_t size, size_t max_size);

namespace pymemrun {
namespace {

using Random = std::minstd_rand;

void MutateBytes(std::string* bytes) {
  const size_t size = bytes->size();
  bytes->resize(size + 64);
  bytes->resize(LLVMFuzzerMutate(reinterpret_cast<uint8_t*>(&(*bytes)[0]), size,
                                 bytes->size()));
}

template <class Column>
void MutateColumn(Column* column, Random* random) {
  using Value = typename Column::value_type;
  const auto value = static_cast<Value>(
      (*random)() % 3 == 0 ? ~Value{0} >> ((*random)() % (8 * sizeof(Value)))
                           : (*random)() % 8);
  if (column->empty() || (*random)() % 3 == 0) {
    column->Add(value);
  } else if ((*random)() % 4 == 0) {
    column->RemoveLast();
  } else {
    column->Set(static_cast<int>((*random)() % column->size()), value);
  }
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

void MutateRates(HeapRates* rates, Random* random) {
  rates->set_mean_bytes((*random)() % 2 * 65536);
  HeapClass* const one = rates->add_classes();
  one->set_below_bytes((*random)() % 300);
  one->set_probability(static_cast<double>((*random)() % 5) / 4);
}

void MutateRecord(std::string* bytes, Random* random) {
  Record record;
  if ((*random)() % 2 == 0 || !record.ParseFromString(*bytes)) {
    return MutateBytes(bytes);
  }
  if (record.has_events()) {
    MutateBatch(record.mutable_events(), random);
  } else if (record.has_pages()) {
    MutatePages(record.mutable_pages(), random);
  } else if (record.has_residency()) {
    MutateResidency(record.mutable_residency(), random);
  } else if (record.has_heap()) {
    MutateHeap(record.mutable_heap(), random);
  } else if (record.has_heap_rates()) {
    MutateRates(record.mutable_heap_rates(), random);
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
