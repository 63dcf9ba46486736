// An array that grows without being copied, or one that lies elsewhere, such as
// in a mapped file: what an ObjectGraph is made of. A std::vector would take
// twice the memory each time it grows.
#ifndef PYMEMRUN_READERS_OBJECTS_GRAPH_GROWN_ARRAY_H_
#define PYMEMRUN_READERS_OBJECTS_GRAPH_GROWN_ARRAY_H_

#include <cstddef>
#include <cstdlib>
#include <new>
#include <type_traits>
#include <utility>

#include "absl/types/span.h"

namespace pymemrun {

// By realloc(), which moves large blocks by their pages. Throws std::bad_alloc
// as vectors do. Not thread safe.
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

  // From now on it is these values, which must outlive it and are not changed.
  // REQUIRES: it is empty, and stays as it is from here on.
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
  // New ones are not set.
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
  size_t capacity_ = 0;  // 0: the values are not its own
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_OBJECTS_GRAPH_GROWN_ARRAY_H_
