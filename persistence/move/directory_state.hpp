// The store of a stopped node as source or target of a copy.
#pragma once

#include <memory>
#include <string>

#include "persistence/engine/engine.hpp"
#include "persistence/move/cluster_state.hpp"
#include "persistence/store/local_store.hpp"

namespace troupe::persistence {

class directory_source final : public state_source {
 public:
  // Fails with `corrupt` unless the store is complete (repair/verify.hpp). Refuses a replica.
  static expected<std::unique_ptr<directory_source>> open(const std::string& directory);

  const cluster_head& head() const override { return head_; }
  expected<std::vector<stored_item>> next() override;

 private:
  directory_source(std::unique_ptr<engine> disk, cluster_head head);

  const std::unique_ptr<engine> disk_;
  const cluster_head head_;
  std::string from_;
};

// Writes to DIRECTORY.partial, which finish() renames.
class directory_target final : public state_target {
 public:
  // Fails with `invalid` if the directory is not empty.
  static expected<std::unique_ptr<directory_target>> open(const std::string& directory);

  expected<void> begin(const cluster_head& head) override;
  expected<void> add(std::vector<stored_item> items) override;
  expected<void> finish() override;
  // The number of objects skipped because their kind is not known: a store cannot hold them.
  std::uint64_t left_out() const noexcept { return left_out_; }

 private:
  explicit directory_target(std::string directory);

  const std::string directory_, partial_;
  std::unique_ptr<local_store> store_;
  decided_step all_;
  std::uint64_t left_out_ = 0;
};

}  // namespace troupe::persistence
