// Values over time: what replays of resident pages, the heap and threads end
// in. Used by `pymemreport timeline`, the report, the lanes and Python.
#ifndef PYMEMRUN_READERS_SERIES_SERIES_H_
#define PYMEMRUN_READERS_SERIES_SERIES_H_

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "readers/output/table.h"
#include "readers/places/place.h"
#include "readers/places/table_view.h"

namespace pymemrun {

// Bytes at each moment of the curves that it is part of.
struct Series {
  Place place;        // whose bytes; its names live as long as what was read
  std::string title;  // for people, where that is not the place's label
  std::string color;  // of its layer in a picture; empty: it has none
  bool is_lowest = false;  // its layer lies below those of places
  std::vector<double> values;
  std::vector<double> errors;  // one standard error of each; empty: exact
  // Variance of the gain from each moment to the last one, see VarianceOfGain()
  // in heap_history.h. Empty: exact.
  std::vector<double> gain_variance;

  std::string Title() const { return title.empty() ? LabelOf(place) : title; }
  double Peak() const;
};

// At each moment the chosen series, the others and, as each replay says, the
// parts add up to the total.
struct Curves {
  std::vector<uint64_t> time_us;  // rising
  Series total;
  std::vector<Series> chosen;  // of places, the largest first
  Series others;               // the sum of all other places
  std::vector<Series> parts;   // that are no places
};

// Values of many places by the places' numbers: those after the last that is
// not 0 may be left out.
using PlaceValues = std::vector<std::vector<double>>;

// What the first series have most of.
enum class SeriesOrder {
  kPeak,
  kEnd,     // at the last moment
  kGrowth,  // from the first moment to the last one
};

// Which places have a series of their own.
struct SeriesChoice {
  uint64_t top = UINT64_MAX;
  double least = 0;  // whose peaks are lower have none
  SeriesOrder order = SeriesOrder::kPeak;
  TableView view;  // of the files that it lists
};

// The numbers of these places, the largest first. Those that never had
// anything are none. `moments`: how many there are.
std::vector<size_t> LargestPlaces(const PlaceValues& values,
                                  const std::deque<Place>& places,
                                  const SeriesChoice& choice, size_t moments);
// Adds the series of the places with these numbers, as long as the moments
// are many, and adds all other values to the others.
void AddSeries(const PlaceValues& values, const std::deque<Place>& places,
               const std::vector<size_t>& chosen, Curves* curves);

// A row for each moment: the time, the total, the series chosen, the others if
// they have a name, the parts, errors. In text, what is chosen has numbers.
Table CurvesTable(const Curves& curves);

// Some 400 moments for a picture: evenly from `from_us` to `to_us`, and
// `peak_us`, if it lies between them.
std::vector<uint64_t> EvenMoments(uint64_t from_us, uint64_t to_us,
                                  uint64_t peak_us);

struct TimedValue {
  uint64_t time_us = 0;
  double value = 0;
};
// The highest reading of each of so many parts of the time from `begin_us` to
// `end_us`, or the last one before; `before` until the first. Readings beyond
// the end are of the last part. REQUIRES: times do not fall.
std::vector<double> Resampled(const std::vector<TimedValue>& readings,
                              uint64_t begin_us, uint64_t end_us, size_t parts,
                              double before);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_SERIES_SERIES_H_
