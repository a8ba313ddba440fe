// The actor that measures a machine and its containers, only on request: a child of the kubelet, of
// the kind `usage_meter_kind` and with the name of the node, for look-up.
//
// Figures are rates between two readings. They are valid for `kubelet_defaults::usage_fresh`; a
// later request starts another reading. If the last reading is too old for a current rate, or
// missing, two are taken, `usage_first_window` apart. All requests that arrive meanwhile get the
// same answer.
//
// It owns the last reading and its figures: after a crash the next request takes 250 ms longer.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "actors/kubelet/runtime/usage.hpp"
#include "actors/kubelet/usage/usage_rates.hpp"
#include "runtime/actor.hpp"

namespace troupe::actors {

// Takes a reading: does not block, and answers once, on any thread.
using usage_reader = std::function<void(std::function<void(usage_reading)> done)>;

class usage_meter : public runtime::actor {
 public:
  explicit usage_meter(usage_reader read) : read_{std::move(read)} {}

  const runtime::behavior& make_behavior() const override;
  std::string describe() const override;

 private:
  struct reading_taken {
    std::uint64_t number = 0;
    usage_reading reading;
  };
  struct known_reading {
    usage_reading reading;
    runtime::time_point at;
  };

  void on_measure_usage(const measure_usage&, runtime::promise<node_usage> answer);
  void on_reading_taken(const reading_taken& m);
  void take_reading();
  void answer(runtime::promise<node_usage>& to) const;
  void answer_all();

  const usage_reader read_;
  std::optional<known_reading> last_;
  std::optional<node_usage> figures_;  // at the time of `last_`
  std::vector<runtime::promise<node_usage>> waiting_;
  std::uint64_t readings_ = 0;
  bool reading_ = false;
  runtime::timer next_, late_;
};

}  // namespace troupe::actors
