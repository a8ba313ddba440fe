// Counts and durations of requests.
#pragma once

#include <array>
#include <atomic>
#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <tuple>

#include "server/flow_control/flow.hpp"
#include "server/flow_control/refusal_log.hpp"
#include "server/metrics/families.hpp"
#include "server/rest/requests/audit.hpp"

namespace troupe::server {

class request_metrics {
 public:
  // Thread safe; one shared lock and three relaxed additions.
  void observe(const request_record& record);
  // Counts a request refused before any handler: without duration, and with few labels.
  void refused(const refusal& refusal);
  void add_to(families& out) const;

 private:
  // kubernetes: apiserver/pkg/endpoints/metrics/metrics.go, the buckets of the durations.
  static constexpr std::array<double, 23> bounds{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8,
                                                 1.0,   1.25,  1.5,  2,   3,   4,   5,   6,
                                                 8,     10,    15,   20,  30,  45,  60};
  struct place {
    api::kind_handle kind;
    const char* verb;
    const char* scope;
    std::string_view subresource;  // static
    // Custom kinds of one name share one series, however often they are recreated.
    std::strong_ordering operator<=>(const place& other) const;
  };
  struct series {
    std::array<std::atomic<std::uint64_t>, bounds.size() + 1> counts{};
    std::atomic<std::uint64_t> sum_ns{0};
  };
  using count = std::atomic<std::uint64_t>;
  using key = std::pair<place, int>;

  static place place_of(const request_record& record);
  static labels labels_of(const place& target);
  template <class Map, class Key>
  typename Map::mapped_type::element_type& find(Map& map, const Key& key);

  mutable std::shared_mutex mutex_;
  std::map<place, std::unique_ptr<series>> times_;
  std::map<key, std::unique_ptr<count>> totals_;
  std::array<count, flow_schemas> rejected_{};  // no seat, or too many bytes held
  count unauthorized_{0};
};

}  // namespace troupe::server
