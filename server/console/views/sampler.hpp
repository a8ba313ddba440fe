// Rates: what changed between two looks at all actors, at the store and at the transport.
//
// Nothing is sampled while nobody asks. However many ask, all actors are walked over once in
// `defaults::sample_period` (30 ms for 100,000). Thread safe; who asks during a walk waits for it.
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

// The figures of each actor that are kept between two samples.
struct actor_mark {
  std::uint64_t id = 0, handled = 0, mailbox = 0;
  runtime::duration busy{0}, longest{0};
  std::uint32_t restarts = 0;
};

// An actor that stands out.
struct actor_rate {
  runtime::actor_info info;
  double handled_per_second = 0;
  double busy_share = 0;  // of one processor
  std::uint64_t mailbox_before = 0;
  std::uint32_t new_restarts = 0;
  bool new_longest = false;  // its longest handler is one of this period
};

struct system_sample {
  runtime::time_point at;
  std::map<std::string, kind_sample> kinds;
  std::uint64_t actors = 0, mailbox = 0, handled = 0;
  persistence::store_stats store;
  http_stats http;
  std::vector<node_link> links;        // by name
  std::vector<actor_rate> busiest;     // by time in handlers since the last look
  std::vector<actor_rate> fullest;     // by mailbox
  std::vector<actor_rate> suspicious;  // slow handlers, restarts
  std::vector<actor_rate> stood_out;   // the same for `defaults::warn_time`, one for each actor
};

class sampler {
 public:
  // Without a store its figures stay 0; `others` is null where no node can join.
  sampler(const runtime::actor_system& system, const persistence::store* store,
          std::shared_ptr<const other_nodes> others)
      : system_{system}, store_{store}, others_{std::move(others)} {}
  void transport(std::function<http_stats()> from);

  struct pair {
    std::shared_ptr<const system_sample> before;  // the first time the same as `now`
    std::shared_ptr<const system_sample> now;
    double seconds = 1;
    // Of a counter; 0 for one that has started again.
    double per_second(std::uint64_t after, std::uint64_t past) const {
      return after > past ? static_cast<double>(after - past) / seconds : 0;
    }
  };
  pair look();
  // The kept samples, the oldest first; of those before the last two only the sums are kept.
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
  // Who asks seldom must hear of what others have seen: the oldest first.
  std::deque<outstanding> outstanding_;
};

}  // namespace troupe::server
