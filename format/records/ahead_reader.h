// Reads a run file ahead of who decodes it, in a thread of its own: it
// decompresses frames, and parses, checks and unrolls heap events. Used by
// ReadSteps.
#ifndef PYMEMRUN_FORMAT_RECORDS_AHEAD_READER_H_
#define PYMEMRUN_FORMAT_RECORDS_AHEAD_READER_H_

#include <pthread.h>

#include <array>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "format/records/record_decoder.h"
#include "format/stream/stream_reader.h"

namespace pymemrun {

// One thread creates, uses and destroys it. The source must outlive it and must
// not be used in that time. Takes some 10 MiB for any file.
class AheadReader {
 public:
  // What comes next.
  struct Piece {
    enum Kind {
      kRecord,      // `bytes`
      kHeapBatch,   // `heap`; its events come next, if they are wanted
      kHeapEvents,  // `events`, at most kEntriesPerCall
      kOther,       // no record: `result`, and `damage` with it
    };
    Kind kind = kOther;
    StreamReader::Result result = StreamReader::Result::kEnd;
    uint64_t frame_offset = 0;
    absl::string_view bytes;
    const HeapEvent* events = nullptr;
    size_t event_count = 0;
    CheckedHeap heap;
    StreamReader::Damage damage;
  };

  // Null: there is one CPU only, or no thread to be had. `use`: of heap events.
  static std::unique_ptr<AheadReader> Start(ByteSource* source,
                                            StreamReader::Options options,
                                            HeapUse use);
  // Waits for the thread, which ends soon.
  ~AheadReader();
  AheadReader(const AheadReader&) = delete;
  AheadReader& operator=(const AheadReader&) = delete;

  // Valid until the next call. After kTorn and kEnd it is not to be called.
  const Piece& Next();

 private:
  // Pieces that are handed over together. What they point to is in it: `bytes`
  // never grows beyond what was reserved.
  struct Parcel {
    std::vector<Piece> pieces;
    std::string bytes;
    std::vector<std::string> long_records;
    std::vector<HeapEvent> events;  // kEvents, once there are any
    size_t event_count = 0;
  };
  static constexpr size_t kParcels = 6;
  static constexpr size_t kPieces = 4096;
  static constexpr size_t kBytes = 256 * 1024;
  static constexpr size_t kEvents = 4 * kEntriesPerCall;

  AheadReader(ByteSource* source, StreamReader::Options options, HeapUse use);
  static void* RunThread(void* self);
  // These are the thread's. False: the reader is being destroyed.
  void Read();
  bool AddRecord(absl::string_view record);
  bool AddHeap(absl::string_view record);
  bool AddEvents();
  // Returns a new piece with room for these bytes and events.
  Piece* Add(size_t bytes, size_t events);
  bool HandOver();
  bool TakeEmpty();

  const HeapUse use_;
  const bool skips_heap_;
  const std::unique_ptr<StreamReader> reader_;
  Record record_;
  HeapBatchDecoder heap_;
  Parcel* filling_ = nullptr;

  std::array<Parcel, kParcels> parcels_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Number of parcels filled, and number emptied again.
  size_t filled_ = 0, emptied_ = 0;
  bool ends_ = false;

  // The user's.
  Parcel* reading_ = nullptr;
  size_t next_ = 0;  // piece of it
  pthread_t thread_;
  bool has_thread_ = false;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_FORMAT_RECORDS_AHEAD_READER_H_
