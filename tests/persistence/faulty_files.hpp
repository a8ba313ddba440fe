// A file system that fails on demand and loses unsynced data; it implements RocksDB's interface.
//
// Thread safe. It is layered on the real one, so that a store that is opened later without it finds
// the files that a crash would have left.
#pragma once

#include <rocksdb/file_system.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

namespace troupe::persistence::testing {

class faulty_files final : public rocksdb::FileSystemWrapper {
 public:
  enum class fault {
    none,
    no_space,    // every write fails: ENOSPC
    io_error,    // … EIO
    sync_error,  // writes succeed, syncs fail and unsynced data is lost, as on Linux
    read_only,   // no file can be created: EROFS
    torn_write,  // a write leaves its first half, then fails with EIO
    crashed,     // nothing reaches the disk any more
  };

  faulty_files() : FileSystemWrapper{rocksdb::FileSystem::Default()} {}

  void set(fault next) { fault_ = next; }
  // Lets this many more writes and syncs succeed first.
  void set_after(fault next, int operations);
  // Drops the unsynced data of every file. No store may be open.
  void power_failure();
  std::uint64_t syncs() const { return syncs_; }

  const char* Name() const override { return "faulty_files"; }
  rocksdb::IOStatus NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                    std::unique_ptr<rocksdb::FSWritableFile>* made,
                                    rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus ReopenWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* made,
                                       rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus RenameFile(const std::string& from, const std::string& to,
                               const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;
  rocksdb::IOStatus DeleteFile(const std::string& name, const rocksdb::IOOptions& options,
                               rocksdb::IODebugContext* debug) override;

 private:
  friend class faulty_file;

  struct sizes {
    std::uint64_t written = 0;
    std::uint64_t synced = 0;
  };

  fault now();
  rocksdb::IOStatus refusal(fault next) const;
  rocksdb::IOStatus wrap(const std::string& name, std::unique_ptr<rocksdb::FSWritableFile>* made,
                         sizes at);
  void lose_unsynced(const std::string& name);

  std::atomic<fault> fault_{fault::none};
  std::atomic<fault> next_fault_{fault::none};
  std::atomic<int> countdown_{-1};
  std::atomic<std::uint64_t> syncs_{0};
  std::mutex mutex_;
  std::map<std::string, sizes> files_;
};

}  // namespace troupe::persistence::testing
