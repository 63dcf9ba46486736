#include "readers/watch/watch_frame.h"

#include <algorithm>
#include <utility>

#include "absl/strings/str_cat.h"
#include "text/block_chart.h"
#include "text/fitted_text.h"
#include "text/report_text.h"
#include "text/terminal_text.h"

namespace pymemrun {
namespace {

constexpr size_t kAmountColumns = 12, kShortestName = 16;

std::string Bytes(double bytes) { return HumanBytes(bytes); }

std::string Change(double bytes) {
  return absl::StrCat(bytes > 0 ? "+" : "", HumanBytes(bytes));
}

std::string StateOf(const WatchFrame& frame) {
  if (frame.script.empty()) {
    return frame.ended ? "ended, and nothing of the run can be read"
                       : "waiting for the run to start";
  }
  return absl::StrCat(
      TerminalText(frame.script.substr(frame.script.rfind('/') + 1)), "  pid ",
      frame.pid, "  ",
      frame.ended ? absl::StrCat("ended: ", frame.end, ", after ") : "at ",
      HumanSeconds(frame.time_us), frame.frozen ? "  (frozen)" : "");
}

std::string RssText(const WatchFrame& frame) {
  return frame.rss_bytes == 0
             ? "RSS is not known yet"
             : absl::StrCat("RSS ", Bytes(static_cast<double>(frame.rss_bytes)),
                            "  peak ",
                            Bytes(static_cast<double>(frame.peak_bytes)));
}

// Lays out one screen, from the top. Each part takes rows that the parts above
// left.
class Layout {
 public:
  Layout(const WatchFrame& frame, size_t columns, size_t rows, bool unicode)
      : frame_(frame), columns_(columns), rows_(rows), unicode_(unicode) {}

  std::vector<WatchLine> Lines() {
    Add(StateOf(frame_), WatchLine::kStrong);
    Add(RssText(frame_));
    if (rows_ >= 12) AddCurve();
    for (const std::string& note : frame_.notes) {
      Add(TerminalText(note), WatchLine::kSoft);
    }
    AddAmounts();
    AddChildren();
    // The last row is for the keys: the rest is cut, or filled with empty
    // lines.
    if (lines_.size() + 1 > rows_) lines_.resize(rows_ == 0 ? 0 : rows_ - 1);
    while (lines_.size() + 1 < rows_) lines_.push_back({});
    if (rows_ > 0) {
      Add(absl::StrCat("q quit   space ", frame_.frozen ? "go on" : "freeze",
                       "   s sort by ", frame_.by_bytes ? "change" : "size"),
          WatchLine::kStrong);
    }
    return std::move(lines_);
  }

 private:
  void Add(std::string text, WatchLine::Look look = WatchLine::kPlain) {
    lines_.push_back({CutToColumns(text, columns_), look});
  }
  // The rows left above the keys.
  size_t Room() const {
    return rows_ > lines_.size() + 1 ? rows_ - lines_.size() - 1 : 0;
  }
  void AddCurve();
  void AddAmounts();
  void AddList(const std::string& heading,
               std::vector<WatchFrame::Amount> amounts, size_t most);
  void AddChildren();

