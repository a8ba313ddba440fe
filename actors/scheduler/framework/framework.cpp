#include "actors/scheduler/framework/framework.hpp"

#include <algorithm>

namespace troupe::actors::scheduler {

void normalize_scores(std::vector<std::int64_t>& scores, bool reverse) {
  const auto largest = scores.empty() ? 0 : *std::max_element(scores.begin(), scores.end());
  for (auto& score : scores) {
    if (largest == 0) {
      score = reverse ? max_score : 0;
    } else {
      score = max_score * score / largest;
      if (reverse) score = max_score - score;
    }
  }
}

}  // namespace troupe::actors::scheduler
