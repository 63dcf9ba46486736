// The arrays that make up an object graph, in memory or in a mapped index.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_GRAPH_ARRAYS_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_GRAPH_ARRAYS_H_

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

#include "absl/types/span.h"

namespace pymemrun {

// An array that grows without being copied, or a view of one elsewhere, such as
// in a mapped file. A std::vector would need twice the memory whenever it
// grows.
//
// Grows by realloc(), which moves the pages of large blocks. Throws
// std::bad_alloc as vectors do. Not thread safe.
template <typename T>
class GrownArray {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  GrownArray() = default;
  ~GrownArray() {
    if (capacity_ > 0) free(data_);
  }
  GrownArray(GrownArray&& other) noexcept { *this = std::move(other); }
  GrownArray& operator=(GrownArray&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    return *this;
  }

  // Becomes a view of `values`, which must outlive it; they are not changed.
  // REQUIRES: it is empty, and is not changed from now on.
  void Borrow(absl::Span<const T> values) {
    data_ = const_cast<T*>(values.data());
    size_ = values.size();
  }

  size_t size() const { return size_; }
  T* data() { return data_; }
  const T* data() const { return data_; }
  T& operator[](size_t i) { return data_[i]; }
  const T& operator[](size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  absl::Span<const T> span() const { return {data_, size_}; }
  operator absl::Span<const T>() const { return span(); }

  void push_back(const T& value) {
    if (size_ == capacity_) Grow(size_ + 1);
    data_[size_++] = value;
  }
  void append(const T* values, size_t count) {
    if (count > capacity_ - size_) Grow(size_ + count);
    for (size_t i = 0; i < count; ++i) data_[size_ + i] = values[i];
    size_ += count;
  }
  // New elements are not initialised.
  void resize(size_t size) {
    if (size > capacity_) Grow(size);
    size_ = size;
  }

 private:
  void Grow(size_t least) {
    size_t capacity = capacity_ + capacity_ / 2 + 1024;
    if (capacity < least) capacity = least;
    T* const data = capacity > SIZE_MAX / sizeof(T)
                        ? nullptr
                        : static_cast<T*>(realloc(data_, capacity * sizeof(T)));
    if (data == nullptr) throw std::bad_alloc();
    data_ = data;
    capacity_ = capacity;
  }

  T* data_ = nullptr;
  size_t size_ = 0;
  size_t capacity_ = 0;  // 0: the values are borrowed
};

// A second block of an object, beside its own: for example a list's items.
struct BesideBlock {
  uint64_t address = 0;
  uint64_t bytes = 0;  // part of the object's size; 0: unknown block
};

// Blocks of some of the nodes, by ascending node. Not thread safe.
struct BesideBlocks {
  void Add(uint32_t node, const BesideBlock& block) {
    nodes.push_back(node);
    addresses.push_back(block.address);
    bytes.push_back(block.bytes);
  }

  uint32_t size() const { return static_cast<uint32_t>(nodes.size()); }
  BesideBlock operator[](uint32_t i) const { return {addresses[i], bytes[i]}; }
  // The index of the node's block; size(): it has none.
  uint32_t Find(uint32_t node) const {
    const uint32_t* const found =
        std::lower_bound(nodes.begin(), nodes.end(), node);
    return found != nodes.end() && *found == node
               ? static_cast<uint32_t>(found - nodes.begin())
               : size();
  }
  BesideBlock Of(uint32_t node) const {
    const uint32_t at = Find(node);
    return at < size() ? (*this)[at] : BesideBlock();
  }

  GrownArray<uint32_t> nodes;
  GrownArray<uint64_t> addresses, bytes;
};

// Not thread safe while it is being filled.
struct GraphArrays {
  // Marks a size that does not fit into 32 bits.
  static constexpr uint32_t kLargeSize = ~uint32_t{0};
  static constexpr uint32_t kDetailsStep = 32;

  // A value for each node.
  GrownArray<uint64_t> addresses;
  GrownArray<uint32_t> sizes;  // kLargeSize: it is in large_sizes
  GrownArray<uint32_t> types;
  GrownArray<uint8_t> flags;
  GrownArray<uint32_t> first_edges;  // with one element more
  // A value for each reference, in the order of the source nodes.
  GrownArray<uint32_t> targets;
  GrownArray<uint8_t> kinds;
  GrownArray<uint32_t> names;
  // For some of the nodes, by ascending node.
  GrownArray<uint32_t> large_nodes;
  GrownArray<uint64_t> large_sizes;
  BesideBlocks besides;
  // The details of nodes, one after the other (AppendNodeDetails), and the
  // offset of those of every kDetailsStep-th node.
  GrownArray<char> details;
  GrownArray<uint64_t> details_at;
  // The names of references, and the offset of the end of each.
  GrownArray<char> name_bytes;
  GrownArray<uint64_t> name_ends;

  // Calls visit(n, &array) for each of them; n is its number in an index.
  template <typename Visit>
  void ForEach(Visit visit) {
    Each(this, visit);
  }
  template <typename Visit>
  void ForEach(Visit visit) const {
    Each(this, visit);
  }

 private:
  template <typename Arrays, typename Visit>
  static void Each(Arrays* a, Visit visit) {
    visit(1, &a->addresses);
    visit(2, &a->sizes);
    visit(3, &a->types);
    visit(4, &a->flags);
    visit(5, &a->first_edges);
    visit(6, &a->targets);
    visit(7, &a->kinds);
    visit(8, &a->names);
    visit(9, &a->large_nodes);
    visit(10, &a->large_sizes);
    visit(11, &a->besides.nodes);
    visit(12, &a->besides.addresses);
    visit(13, &a->besides.bytes);
    visit(14, &a->details);
    visit(15, &a->details_at);
    visit(16, &a->name_bytes);
    visit(17, &a->name_ends);
  }
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_GRAPH_ARRAYS_H_