  const WatchFrame& frame_;
  const size_t columns_, rows_;
  const bool unicode_;
  std::vector<WatchLine> lines_;
};

// The scale is beside the first and the last row: the highest value, and 0.
void Layout::AddCurve() {
  const size_t height = std::clamp<size_t>(rows_ / 4, 3, 8);
  const std::vector<std::string> rows =
      BlockColumns(frame_.curve, height, unicode_);
  const auto most = std::max_element(frame_.curve.begin(), frame_.curve.end());
  for (size_t i = 0; i < rows.size(); ++i) {
    const std::string scale = i == 0 && most != frame_.curve.end()
                                  ? ShortBytes(*most)
                              : i + 1 == rows.size() ? "0"
                                                     : "";
    Add(absl::StrCat(PadLeft(scale, kScaleColumns - 1), " ", rows[i]),
        WatchLine::kCurve);
  }
}

// Amounts come unsorted: the user may change the order at any time.
void Layout::AddList(const std::string& heading,
                     std::vector<WatchFrame::Amount> amounts, size_t most) {
  const bool by_bytes = frame_.by_bytes;
  std::sort(amounts.begin(), amounts.end(),
            [by_bytes](const auto& a, const auto& b) {
              const double left = by_bytes ? a.bytes : a.change_bytes;
              const double right = by_bytes ? b.bytes : b.change_bytes;
              return left != right ? left > right : a.name < b.name;
            });
  if (amounts.size() > most) amounts.resize(most);
  Add(absl::StrCat(PadLeft("last 5 s", kAmountColumns),
                   PadLeft("in all", kAmountColumns), "  ", heading),
      WatchLine::kStrong);
  const size_t used = 2 * kAmountColumns + 2;
  const size_t room =
      std::max(columns_ > used ? columns_ - used : 0, kShortestName);
  for (const WatchFrame::Amount& amount : amounts) {
    Add(absl::StrCat(PadLeft(Change(amount.change_bytes), kAmountColumns),
                     PadLeft(Bytes(amount.bytes), kAmountColumns), "  ",
                     CutLabel(TerminalText(amount.name), room, unicode_)));
  }
}

// Children get at most a quarter of the rows, threads a third of the rest. A
// heading is useless without a row below it.
void Layout::AddAmounts() {
  if (frame_.meaning.empty()) return;
  const size_t children =
      frame_.children.empty()
          ? 0
          : std::min(frame_.children.size() + 1, Room() / 4);
  const size_t room = Room() - children;
  const size_t threads = frame_.threads.size() < 2 || room < 8
                             ? 0
                             : std::min(frame_.threads.size() + 1, room / 3);
  if (room < threads + 2) return;
  AddList(absl::StrCat("your lines, by ", frame_.meaning), frame_.lines,
          room - threads - 1);
  if (threads >= 2) {
    AddList(absl::StrCat(frame_.threads.size(), " threads with memory"),
            frame_.threads, threads - 1);
  }
}

void Layout::AddChildren() {
  if (frame_.children.empty() || Room() < 2) return;
  Add(Counted(frame_.children.size(), "child", "children"), WatchLine::kStrong);
  const size_t most = std::min(Room(), frame_.children.size());
  for (size_t i = 0; i < most; ++i) {
    const WatchFrame::Child& child = frame_.children[i];
    const std::string who = absl::StrCat(
        PadLeft(
            child.ended ? "ended" : Bytes(static_cast<double>(child.rss_bytes)),
            kAmountColumns),
        "  pid ", child.pid, "  ");
    const size_t room = columns_ - std::min(columns_, who.size());
    Add(absl::StrCat(who, CutPath(TerminalText(child.script),
                                  std::max(room, kShortestName), unicode_)));
  }
}

}  // namespace

std::vector<WatchLine> FrameLines(const WatchFrame& frame, size_t columns,
                                  size_t rows, bool unicode) {
  return Layout(frame, columns, rows, unicode).Lines();
}

// The line of code that grew most in the last seconds is named, if any grew.
std::string FrameSummary(const WatchFrame& frame) {
  std::string text = absl::StrCat(StateOf(frame), "  ", RssText(frame));
  const auto most = std::max_element(frame.lines.begin(), frame.lines.end(),
                                     [](const auto& a, const auto& b) {
                                       return a.change_bytes < b.change_bytes;
                                     });
  if (most != frame.lines.end() && most->change_bytes > 0) {
    absl::StrAppend(&text, "  ", Change(most->change_bytes), " ",
                    TerminalText(most->name));
  }
  if (!frame.children.empty()) {
    absl::StrAppend(&text, "  ",
                    Counted(frame.children.size(), "child", "children"));
  }
  return text;
}

}  // namespace pymemrun
