// A test cluster of three control planes and three etcd members, each on its own machine.
#pragma once

#include <array>
#include <filesystem>
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

  // The missing program, if the cluster cannot run on this machine; empty: it can.
  static std::string missing();

  // The control planes begin with another program than ours if one is given. Throws
  // std::runtime_error with the reason if the cluster does not start.
  explicit plane_cluster(const std::filesystem::path& program = {});

  machine& plane(std::size_t index) { return *planes_.at(index); }
  etcd_machine& member(std::size_t index) { return *members_.at(index); }
  virtual_switch& network() noexcept { return network_; }
  history_witness& witness() noexcept { return *witness_; }
  const std::filesystem::path& folder() const noexcept { return folder_.path(); }

  // Client URLs of the members, starting with `first`, without member `without`.
  std::string endpoints(std::size_t first = 0, std::size_t without = size) const;
  // Runs etcdctl on a member's machine, never on that of member `without`.
  process_result control(const std::string& words, std::size_t without = size) const;
  // The leading control plane; nothing if there is none.
  std::optional<std::size_t> leader() const;
  // The leading etcd member; 0 if it is unknown.
  std::size_t leading_member() const;
  // Makes another member lead; false: it still leads.
  bool follow_with(std::size_t member) const;
  // The member that each control plane uses: the one that it sends the most frames to.
  std::array<std::size_t, size> members_in_use() const;
  // Deletes a member's data, removes it from etcd and adds it again. The error; empty: success.
  std::string replace_member(std::size_t index);
  // Saves the state of etcd to a file, and replaces etcd by a new one with that state.
  bool save(const std::filesystem::path& backup) const;
  bool restore(const std::filesystem::path& backup, const std::string& token);

 private:
  // Of all members: etcd_machine::place().
  std::string places() const;
  std::vector<std::string> words_of_plane(std::size_t index) const;
  // A field of a member's status; empty if it does not answer.
  std::string status(std::size_t member, const std::string& name) const;

  const scratch_folder folder_;
  virtual_switch network_;
  std::vector<std::unique_ptr<etcd_machine>> members_;
  std::unique_ptr<history_witness> witness_;
  std::vector<std::unique_ptr<machine>> planes_;
};

}  // namespace troupe::test
