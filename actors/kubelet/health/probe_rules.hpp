// When a probe's results count (kubernetes: prober/worker.go). Pure.
#pragma once

#include <cstdint>
#include <string>

#include "api/schema/core_probe.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors {

enum class probe_kind : std::uint8_t { startup, liveness, readiness };
// "Startup", "Liveness", "Readiness": as events word it.
const char* to_string(probe_kind kind) noexcept;

struct probe_settings {
  runtime::duration initial_delay{0}, period{0}, timeout{0};
  int success_threshold = 1, failure_threshold = 3;
};
// Absent fields get the API's defaults.
probe_settings settings_of(const api::core::v1::Probe& probe);

enum class probe_result : std::uint8_t { unknown, success, failure };

// One probe of one life of a container.
class probe_count {
 public:
  // Before its first result a startup probe says nothing, a liveness probe success, a readiness
  // probe failure; `ready` is for a container that was found ready by an earlier life of the node.
  probe_count(probe_kind kind, const probe_settings& settings, bool ready = false);

  // True when the result has become another one.
  bool take(bool success);
  probe_result result() const noexcept { return result_; }
  // It has nothing more to say in this life of the container: a startup probe that has succeeded, a
  // startup or liveness probe that has failed.
  bool over() const noexcept;

 private:
  probe_kind kind_;
  int success_threshold_, failure_threshold_;
  probe_result result_;
  bool last_ = false;
  int in_a_row_ = 0;
};

}  // namespace troupe::actors
