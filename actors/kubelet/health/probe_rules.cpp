#include "actors/kubelet/health/probe_rules.hpp"

#include <algorithm>
#include <utility>

namespace troupe::actors {

const char* to_string(probe_kind kind) noexcept {
  static constexpr const char* names[] = {"Startup", "Liveness", "Readiness"};
  return names[static_cast<int>(kind)];
}

probe_settings settings_of(const api::core::v1::Probe& probe) {
  const auto seconds = [](int value, int otherwise) {
    return std::chrono::seconds{value > 0 ? value : otherwise};
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
      result_{kind == probe_kind::startup             ? probe_result::unknown
              : kind == probe_kind::liveness || ready ? probe_result::success
                                                      : probe_result::failure} {}

bool probe_count::take(bool success) {
  if (over()) return false;
  in_a_row_ = in_a_row_ > 0 && success == last_ ? in_a_row_ + 1 : 1;
  last_ = success;
  if (in_a_row_ < (success ? success_threshold_ : failure_threshold_)) return false;
  const auto said = success ? probe_result::success : probe_result::failure;
  return std::exchange(result_, said) != said;
}

bool probe_count::over() const noexcept {
  if (kind_ == probe_kind::readiness) return false;
  return result_ == probe_result::failure ||
         (kind_ == probe_kind::startup && result_ == probe_result::success);
}

}  // namespace troupe::actors
