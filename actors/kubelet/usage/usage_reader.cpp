#include "actors/kubelet/usage/usage_reader.hpp"

#include <mutex>
#include <utility>

#include "actors/kubelet/usage/machine_counters.hpp"
#include "actors/kubelet/usage/pod_networks.hpp"

namespace troupe::actors {

namespace {

// A reading whose two parts come from two threads. The jobs own this object and not the runtime,
// because the runtime must not be destroyed on a thread of the jobs.
class joint_reading {
 public:
  explicit joint_reading(std::function<void(usage_reading)> done) : done_{std::move(done)} {}

  void machine(std::optional<usage_counters> counters, const node_supplies& supplies,
               std::vector<network_counters> networks) {
    std::unique_lock lock{mutex_};
    reading_.machine = counters;
    reading_.supplies = supplies;
    reading_.networks = std::move(networks);
    came(std::move(lock));
  }
  void containers(std::vector<container_counters> all, bool systemd_groups) {
    std::unique_lock lock{mutex_};
    reading_.systemd_groups = systemd_groups;
    reading_.containers = std::move(all);
    came(std::move(lock));
  }

 private:
  void came(std::unique_lock<std::mutex> lock) {
    if (--left_ != 0) return;
    lock.unlock();
    done_(std::move(reading_));
  }

  const std::function<void(usage_reading)> done_;
  std::mutex mutex_;
  usage_reading reading_;
  int left_ = 2;
};

}  // namespace

usage_reader make_usage_reader(std::shared_ptr<usage_source> containers,
                               std::shared_ptr<job_queue> jobs,
                               std::function<node_supplies()> supplies) {
  return [containers = std::move(containers), jobs = std::move(jobs),
          supplies = std::move(supplies)](std::function<void(usage_reading)> done) {
    const auto reading = std::make_shared<joint_reading>(std::move(done));
    const bool posted = jobs->post([reading, supplies] {
      reading->machine(read_machine_counters(), supplies(), read_pod_networks());
    });
    if (!posted) reading->machine(std::nullopt, {}, {});
    containers->read_usage([reading, systemd_groups = containers->has_systemd_groups()](
                               std::vector<container_counters> all) {
      reading->containers(std::move(all), systemd_groups);
    });
  };
}

}  // namespace troupe::actors
