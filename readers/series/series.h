// Values over time: the results of replays of resident pages, the heap and
// threads. Used by `pymemreport timeline`, the report, the lanes and Python.
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

// Bytes at each moment of its curves.
struct Series {
  Place place;             // its names live as long as the replay
  std::string title;       // for people; empty: the place's label
  std::string color;       // of its layer in a picture; empty: none
  bool is_lowest = false;  // its layer is below those of places
  std::vector<double> values;
  std::vector<double> errors;  // one standard error of each; empty: exact
  // Variance of the gain from each moment to the last one, see VarianceOfGain()
  // in heap_history.h. Empty: exact.
  std::vector<double> gain_variance;

  std::string Title() const { return title.empty() ? LabelOf(place) : title; }
  double Peak() const;
};

// At each moment chosen, others and, depending on the replay, parts add up to
// the total.
struct Curves {
  std::vector<uint64_t> time_us;  // ascending
  Series total;
  std::vector<Series> chosen;  // places, the largest first
  Series others;               // the sum of all other places
  std::vector<Series> parts;   // not places
};

// Values by number of the place; trailing zeros of a place may be left out.
using PlaceValues = std::vector<std::vector<double>>;

// What the largest places are chosen by.
enum class SeriesOrder {
  kPeak,
  kEnd,     // at the last moment
  kGrowth,  // from the first moment to the last one
};

// The places that get a series of their own.
struct SeriesChoice {
  uint64_t top = UINT64_MAX;
  double least = 0;  // places with lower peaks get none
  SeriesOrder order = SeriesOrder::kPeak;
  TableView view;  // only files that it lists
};

// The numbers of these places, the largest first. Places that are 0 at all
// moments are left out. `moments`: their number.
std::vector<size_t> LargestPlaces(const PlaceValues& values,
                                  const std::deque<Place>& places,
                                  const SeriesChoice& choice, size_t moments);
// Adds a series for each of these places, with a value for each moment, and
// adds all other places to the others.
void AddSeries(const PlaceValues& values, const std::deque<Place>& places,
               const std::vector<size_t>& chosen, Curves* curves);

// A row for each moment: the time, the total, the chosen series, the others if
// they have a name, the parts, and errors. In text the chosen series have
// numbers.
Table CurvesTable(const Curves& curves);

// Some 400 moments for a picture: evenly spaced from `from_us` to `to_us`, plus
// `peak_us` if it is between them.
std::vector<uint64_t> EvenMoments(uint64_t from_us, uint64_t to_us,
                                  uint64_t peak_us);

// A reading of some value at a time.
struct TimedValue {
  uint64_t time_us = 0;
  double value = 0;
};
// Divides the time from `begin_us` to `end_us` into equal parts. Each gets its
// highest reading, or the last one before it; `before` until the first.
// Readings after the end count in the last part. REQUIRES: times do not
// descend.
std::vector<double> Resampled(const std::vector<TimedValue>& readings,
                              uint64_t begin_us, uint64_t end_us, size_t parts,
                              double before);

}  // namespace pymemrun

#endif  // PYMEMRUN_READERS_SERIES_SERIES_H_
