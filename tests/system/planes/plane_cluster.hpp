// Three control planes over three members of etcd, each on a machine of its own.
#pragma once

#include <array>
#include <functional>
#include <memory>
#include <string>

#include "support/scratch_folder.hpp"
#include "system/network/machine.hpp"
#include "system/network/virtual_switch.hpp"
#include "system/planes/etcd_machine.hpp"
#include "system/planes/history_witness.hpp"

namespace troupe::test {

class plane_cluster {
 public:
  static constexpr std::size_t size = 3;
  static constexpr std::chrono::seconds leader_lease{2};

  // Why there is none on this machine; empty where there can be.
  static std::string missing();

  // Throws std::runtime_error with the reason when it does not come up.
  plane_cluster();

  machine& plane(std::size_t index) { return *planes_.at(index); }
  etcd_machine& member(std::size_t index) { return *members_.at(index); }
  virtual_switch& network() noexcept { return network_; }
  history_witness& witness() noexcept { return *witness_; }
  const std::filesystem::path& folder() const noexcept { return folder_.path(); }

  // URLs of the members, that one first; without another one where it is named.
  std::string endpoints(std::size_t first = 0, std::size_t without = size) const;
  // What etcdctl prints on a member's machine.
  process_result control(const std::string& words, std::size_t without = size) const;
  // The control plane that leads; nothing where none does.
  std::optional<std::size_t> leader() const;
  // The member that leads the others.
  std::size_t leading_member() const;
  // Takes a member out that has lost its data, and adds it again. What went wrong; empty: nothing.
  std::string replace_member(std::size_t index);

 private:
  std::vector<std::string> words_of_plane(std::size_t index) const;

  const scratch_folder folder_;
  virtual_switch network_;
  std::vector<std::unique_ptr<etcd_machine>> members_;
  std::unique_ptr<history_witness> witness_;
  std::vector<std::unique_ptr<machine>> planes_;
};

}  // namespace troupe::test
