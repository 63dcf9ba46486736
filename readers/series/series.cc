#include "readers/series/series.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "readers/output/whole_number.h"

namespace pymemrun {
namespace {

double PeakOf(const std::vector<double>& values) {
  return values.empty() ? 0 : *std::max_element(values.begin(), values.end());
}

// What places are ordered by. Trailing zeros may be left out, so a short curve
// ends at 0.
double KeyOf(const std::vector<double>& values, SeriesOrder order,
             size_t moments) {
  const double last = values.size() == moments ? values.back() : 0;
  return order == SeriesOrder::kPeak  ? PeakOf(values)
         : order == SeriesOrder::kEnd ? last
                                      : last - values.front();
}

Cell WholeCell(double value) {
  if (value < 0) return SignedNumber(value);
  return WholeNumber(value);
}

void AddCells(Table::Heading heading, const std::vector<double>& values,
              Table* table) {
  std::vector<Cell> cells;
  for (const double value : values) cells.push_back(WholeCell(value));
  heading.look = CellLook::kBytes;
  AddColumn(std::move(heading), cells, table);
}

}  // namespace

double Series::Peak() const { return PeakOf(values); }

// Places of equal size are ordered by name: numbers depend on the order in
// which places appeared.
std::vector<size_t> LargestPlaces(const PlaceValues& values,
                                  const std::deque<Place>& places,
                                  const SeriesChoice& choice, size_t moments) {
  std::vector<std::pair<double, size_t>> keys;
  for (size_t number = 0; number < values.size(); ++number) {
    const double peak = PeakOf(values[number]);
    if (peak <= 0 || peak < choice.least ||
        !choice.view.Lists(places[number].file, places[number].function)) {
      continue;
    }
    keys.emplace_back(KeyOf(values[number], choice.order, moments), number);
  }
  std::sort(keys.begin(), keys.end(), [&](const auto& a, const auto& b) {
    return a.first != b.first ? a.first > b.first
                              : places[a.second] < places[b.second];
  });
  std::vector<size_t> chosen;
  for (const auto& [key, number] : keys) {
    if (chosen.size() == choice.top) break;
    chosen.push_back(number);
  }
  return chosen;
}

// No byte is lost: what is not chosen is added to the others.
void AddSeries(const PlaceValues& values, const std::deque<Place>& places,
               const std::vector<size_t>& chosen, Curves* curves) {
  const size_t moments = curves->time_us.size();
  std::vector<bool> is_chosen(values.size());
  for (const size_t number : chosen) {
    is_chosen[number] = true;
    Series& series = curves->chosen.emplace_back();
    series.place = places[number];
    series.values = values[number];
    series.values.resize(moments);
  }
  curves->others.values.resize(moments);
  for (size_t number = 0; number < values.size(); ++number) {
    if (is_chosen[number]) continue;
    for (size_t i = 0; i < values[number].size(); ++i) {
      curves->others.values[i] += values[number][i];
    }
  }
}

// Only sampled runs have errors. They come last, so that the other columns keep
// their places.
Table CurvesTable(const Curves& curves) {
  Table table = MomentTable(curves.time_us, "time [s]");
  AddCells({LabelOf(curves.total.place), curves.total.title},
           curves.total.values, &table);
  for (size_t i = 0; i < curves.chosen.size(); ++i) {
    const Series& series = curves.chosen[i];
    AddCells({LabelOf(series.place), absl::StrCat("[", i + 1, "]")},
             series.values, &table);
  }
  if (!curves.others.place.file.empty()) {
    AddCells({LabelOf(curves.others.place), "other"}, curves.others.values,
             &table);
  }
  for (const Series& part : curves.parts) {
    AddCells({LabelOf(part.place), part.title}, part.values, &table);
  }
  for (const Series& series : curves.chosen) {
    if (series.errors.empty()) continue;
    AddCells({absl::StrCat(LabelOf(series.place), " error_bytes"), ""},
             series.errors, &table);
  }
  return table;
}

std::vector<uint64_t> EvenMoments(uint64_t from_us, uint64_t to_us,
                                  uint64_t peak_us) {
  constexpr uint64_t kSteps = 400;
  const uint64_t long_us = to_us - from_us;
  std::vector<uint64_t> moments = {std::clamp(peak_us, from_us, to_us)};
  for (uint64_t i = 0; i <= kSteps; ++i) {
    // Written so that it cannot overflow, whatever end the file claims.
    moments.push_back(from_us + long_us / kSteps * i +
                      long_us % kSteps * i / kSteps);
  }
  std::sort(moments.begin(), moments.end());
  moments.erase(std::unique(moments.begin(), moments.end()), moments.end());
  return moments;
}

// One pass over the readings. The highest value of a part counts, so that a
// short peak is not lost in a narrow picture.
std::vector<double> Resampled(const std::vector<TimedValue>& readings,
                              uint64_t begin_us, uint64_t end_us, size_t parts,
                              double before) {
  const double part_us =
      static_cast<double>(end_us > begin_us ? end_us - begin_us : 1) /
      static_cast<double>(parts);
  std::vector<double> values(parts);
  size_t next = 0;
  for (size_t i = 0; i < parts; ++i) {
    const double until_us = part_us * static_cast<double>(i + 1);
    values[i] = before;
    for (bool is_first = true; next < readings.size(); ++next) {
      const TimedValue& reading = readings[next];
      const bool is_later =
          reading.time_us >= begin_us &&
          static_cast<double>(reading.time_us - begin_us) >= until_us;
      if (is_later && i + 1 < parts) break;
      values[i] = std::exchange(is_first, false)
                      ? reading.value
                      : std::max(values[i], reading.value);
      before = reading.value;
    }
  }
  return values;
}

}  // namespace pymemrun
