// Asks one container again and again whether it is well (kubernetes: prober/worker.go).
//
// One actor for each attempt of a container that has probes, child of its pod's worker. It owns
// what the probes have said in this life of the container, and tells the worker when a verdict
// changes; what follows from it is the worker's business. After a crash it counts from the start,
// from the verdicts that the worker has (`probe_memory`).
#pragma once

#include <memory>
#include <optional>
#include <string>

#include "actors/kubelet/container_dir.hpp"
#include "actors/kubelet/health_checks.hpp"
#include "actors/kubelet/probe_rules.hpp"
#include "api/object.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

// To the worker.
struct probe_news {
  std::string container;
  int attempt = 0;
  probe_kind kind = probe_kind::startup;
  probe_verdict verdict = probe_verdict::unknown;
};

// From the worker: say again what the probes say now.
struct repeat_verdicts {};

// What the worker was told last of a container: it stays when the prober crashes, and only the
// prober touches it.
struct probe_memory {
  bool started = false;  // the startup probe has succeeded, perhaps in an earlier life of the node
  bool ready = false;    // the readiness probe says so
};

struct prober_setup {
  api::object_ptr pod;
  std::string container;
  int attempt = 0;
  container_dir dir;
  std::int64_t since_ms = 0;  // start of the container, milliseconds since the epoch
  std::shared_ptr<probe_memory> memory = std::make_shared<probe_memory>();
  std::string pod_ip, node;
  health_asker ask;
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
    health_answer answer;
  };
  struct probing {
    const api::core::v1::Probe* probe;
    probe_settings settings;
    probe_count count;
    bool asking = false;
    runtime::timer first = {}, next = {};
  };

  void on_probed(const probed& m);
  void on_repeat_verdicts(const repeat_verdicts&);
  void begin(probe_kind kind);
  void ask(probe_kind kind);
  void tell_verdict(probe_kind kind);
  void record_unhealthy(const std::string& message);
  const api::core::v1::Container& container() const;
  std::optional<probing>& of(probe_kind kind) { return probes_[static_cast<int>(kind)]; }

  const prober_setup setup_;
  std::optional<probing> probes_[3];  // by kind
};

}  // namespace troupe::actors
