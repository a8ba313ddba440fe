#include "persistence/faulty_files.hpp"

#include <unistd.h>

#include <filesystem>

namespace troupe::persistence::testing {

using rocksdb::IODebugContext;
using rocksdb::IOOptions;
using rocksdb::IOStatus;
using rocksdb::Slice;

class faulty_file final : public rocksdb::FSWritableFileOwnerWrapper {
 public:
  faulty_file(std::string name, std::unique_ptr<rocksdb::FSWritableFile> target,
              faulty_files& owner)
      : FSWritableFileOwnerWrapper{std::move(target)}, name_{std::move(name)}, owner_{owner} {}

  IOStatus Append(const Slice& data, const IOOptions& options, IODebugContext* debug) override {
    switch (const auto fault = owner_.now()) {
      case faulty_files::fault::none:
      case faulty_files::fault::sync_error:
        return append(data, options, debug);
      case faulty_files::fault::torn_write:
        append(Slice{data.data(), data.size() / 2}, options, debug).PermitUncheckedError();
        return owner_.refusal(fault);
      default:
        return owner_.refusal(fault);
    }
  }
  IOStatus Append(const Slice& data, const IOOptions& options, const rocksdb::DataVerificationInfo&,
                  IODebugContext* debug) override {
    return Append(data, options, debug);
  }
  IOStatus Sync(const IOOptions& options, IODebugContext* debug) override {
    return synced(FSWritableFileOwnerWrapper::Sync(options, debug));
  }
  IOStatus Fsync(const IOOptions& options, IODebugContext* debug) override {
    return synced(FSWritableFileOwnerWrapper::Fsync(options, debug));
  }

 private:
  IOStatus append(const Slice& data, const IOOptions& options, IODebugContext* debug) {
    auto status = FSWritableFileOwnerWrapper::Append(data, options, debug);
    if (!status.ok()) return status;
    // Data in the file object's own buffer is not in the file yet.
    status = FSWritableFileOwnerWrapper::Flush(options, debug);
    std::lock_guard lock{owner_.mutex_};
    owner_.files_[name_].written += data.size();
    return status;
  }

  IOStatus synced(IOStatus status) {
    const auto fault = owner_.now();
    if (fault == faulty_files::fault::sync_error) owner_.lose_unsynced(name_);
    if (fault != faulty_files::fault::none) return owner_.refusal(fault);
    std::lock_guard lock{owner_.mutex_};
    ++owner_.syncs_;
    if (status.ok()) owner_.files_[name_].synced = owner_.files_[name_].written;
    return status;
  }

  std::string name_;
  faulty_files& owner_;
};

void faulty_files::set_after(fault next, int operations) {
  next_fault_ = next;
  countdown_ = operations;
}

faulty_files::fault faulty_files::now() {
  if (countdown_ >= 0 && countdown_-- == 0) fault_ = next_fault_.load();
  return fault_;
}

IOStatus faulty_files::refusal(fault next) const {
  if (next == fault::no_space) return IOStatus::NoSpace("No space left on device");
  if (next == fault::read_only) return IOStatus::IOError("Read-only file system");
  return IOStatus::IOError("Input/output error");
}

IOStatus faulty_files::NewWritableFile(const std::string& name, const rocksdb::FileOptions& options,
                                       std::unique_ptr<rocksdb::FSWritableFile>* made,
                                       IODebugContext* debug) {
  const auto fault = now();
  if (fault == fault::read_only || fault == fault::crashed) return refusal(fault);
  auto status = FileSystemWrapper::NewWritableFile(name, options, made, debug);
  return status.ok() ? wrap(name, made, {}) : status;
}

IOStatus faulty_files::ReopenWritableFile(const std::string& name,
                                          const rocksdb::FileOptions& options,
                                          std::unique_ptr<rocksdb::FSWritableFile>* made,
                                          IODebugContext* debug) {
  auto status = FileSystemWrapper::ReopenWritableFile(name, options, made, debug);
  const auto size = std::filesystem::file_size(name);
  return status.ok() ? wrap(name, made, {size, size}) : status;
}

IOStatus faulty_files::wrap(const std::string& name, std::unique_ptr<rocksdb::FSWritableFile>* made,
                            sizes at) {
  *made = std::make_unique<faulty_file>(name, std::move(*made), *this);
  std::lock_guard lock{mutex_};
  files_[name] = at;
  return IOStatus::OK();
}

IOStatus faulty_files::RenameFile(const std::string& from, const std::string& to,
                                  const IOOptions& options, IODebugContext* debug) {
  if (const auto fault = now(); fault == fault::crashed) return refusal(fault);
  auto status = FileSystemWrapper::RenameFile(from, to, options, debug);
  if (!status.ok()) return status;
  std::lock_guard lock{mutex_};
  files_[to] = files_[from];
  files_.erase(from);
  return status;
}

IOStatus faulty_files::DeleteFile(const std::string& name, const IOOptions& options,
                                  IODebugContext* debug) {
  if (const auto fault = now(); fault == fault::crashed) return refusal(fault);
  auto status = FileSystemWrapper::DeleteFile(name, options, debug);
  if (!status.ok()) return status;
  std::lock_guard lock{mutex_};
  files_.erase(name);
  return status;
}

void faulty_files::lose_unsynced(const std::string& name) {
  std::lock_guard lock{mutex_};
  auto& file = files_[name];
  if (::truncate(name.c_str(), static_cast<off_t>(file.synced)) == 0) file.written = file.synced;
}

void faulty_files::power_failure() {
  std::lock_guard lock{mutex_};
  for (auto& [name, file] : files_)
    if (std::filesystem::exists(name))
      std::filesystem::resize_file(name, std::min(file.synced, std::filesystem::file_size(name)));
  files_.clear();
}

}  // namespace troupe::persistence::testing
