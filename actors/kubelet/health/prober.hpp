// The actor that runs the probes of one container periodically (kubernetes: prober/worker.go).
//
// One actor for each attempt of a container with probes, child of the pod's worker. It owns the
// probe results of this attempt and notifies the worker when one changes; the worker acts on
// it. After a crash it starts to count again, from the results that the worker has
// (`probe_memory`).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "actors/kubelet/health/health_checker.hpp"
#include "actors/kubelet/health/probe_rules.hpp"
#include "api/object/object.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

// To the worker.
struct probe_event {
  std::string container;
  int attempt = 0;
  probe_kind kind = probe_kind::startup;
  probe_result result = probe_result::unknown;
};

// From the worker: send the current results again.
struct repeat_results {};

// The last results sent to the worker: they survive a crash of the prober, and only the prober
// changes them.
struct probe_memory {
  bool started = false;  // the startup probe has succeeded, maybe before a restart of the node
  bool ready = false;    // result of the readiness probe
};

struct prober_setup {
  api::object_ptr pod;
  std::string container;
  int attempt = 0;
  std::string id;             // of the container
  std::int64_t since_ms = 0;  // start of the container, milliseconds since the epoch
  std::shared_ptr<probe_memory> memory = std::make_shared<probe_memory>();
  std::string pod_ip, node;
  health_check_runner run_check;
  runtime::actor_ref worker, recorder;
};

class prober : public runtime::actor {
 public:
  explicit prober(prober_setup setup) : setup_{std::move(setup)} {}

  const runtime::behavior& make_behavior() const override;
  void started() override;
  std::string describe() const override;

 private:
  struct probed {
    probe_kind kind;
    health_result result;
  };
  struct probing {
    const api::core::v1::Probe* probe;
    probe_settings settings;
    probe_count count;
    bool running = false;
    runtime::timer first = {}, next = {};
  };

  void on_probed(const probed& m);
  void on_repeat_results(const repeat_results&);
  void begin(probe_kind kind);
  void run_probe(probe_kind kind);
  void report_result(probe_kind kind);
  void record(const char* reason, const std::string& message);
  const api::core::v1::Container& container() const;
  std::optional<probing>& of(probe_kind kind) { return probes_[static_cast<int>(kind)]; }

  const prober_setup setup_;
  std::optional<probing> probes_[3];  // by kind
};

}  // namespace troupe::actors
