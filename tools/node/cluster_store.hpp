// The store that the configuration names, and who leads over it.
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
  // The same; null where nobody else writes to it.
  persistence::replicated_store* shared = nullptr;
};

// Opens it. One that is shared is waited for until its state is here, at most a minute.
tl::expected<cluster_store, std::string> open_cluster_store(const config::node_config& config);

// Stands for leader as long as it lives; the control plane leads while the term lasts.
//
// Terms begin and end on a thread of its own: they are told on one of the store's, which a control
// plane must not be started on.
class term_keeper {
 public:
  term_keeper(persistence::replicated_store& store, actors::control_plane& plane, std::string name,
              std::chrono::seconds lease);
  // Gives the lead up.
  ~term_keeper();
  term_keeper(const term_keeper&) = delete;
  term_keeper& operator=(const term_keeper&) = delete;

 private:
  // Shared with what the store calls, which may come late.
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
