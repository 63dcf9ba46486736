#include "readers/replay/threads/thread_errors.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "readers/replay/page_errors/sample_errors.h"

namespace pymemrun {

std::vector<double> VariancesByThread(const ResidentModel& model) {
  std::vector<double> variances;
  if (!model.sampled()) return variances;
  SampleErrors errors(model.page_bytes());
  size_t threads = 0;
  model.pages().ForEach([&](const PageMap::Run& run) {
    const PageOwner& owner = model.owners()[run.owner];
    if (owner.weight <= 1) return;
    threads = std::max<size_t>(threads, owner.thread + size_t{1});
    for (uint64_t page = run.begin; page < run.end; ++page) {
      errors.Add(owner.thread, page, owner.weight, owner.weight);
    }
  });
  const auto page_bytes = static_cast<double>(model.page_bytes());
  for (size_t thread = 0; thread < threads; ++thread) {
    variances.push_back(errors.VarianceOf(thread) * page_bytes * page_bytes);
  }
  return variances;
}

}  // namespace pymemrun
