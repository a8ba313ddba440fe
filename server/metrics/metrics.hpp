// The document at /metrics: figures of every room in Prometheus' text format, with upstream's names
// where upstream has them.
//
// Rooms keep their own counters; they are read and named at each request, in one file for
// each room (`*_metrics.cpp`). Only requests are counted here. Labels come from the schema
// and from small fixed sets, never from client input, so the number of series is bounded.
// Thread safe; text() takes about 30 ms with 100,000 actors: call it on a thread that may
// block.
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

// The counters of this machine's kubelet, kube-proxy, DNS and process, as kubelets serve them: on
// every machine, with or without a control plane.
std::string machine_metrics();

class metrics {
 public:
  // The control plane must outlive it.
  explicit metrics(actors::control_plane& plane);
  ~metrics();

  // For rest_options::observe.
  void observe(const request_record& record);
  // For http_options::observe_refusal.
  void refused(const refusal& refusal);
  // Sets the source of the transport's figures, once it runs.
  void transport(std::function<http_stats()> from);
  // The same for the listener of joined nodes.
  void link_listener(std::function<runtime::link::listener_stats()> from);

  std::string text() const;
  static constexpr const char* content_type = "text/plain; version=0.0.4; charset=utf-8";

 private:
  struct impl;
  std::unique_ptr<impl> impl_;
};

}  // namespace troupe::server
