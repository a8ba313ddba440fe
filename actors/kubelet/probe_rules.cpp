#include "actors/kubelet/probe_rules.hpp"

#include <algorithm>
#include <utility>

namespace troupe::actors {

const char* to_string(probe_kind kind) noexcept {
  static constexpr const char* names[] = {"Startup", "Liveness", "Readiness"};
  return names[static_cast<int>(kind)];
}

probe_settings settings_of(const api::core::v1::Probe& probe) {
  const auto seconds = [](int given, int otherwise) {
    return std::chrono::seconds{given > 0 ? given : otherwise};
  };
  // kubernetes: apis/core/v1/defaults.go.
  return {.initial_delay = seconds(probe.initial_delay_seconds(), 0),
          .period = seconds(probe.period_seconds(), 10),
          .timeout = seconds(probe.timeout_seconds(), 1),
          .success_threshold = std::max(probe.success_threshold(), 1),
          .failure_threshold = probe.failure_threshold() > 0 ? probe.failure_threshold() : 3};
}

probe_count::probe_count(probe_kind kind, const probe_settings& settings, bool ready)
    : kind_{kind},
      success_threshold_{settings.success_threshold},
      failure_threshold_{settings.failure_threshold},
      verdict_{kind == probe_kind::startup             ? probe_verdict::unknown
               : kind == probe_kind::liveness || ready ? probe_verdict::success
                                                       : probe_verdict::failure} {}

bool probe_count::take(bool success) {
  if (over()) return false;
  in_a_row_ = in_a_row_ > 0 && success == last_ ? in_a_row_ + 1 : 1;
  last_ = success;
  if (in_a_row_ < (success ? success_threshold_ : failure_threshold_)) return false;
  const auto said = success ? probe_verdict::success : probe_verdict::failure;
  return std::exchange(verdict_, said) != said;
}

bool probe_count::over() const noexcept {
  if (kind_ == probe_kind::readiness) return false;
  return verdict_ == probe_verdict::failure ||
         (kind_ == probe_kind::startup && verdict_ == probe_verdict::success);
}

}  // namespace troupe::actors
