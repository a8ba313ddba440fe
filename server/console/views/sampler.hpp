// Rates: the differences between two samples of all actors, the store and the transport.
//
// Samples are taken only on request: with any number of users all actors are visited once in
// `defaults::sample_period` (30 ms for 100,000). Thread safe; callers wait for one in
// progress.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "persistence/store/store.hpp"
#include "runtime/actor_system.hpp"
#include "server/connections/http_server.hpp"
#include "server/console/context/remote.hpp"

namespace troupe::server {

struct kind_sample {
  std::uint64_t actors = 0, mailbox = 0, handled = 0, restarts = 0;
  runtime::duration busy{0}, oldest{0};
};

// The figures of an actor that are kept between two samples.
struct actor_mark {
  std::uint64_t id = 0, handled = 0, mailbox = 0;
  runtime::duration busy{0}, longest{0};
  std::uint32_t restarts = 0;
};

// An actor in a ranking or a warning.
struct actor_rate {
  runtime::actor_info info;
  double handled_per_second = 0;
  double busy_share = 0;  // of one processor
  std::uint64_t mailbox_before = 0;
  std::uint32_t new_restarts = 0;
  bool new_longest = false;  // its longest handler ran in this period
};

struct system_sample {
  runtime::time_point at;
  std::map<std::string, kind_sample> kinds;
  std::uint64_t actors = 0, mailbox = 0, handled = 0;
  persistence::store_stats store;
  http_stats http;
  std::vector<node_link> links;        // by name
  std::vector<actor_rate> busiest;     // by time in handlers since the last sample
  std::vector<actor_rate> fullest;     // by mailbox
  std::vector<actor_rate> suspicious;  // slow handlers, restarts
  std::vector<actor_rate> stood_out;   // suspicious for `defaults::warn_time`, one for each actor
};

class sampler {
 public:
  // Without a store its figures stay 0; `others` is null if no node can join.
  sampler(const runtime::actor_system& system, const persistence::store* store,
          std::shared_ptr<const other_nodes> others)
      : system_{system}, store_{store}, others_{std::move(others)} {}
  void transport(std::function<http_stats()> from);

  struct pair {
    std::shared_ptr<const system_sample> before;  // equal to `now` the first time
    std::shared_ptr<const system_sample> now;
    double seconds = 1;
    // The rate of a counter; 0 if it has restarted.
    double per_second(std::uint64_t after, std::uint64_t past) const {
      return after > past ? static_cast<double>(after - past) / seconds : 0;
    }
  };
  pair look();
  // The kept samples, oldest first; samples before the last two have only sums.
  std::vector<std::shared_ptr<const system_sample>> kept();

 private:
  std::shared_ptr<const system_sample> take();
  void mark(system_sample& into, double seconds);
  void remember(system_sample& fresh);

  const runtime::actor_system& system_;
  const persistence::store* const store_;
  const std::shared_ptr<const other_nodes> others_;
  std::mutex mutex_;
  std::function<http_stats()> transport_;
  std::deque<std::shared_ptr<const system_sample>> samples_;
  std::vector<actor_mark> marks_;  // by id
  struct outstanding {
    runtime::time_point at;
    actor_rate row;
  };
  // Warnings seen by other users must reach those who ask rarely. Oldest first.
  std::deque<outstanding> outstanding_;
};

}  // namespace troupe::server
