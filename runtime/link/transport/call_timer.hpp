// The single timer of a call: gRPC's alarm. Setting it replaces the previous one.
#pragma once

#include <grpcpp/alarm.h>

#include <chrono>
#include <functional>
#include <memory>
#include <utility>

#include "runtime/clock.hpp"

namespace troupe::runtime::link {

class call_timer {
 public:
  // `fired` runs on a thread of gRPC, never within set(); setting or destroying the timer cancels
  // it, unless `fired` is already running.
  void set(duration after, std::function<void()> fired) {
    alarm_ = std::make_unique<grpc::Alarm>();
    const auto delay = std::chrono::duration_cast<std::chrono::microseconds>(after);
    alarm_->Set(gpr_time_add(gpr_now(GPR_CLOCK_MONOTONIC),
                             gpr_time_from_micros(delay.count(), GPR_TIMESPAN)),
                [fired = std::move(fired)](bool expired) {
                  if (expired) fired();
                });
  }
  void stop() { alarm_.reset(); }

 private:
  std::unique_ptr<grpc::Alarm> alarm_;
};

}  // namespace troupe::runtime::link
