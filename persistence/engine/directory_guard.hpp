// Leaves a store's directory as it was found until it has been looked at: a file that RocksDB drops
// while it opens may be what a damaged store can still be repaired from.
//
// RocksDB changes no file that it finds. It makes new ones, points CURRENT at a new MANIFEST and
// deletes what that does not name. So deletions wait for `accept`; `undo` puts CURRENT back and
// removes what is new. Thread safe, but for `undo`.
#pragma once

#include <rocksdb/env.h>
#include <rocksdb/file_system.h>

#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

namespace troupe::persistence {

class directory_guard final : public rocksdb::FileSystemWrapper {
 public:
  directory_guard(std::string directory, std::shared_ptr<rocksdb::FileSystem> target);

  const char* Name() const override { return "directory_guard"; }
  // Takes note of the files that are there, once: from here on no other process changes it.
  rocksdb::IOStatus LockFile(const std::string& name, const rocksdb::IOOptions& options,
                             rocksdb::FileLock** lock, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

  // After the database has been opened.
  void opened();
  // The directory is good: waiting deletions are done.
  void accept();
  // The database was opened and is closed again. Nothing happens after `accept`, nor when another
  // process has opened it meanwhile.
  void undo(rocksdb::Env& environment);

 private:
  std::string current() const;
  std::set<std::string> files() const;

  const std::string directory_;
  std::set<std::string> found_;
  std::string found_current_, opened_current_;
  std::mutex mutex_;
  std::vector<std::string> deletions_;
  bool accepted_ = false;
};

}  // namespace troupe::persistence
