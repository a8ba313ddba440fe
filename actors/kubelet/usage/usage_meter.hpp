// Measures a machine and its containers when somebody asks, and not else: a child of the kubelet,
// of the kind `usage_meter_kind` and with the name of the node, by which others find it.
//
// Figures are rates, which two readings give. They are good for `kubelet_defaults::usage_fresh`;
// then the next who asks has another reading made. Where the last one is so old that a rate since
// then says nothing of now, or there is none, two are made, `usage_first_window` apart. All who ask
// meanwhile get the same answer.
//
// It owns the last reading and its figures: a crash costs the next who asks a quarter of a second.
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

// Makes a reading: does not block, and answers once, from any thread.
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
  std::optional<node_usage> figures_;  // up to `last_`
  std::vector<runtime::promise<node_usage>> waiting_;
  std::uint64_t readings_ = 0;
  bool reading_ = false;
  runtime::timer next_, late_;
};

}  // namespace troupe::actors
