#include "actors/kubelet/logs/log_file_stream.hpp"

namespace troupe::actors {

void log_file_stream::read(std::function<void(log_text)> done) {
  const auto job = [reader = reader_, done] {
    if (reader->missing()) return done({.missing = true});
    auto text = reader->next();
    done({.text = std::move(text), .exhausted = reader->exhausted()});
  };
  if (!disk_->post(job)) done({});
}

}  // namespace troupe::actors
