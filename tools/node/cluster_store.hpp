// Opens the store that the configuration names, and elects a leader over a shared one.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

#include "actors/control_plane/control_plane.hpp"
#include "config/node_config.hpp"
#include "persistence/replica/replicated_store.hpp"
#include "persistence/store/store.hpp"

namespace troupe::tools {

struct cluster_store {
  std::unique_ptr<persistence::store> store;
  // The same store; null if no other process writes to it.
  persistence::replicated_store* shared = nullptr;
};

// Opens the store. If it is shared, waits at most a minute until its state is loaded.
tl::expected<cluster_store, std::string> open_cluster_store(const config::node_config& config);

// A candidate for leader for as long as it exists; the control plane leads during its terms.
//
// Starts and stops the control plane on a thread of its own: the store reports terms on one of its
// threads, where a control plane must not be started.
class term_manager {
 public:
  term_manager(persistence::replicated_store& store, actors::control_plane& plane,
               const config::node_config& config);
  // Resigns as leader.
  ~term_manager();
  term_manager(const term_manager&) = delete;
  term_manager& operator=(const term_manager&) = delete;

 private:
  // Shared with the store's callbacks, which may come late.
  struct wanted {
    std::mutex mutex;
    std::condition_variable changed;
    persistence::revision fence = 0;
    bool over = false;
  };

  void run();

  persistence::replicated_store& store_;
  actors::control_plane& plane_;
  const std::shared_ptr<wanted> wanted_ = std::make_shared<wanted>();
  std::thread thread_;
};

}  // namespace troupe::tools
