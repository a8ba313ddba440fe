// The sum over all links of joined nodes: a series for each would be thousands. The console shows
// each (`cluster`). Counters are those of current sessions.
#include "actors/link/node_links.hpp"
#include "server/metrics/families.hpp"

namespace troupe::server {

using prometheus::MetricType;

void add_link_metrics(families& out, const actors::link_table& from,
                      const runtime::link::listener_stats& listener) {
  runtime::link::session_stats all;
  const auto links = from.list();
  for (const auto& [node, peer, stats] : links) {
    all.frames_sent += stats.frames_sent;
    all.frames_received += stats.frames_received;
    all.bytes_sent += stats.bytes_sent;
    all.bytes_received += stats.bytes_received;
    all.outbox_bytes += stats.outbox_bytes;
    all.window_bytes += stats.window_bytes;
  }
  const auto both = [&](const char* name, const char* help, std::uint64_t sent,
                        std::uint64_t received) {
    family{out, name, help, MetricType::Gauge}
        .gauge(static_cast<double>(sent), {{"direction", "sent"}})
        .gauge(static_cast<double>(received), {{"direction", "received"}});
  };
  add_gauge(out, "troupe_links", "Connected joined nodes.", static_cast<double>(links.size()));
  both("troupe_link_frames", "Frames over the current links, since their start.", all.frames_sent,
       all.frames_received);
  both("troupe_link_bytes", "Bytes over the current links, since their start.", all.bytes_sent,
       all.bytes_received);
  add_gauge(out, "troupe_link_outbox_bytes", "Bytes waiting to be sent to nodes.",
            static_cast<double>(all.outbox_bytes));
  add_gauge(out, "troupe_link_window_bytes", "Bytes received from nodes and not handled yet.",
            static_cast<double>(all.window_bytes));
  family refused{out, "troupe_link_refused_total",
                 "Connections to the nodes' port that did not become a session.",
                 MetricType::Counter};
  for (std::size_t i = 0; i < listener.refused.size(); ++i) {
    const auto reason = to_string(static_cast<runtime::link::refusal_reason>(i));
    refused.counter(static_cast<double>(listener.refused[i]), {{"reason", std::string{reason}}});
  }
}

}  // namespace troupe::server
