#include "server/metrics/families.hpp"

namespace troupe::server {

void add_transport_metrics(families& out, const http_stats& from) {
  add_gauge(out, "troupe_http_connections", "Open connections.",
            static_cast<double>(from.now_connections));
  add_counter(out, "troupe_http_connections_total", "Accepted connections.",
              static_cast<double>(from.accepted));
  add_counter(out, "troupe_http_refused_connections_total", "Connections refused over the limit.",
              static_cast<double>(from.refused));
  add_counter(out, "troupe_http_shed_connections_total",
              "Unauthenticated connections closed to make room.", static_cast<double>(from.shed));
  add_gauge(out, "troupe_http_request_body_bytes",
            "Bytes held of bodies received in several pieces.",
            static_cast<double>(from.body_bytes));
  add_gauge(out, "troupe_http_stream_bytes", "Bytes waiting in streams for their clients.",
            static_cast<double>(from.stream_bytes));
  add_counter(out, "apiserver_tls_handshake_errors_total", "Failed TLS handshakes.",
              static_cast<double>(from.failed_handshakes));
  add_counter(out, "troupe_http_requests_total", "Requests of all kinds.",
              static_cast<double>(from.requests));
  add_counter(out, "troupe_http_timed_out_total", "Connections closed by a time-out.",
              static_cast<double>(from.timed_out));
  add_counter(out, "troupe_http_overrun_streams_total", "Streams whose reader was too slow.",
              static_cast<double>(from.overrun_streams));
}

}  // namespace troupe::server
