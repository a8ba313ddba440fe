#include "persistence/replica/log_compaction.hpp"

#include <spdlog/spdlog.h>

#include <utility>

namespace troupe::persistence {

log_compaction::log_compaction(shared_log& log, std::chrono::seconds interval)
    : log_{log}, interval_{interval} {}

void log_compaction::check(time_point now, revision newest, bool leads) {
  if (interval_.count() == 0) return;
  if (!leads) {
    next_ = 0;
    return;
  }
  if (next_ != 0 && now - since_ < interval_) return;
  since_ = now;
  const auto up_to = std::exchange(next_, newest);
  if (up_to == 0 || up_to == newest) return;
  log_.compact(up_to, [up_to](const expected<void>& done) {
    if (done)
      spdlog::info("store: the log of the cluster begins at revision {} now", up_to);
    else
      spdlog::warn("store: the log of the cluster could not be compacted to revision {}: {}", up_to,
                   done.error().message);
  });
}

}  // namespace troupe::persistence
