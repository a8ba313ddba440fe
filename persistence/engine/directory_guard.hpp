// Keeps the files of a store's directory until the store has been checked: a file that RocksDB
// would drop while it opens may be needed to repair a damaged store.
//
// RocksDB changes no existing file. It creates new files, points CURRENT at a new MANIFEST and
// deletes the files that this MANIFEST does not name. So deletions wait for `accept`; `undo`
// restores CURRENT and removes the new files. Thread safe except for `undo`.
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
  // Lists the files of the directory, once: with the lock held no other process changes it.
  rocksdb::IOStatus LockFile(const std::string& name, const rocksdb::IOOptions& options,
                             rocksdb::FileLock** lock, rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

  // Call it after the database has been opened.
  void opened();
  // The directory is good: runs the deferred deletions.
  void accept();
  // Call it when the database was opened and is closed again. Does nothing after `accept`, or when
  // another process has opened the database meanwhile.
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
