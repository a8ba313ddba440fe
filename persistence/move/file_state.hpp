// A backup file as source or target of a copy (README.md).
#pragma once

#include <map>
#include <memory>
#include <string>

#include "persistence/move/cluster_state.hpp"

namespace rocksdb {
class Iterator;
class SstFileReader;
class SstFileWriter;
}  // namespace rocksdb

namespace troupe::persistence {

// Other files of a cluster, such as its certificate authority, by name.
using state_files = std::map<std::string, std::string>;

class file_source final : public state_source {
 public:
  // Reads the whole file once: fails with `corrupt` if a checksum is wrong or the end is missing.
  static expected<std::unique_ptr<file_source>> open(const std::string& path);
  ~file_source() override;

  const cluster_head& head() const override { return head_; }
  const state_files& files() const noexcept { return files_; }
  expected<std::vector<stored_item>> next() override;

 private:
  explicit file_source(const std::string& path);
  expected<void> read_head();

  const std::string path_;
  const std::unique_ptr<rocksdb::SstFileReader> file_;
  std::unique_ptr<rocksdb::Iterator> at_;
  cluster_head head_;
  state_files files_;
};

// Writes to PATH.partial, which finish() renames. Only the file's owner may read it. It is locked:
// a second backup to the same path fails with `invalid`.
class file_target final : public state_target {
 public:
  // Fails with `invalid` if the file exists.
  static expected<std::unique_ptr<file_target>> open(const std::string& path, state_files files);
  ~file_target() override;

  expected<void> begin(const cluster_head& head) override;
  expected<void> add(std::vector<stored_item> items) override;
  expected<void> finish() override;

 private:
  file_target(const std::string& path, state_files files);

  const std::string path_, partial_;
  const state_files files_;
  int lock_ = -1;  // descriptor of the partial file
  std::unique_ptr<rocksdb::SstFileWriter> file_;
};

}  // namespace troupe::persistence
