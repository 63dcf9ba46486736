// An array of an object graph: one that grows in memory, or a packed one.
#ifndef PYMEMRUN_READERS_COLUMNS_NUMBER_COLUMN_H_
#define PYMEMRUN_READERS_COLUMNS_NUMBER_COLUMN_H_

#include <cstddef>

#include "absl/types/span.h"
#include "readers/columns/grown_array.h"
#include "readers/columns/mapped_column.h"

namespace pymemrun {

// Not thread safe. Only what is in memory can be changed.
template <typename T>
class NumberColumn {
 public:
  // From now on it is this one, which must outlive it.
  void Use(const MappedColumn* packed) { packed_ = packed; }

  size_t size() const { return packed_ != nullptr ? packed_->size() : own_.size(); }
  T operator[](size_t i) const {
    return packed_ != nullptr ? static_cast<T>((*packed_)[i]) : own_[i];
  }

  // REQUIRES: all of these: it is not packed.
  GrownArray<T>& own() { return own_; }
  absl::Span<const T> span() const { return own_; }

 private:
  const MappedColumn* packed_ = nullptr;
  GrownArray<T> own_;
};

// Some numbers of a column, one behind the other. The column must outlive it.
template <typename T>
class ColumnSlice {
 public:
  class Iterator {
   public:
    Iterator(const NumberColumn<T>* column, size_t at) : column_(column), at_(at) {}
    T operator*() const { return (*column_)[at_]; }
    Iterator& operator++() {
      ++at_;
      return *this;
    }
    bool operator!=(const Iterator& other) const { return at_ != other.at_; }

   private:
    const NumberColumn<T>* column_;
    size_t at_;
  };

  // None where `begin` is not below `end`, or that not within the column.
  ColumnSlice(const NumberColumn<T>* column, size_t begin, size_t end)
      : column_(column),
        begin_(begin),
        end_(begin <= end && end <= column->size() ? end : begin) {}
  size_t size() const { return end_ - begin_; }
  T operator[](size_t i) const { return (*column_)[begin_ + i]; }
  Iterator begin() const { return {column_, begin_}; }
  Iterator end() const { return {column_, end_}; }

 private:
  const NumberColumn<T>* column_;
  size_t begin_, end_;
};

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_COLUMNS_NUMBER_COLUMN_H_
