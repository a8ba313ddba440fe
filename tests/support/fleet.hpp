// A whole control plane on threads, with a store on disk and simulated nodes: for measurements of
// controllers. Throws if a condition does not become true within two minutes.
#pragma once

#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <random>
#include <string>
#include <vector>

#include "actors/control_plane/control_plane.hpp"
#include "persistence/store/store.hpp"
#include "runtime/actor_system.hpp"

namespace troupe::test {

class fleet {
 public:
  struct tally {
    std::size_t pods = 0, bound = 0, running = 0;
  };

  // Returns when all nodes exist. Does not count pods of the controller `uncounted`.
  fleet(const std::string& folder, std::size_t nodes, const std::string& uncounted = {});
  ~fleet();

  // ReplicationControllers in the namespace "default", whose pods have their name as label "app".
  // Returns when all of it is on disk.
  void create(const std::vector<std::string>& controllers, int replicas);
  void scale(const std::vector<std::string>& controllers, int replicas);
  // The garbage collector removes its pods.
  void remove(const std::string& controller);
  // Stops its message handling until it is released, five minutes at most.
  void stall(const std::string& controller);
  void release_controller(const std::string& controller);

  void wait(const std::function<bool(const tally&)>& done);
  runtime::actor_system& system() noexcept { return *system_; }

 private:
  class observer;
  // Returns the controllers whose transactions were refused because of another change.
  std::vector<std::string> commit(
      const std::vector<std::string>& controllers,
      const std::function<persistence::transaction(const std::string&)>& make);
  runtime::actor_ref controller(const std::string& name);
  void wait_for(const char* event, const std::function<bool()>& done);

  std::mutex mutex_;
  std::condition_variable changed_;
  tally counts_;
  std::size_t nodes_ = 0;
  std::mt19937_64 random_{1};
  // The store outlives the system, the system the control plane.
  std::unique_ptr<persistence::store> store_;
  std::unique_ptr<runtime::actor_system> system_;
  std::unique_ptr<actors::control_plane> plane_;
};

// The delay of the pods of 1,000 controllers, one each, while another controller is stalled: the
// median of the ratios of that many pairs of short rounds, with and without it, alternating, so
// that other load on the machine affects both. 1 means no delay.
double delay_beside_a_stalled_controller(const std::string& folder, int pairs);

}  // namespace troupe::test
