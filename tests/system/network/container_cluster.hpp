// A cluster of joined machines that run images: each has a containerd of its own in its network
// namespace, and the network of pods by its program.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/programs/private_containerd.hpp"
#include "support/scratch_folder.hpp"
#include "system/network/joined_cluster.hpp"

namespace troupe::test {

class container_cluster {
 public:
  // False, with the reason, where this machine can have none.
  static bool possible();

  // `flags` for every machine, `control` for the first.
  explicit container_cluster(unsigned joined, std::vector<std::string> flags = {},
                             const std::vector<std::string>& control = {});
  ~container_cluster();

  joined_cluster& operator*() noexcept { return *cluster_; }
  joined_cluster* operator->() noexcept { return cluster_.get(); }
  private_containerd& runtime(const machine& of) { return *runtimes_.at(of.number()); }
  // Into all of them.
  void import_image(const std::filesystem::path& archive);
  // Deletes all that makes pods, and the pods.
  void delete_pods();
  // What pods have left there: devices, routes, addresses, host ports, mounts. Empty: nothing.
  std::string left_of_pods(machine& on);

 private:
  std::vector<std::string> prepare(machine& one, const std::vector<std::string>& flags);

  const scratch_folder folder_;
  std::map<virtual_switch::port, std::unique_ptr<private_containerd>> runtimes_;
  std::unique_ptr<joined_cluster> cluster_;
};

}  // namespace troupe::test
