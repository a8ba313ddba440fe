// The document at /metrics: figures of every room in Prometheus' text form, under upstream's names
// where upstream has one.
//
// Rooms count for themselves; here their figures are read when somebody asks and given names, one
// file for each (`*_metrics.cpp`). Only requests are counted here, as they are answered. Labels
// come from the schema and from small sets of our own, never from what a client sent, so the number
// of series is bounded. Thread safe; text() takes about 30 ms with 100,000 actors, so it is called
// on a thread that may be kept.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "actors/control_plane/control_plane.hpp"
#include "runtime/link/refusal.hpp"
#include "server/connections/http_server.hpp"

namespace troupe::server {

struct refusal;
struct request_record;

class metrics {
 public:
  // The control plane outlives it.
  explicit metrics(actors::control_plane& plane);
  ~metrics();

  // For rest_options::observe.
  void observe(const request_record& record);
  // For http_options::observe_refusal.
  void refused(const refusal& refusal);
  // Where the figures of the transport come from, once it runs.
  void transport(std::function<http_stats()> from);
  // Likewise for the listener that joined nodes call.
  void link_listener(std::function<runtime::link::listener_stats()> from);

  std::string text() const;
  static constexpr const char* content_type = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::server
