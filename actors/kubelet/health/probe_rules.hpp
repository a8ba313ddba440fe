// The rules that turn a probe's results into its state (kubernetes: prober/worker.go). Pure.
#pragma once

#include <cstdint>
#include <string>

#include "api/schema/core_probe.pb.h"
#include "runtime/clock.hpp"

namespace troupe::actors {

enum class probe_kind : std::uint8_t { startup, liveness, readiness };
// "Startup", "Liveness", "Readiness": as in the messages of events.
const char* to_string(probe_kind kind) noexcept;

struct probe_settings {
  runtime::duration initial_delay{0}, period{0}, timeout{0};
  int success_threshold = 1, failure_threshold = 3;
};
// Absent fields get the API's defaults.
probe_settings settings_of(const api::core::v1::Probe& probe);

enum class probe_result : std::uint8_t { unknown, success, failure };

// Counts the results of one probe for one attempt of a container.
class probe_count {
 public:
  // Initial result: unknown for a startup probe, success for a liveness probe, failure for a
  // readiness probe; `ready` is for a container that was ready before the node process restarted.
  probe_count(probe_kind kind, const probe_settings& settings, bool ready = false);

  // Returns true if the result has changed.
  bool take(bool success);
  probe_result result() const noexcept { return result_; }
  // The probe is finished for this attempt: a startup probe that has succeeded, or a startup or
  // liveness probe that has failed.
  bool over() const noexcept;

 private:
  probe_kind kind_;
  int success_threshold_, failure_threshold_;
  probe_result result_;
  bool last_ = false;
  int in_a_row_ = 0;
};

}  // namespace troupe::actors
