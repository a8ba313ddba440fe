#include "actors/watch/watch_window.hpp"

#include <utility>

namespace troupe::actors {

void watch_window::begin(persistence::revision at) {
  batches_.clear();
  changes_ = 0;
  bytes_ = 0;
  from_ = newest_ = at;
}

void watch_window::add(persistence::change_batch batch, runtime::time_point now) {
  std::size_t bytes = 0;
  for (const auto& c : *batch)
    bytes += c.key.size() + c.stored_bytes;
  changes_ += batch->size();
  bytes_ += bytes;
  newest_ = batch->back().at;
  batches_.push_back({std::move(batch), bytes, now});
  while (batches_.size() > 1 && (changes_ > change_limit_ || bytes_ > byte_limit_))
    drop_oldest();
}

void watch_window::forget(runtime::time_point time) {
  while (!batches_.empty() && batches_.front().added < time)
    drop_oldest();
}

void watch_window::drop_oldest() {
  const auto& oldest = batches_.front();
  changes_ -= oldest.changes->size();
  bytes_ -= oldest.bytes;
  from_ = oldest.changes->back().at;
  batches_.pop_front();
}

persistence::change_cause watch_window::cause(persistence::revision at,
                                              std::string_view key) const {
  persistence::change_cause found;
  if (at <= from_) return found;
  each(at - 1, [&](const persistence::change& c) {
    const bool sought = c.at == at && c.key == key;
    if (sought) found = c.cause;
    return c.at == at && !sought;
  });
  return found;
}

}  // namespace troupe::actors
