#include <algorithm>

#include "actors/watch/watcher.hpp"

namespace troupe::actors {

void watcher::on_report_watches(const report_watches& m, runtime::promise<watch_report> answer) {
  watch_report report{
      .newest = window_.newest(), .streams = streams_.size(), .streams_behind = 0, .rows = {}};
  std::vector<const watch_stream*> all;
  all.reserve(streams_.size());
  for (const auto& [key, s] : streams_) {
    if (m.subscriber == 0 || key.actor == m.subscriber) all.push_back(s.get());
    if (!s->live) ++report.streams_behind;
  }
  const auto behind = [&](const watch_stream* s) {
    return s->live || s->position >= report.newest ? 0 : report.newest - s->position;
  };
  const auto count = std::min(m.limit, all.size());
  std::partial_sort(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count), all.end(),
                    [&](const auto* a, const auto* b) { return behind(a) > behind(b); });
  all.resize(count);
  for (const auto* s : all) {
    report.rows.push_back({.subscriber = s->key.actor,
                           .prefix = s->view.prefix,
                           .on_node = s->view.on_node,
                           .live = s->live,
                           .position = s->live ? report.newest : s->position,
                           .behind = behind(s),
                           .credit = s->credit});
  }
  answer.deliver(std::move(report));
}

}  // namespace troupe::actors
