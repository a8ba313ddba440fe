#include "server/metrics/metrics.hpp"

#include <prometheus/text_serializer.h>

#include <mutex>

#include "actors/link/node_links.hpp"
#include "server/http/version.hpp"
#include "server/metrics/request_metrics.hpp"

namespace troupe::server {

struct metrics::impl {
  explicit impl(actors::control_plane& plane) : plane{plane} {}

  actors::control_plane& plane;
  request_metrics requests;
  mutable std::mutex mutex;
  std::function<http_stats()> transport;
  std::function<runtime::link::listener_stats()> link_listener;
};

metrics::metrics(actors::control_plane& plane) : impl_{std::make_unique<impl>(plane)} {}
metrics::~metrics() = default;

void metrics::observe(const request_record& record) {
  impl_->requests.observe(record);
}

void metrics::refused(const refusal& refusal) {
  impl_->requests.refused(refusal);
}

void metrics::transport(std::function<http_stats()> from) {
  const std::lock_guard lock{impl_->mutex};
  impl_->transport = std::move(from);
}

void metrics::link_listener(std::function<runtime::link::listener_stats()> from) {
  const std::lock_guard lock{impl_->mutex};
  impl_->link_listener = std::move(from);
}

std::string machine_metrics() {
  families out;
  add_node_metrics(out);
  add_process_metrics(out);
  return prometheus::TextSerializer{}.Serialize(out);
}

std::string metrics::text() const {
  families out;
  family{out, "troupe_build_info", "Always 1; the label is the version.",
         prometheus::MetricType::Gauge}
      .gauge(1, {{"version", std::string{program_version()}}});
  impl_->requests.add_to(out);
  add_actor_metrics(out, impl_->plane.system().actors());
  add_scheduler_metrics(out, actors::metrics_of_scheduler());
  add_node_metrics(out);
  add_store_metrics(out, impl_->plane.store());
  add_process_metrics(out);
  {
    // With the lock: once transport() or link_listener() has returned, the previous source is no
    // longer called.
    const std::lock_guard lock{impl_->mutex};
    add_link_metrics(
        out, impl_->plane.links().table(),
        impl_->link_listener ? impl_->link_listener() : runtime::link::listener_stats{});
    if (impl_->transport) add_transport_metrics(out, impl_->transport());
  }
  return prometheus::TextSerializer{}.Serialize(out);
}

}  // namespace troupe::server
