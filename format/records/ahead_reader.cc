#include "format/records/ahead_reader.h"

#include <sched.h>

#include <utility>

#include "absl/memory/memory.h"
#include "format/stream/record_span.h"

namespace pymemrun {
namespace {

// Whether two threads can run at the same time. If the system does not say, for
// example on a machine with more CPUs than fit a cpu_set_t, there are many.
bool HasCpus() {
  cpu_set_t cpus;
  return sched_getaffinity(0, sizeof(cpus), &cpus) != 0 || CPU_COUNT(&cpus) > 1;
}

}  // namespace

AheadReader::AheadReader(ByteSource* source, StreamReader::Options options,
                         HeapUse use)
    : use_(use),
      skips_heap_(options.was_checked && use == HeapUse::kNone),
      reader_(StreamReader::Create(source, options)) {}

std::unique_ptr<AheadReader> AheadReader::Start(ByteSource* source,
                                                StreamReader::Options options,
                                                HeapUse use) {
  if (!HasCpus()) return nullptr;
  auto reader = absl::WrapUnique(new AheadReader(source, options, use));
  reader->has_thread_ =
      pthread_create(&reader->thread_, nullptr, RunThread, reader.get()) == 0;
  return reader->has_thread_ ? std::move(reader) : nullptr;
}

AheadReader::~AheadReader() {
  if (!has_thread_) return;
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ends_ = true;
  }
  changed_.notify_all();
  pthread_join(thread_, nullptr);
}

void* AheadReader::RunThread(void* self) {
  static_cast<AheadReader*>(self)->Read();
  return nullptr;
}

// A second thread reads and decompresses ahead. It fills parcels of pieces;
// Next() empties them in the same order. The two counters filled_ and emptied_
// are the only shared state: parcel number n is in parcels_[n % kParcels]. It
// belongs to the thread while n >= filled_, otherwise to the caller. A lock is
// taken once per parcel, not once per record.
//
// The last piece says how the input ended; the thread ends after it.
void AheadReader::Read() {
  if (!TakeEmpty()) return;
  for (;;) {
    absl::string_view record;
    const StreamReader::Result result = reader_->Next(&record);
    if (result == StreamReader::Result::kRecord) {
      if (skips_heap_ && HoldsHeap(record)) continue;
      if (!AddRecord(record)) return;
      continue;
    }
    Piece* const piece = Add(0, 0);
    if (piece == nullptr) return;
    piece->result = result;
    piece->damage = reader_->damage();
    if (result == StreamReader::Result::kDamage) continue;
    HandOver();
    return;
  }
}

// Heap batches, the bulk of most files that have them, are parsed and decoded
// here, in parallel to the caller. Other records are copied as bytes: decoding
// needs the ids defined so far, which only the caller knows.
bool AheadReader::AddRecord(absl::string_view record) {
  const bool is_heap =
      record.size() <= kMaxKnownRecordBytes && HoldsHeap(record) &&
      record_.ParseFromArray(record.data(), static_cast<int>(record.size())) &&
      record_.has_heap();
  if (is_heap) return AddHeap(record);
  const bool is_long = record.size() > kBytes;
  Piece* const piece = Add(is_long ? 0 : record.size(), 0);
  if (piece == nullptr) return false;
  piece->kind = Piece::kRecord;
  // It does not fit a parcel's buffer. The parcel is handed over at once, so
  // that few long records are in memory at a time.
  if (is_long) {
    filling_->long_records.emplace_back(record);
    piece->bytes = filling_->long_records.back();
    return HandOver() && TakeEmpty();
  }
  const size_t at = filling_->bytes.size();
  filling_->bytes.append(record.data(), record.size());
  piece->bytes = absl::string_view(filling_->bytes).substr(at);
  return true;
}

// The result of the check comes first, as a piece of its own: the caller must
// check ids before it sees events.
bool AheadReader::AddHeap(absl::string_view record) {
  Piece* const piece = Add(0, 0);
  if (piece == nullptr) return false;
  piece->kind = Piece::kHeapBatch;
  piece->heap = HeapBatchDecoder::Check(record_.heap());
  if (!piece->heap.status.ok() || use_ != HeapUse::kEvents) return true;
  heap_.Begin(record_.heap());
  return AddEvents();
}

// Asks for room before it knows how many events are left, and so takes the last
// piece back. `events` has its full size from the start, so pointers into it
// stay valid.
bool AheadReader::AddEvents() {
  for (;;) {
    Piece* const piece = Add(0, kEntriesPerCall);
    if (piece == nullptr) return false;
    filling_->events.resize(kEvents);
    HeapEvent* const events = &filling_->events[filling_->event_count];
    const size_t count = heap_.Next(events, kEntriesPerCall);
    if (count == 0) {
      filling_->pieces.pop_back();
      return true;
    }
    filling_->event_count += count;
    piece->kind = Piece::kHeapEvents;
    piece->events = events;
    piece->event_count = count;
  }
}

// A parcel is never handed over empty, as Next() requires: an empty one has
// room for any request.
AheadReader::Piece* AheadReader::Add(size_t bytes, size_t events) {
  const bool has_room = filling_->pieces.size() < kPieces &&
                        filling_->bytes.size() + bytes <= kBytes &&
                        filling_->event_count + events <= kEvents;
  if (!has_room && (!HandOver() || !TakeEmpty())) return nullptr;
  filling_->pieces.emplace_back();
  Piece* const piece = &filling_->pieces.back();
  piece->frame_offset = reader_->frame_offset();
  return piece;
}

// The increment under the lock publishes all that was written to the parcel.
bool AheadReader::HandOver() {
  {
    const std::lock_guard<std::mutex> lock(mutex_);
    ++filled_;
    if (ends_) return false;
  }
  changed_.notify_all();
  return true;
}

// Blocks while all parcels are full, which bounds the memory. The buffer is
// reserved once at its full size: pieces point into it.
bool AheadReader::TakeEmpty() {
  {
    std::unique_lock<std::mutex> lock(mutex_);
    changed_.wait(lock,
                  [this] { return ends_ || filled_ - emptied_ < kParcels; });
    if (ends_) return false;
    filling_ = &parcels_[filled_ % kParcels];
  }
  filling_->pieces.clear();
  filling_->long_records.clear();
  filling_->bytes.clear();
  filling_->bytes.reserve(kBytes);
  filling_->event_count = 0;
  return true;
}

// The parcel stays the caller's until it asks for the first piece of the next
// one, so a piece is valid until the next call.
const AheadReader::Piece& AheadReader::Next() {
  if (reading_ != nullptr && next_ < reading_->pieces.size()) {
    return reading_->pieces[next_++];
  }
  std::unique_lock<std::mutex> lock(mutex_);
  if (std::exchange(reading_, nullptr) != nullptr) {
    ++emptied_;
    changed_.notify_all();
  }
  changed_.wait(lock, [this] { return filled_ > emptied_; });
  reading_ = &parcels_[emptied_ % kParcels];
  next_ = 1;
  return reading_->pieces[0];
}

}  // namespace pymemrun
