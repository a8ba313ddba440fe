#include "persistence/engine/directory_guard.hpp"

#include <filesystem>
#include <fstream>
#include <iterator>

namespace troupe::persistence {

directory_guard::directory_guard(std::string directory, std::shared_ptr<rocksdb::FileSystem> target)
    : FileSystemWrapper{std::move(target)}, directory_{std::move(directory)} {}

rocksdb::IOStatus directory_guard::LockFile(const std::string& name,
                                            const rocksdb::IOOptions& options,
                                            rocksdb::FileLock** lock,
                                            rocksdb::IODebugContext* debug) {
  auto locked = FileSystemWrapper::LockFile(name, options, lock, debug);
  if (locked.ok() && found_.empty()) {
    found_ = files();
    found_current_ = current();
  }
  return locked;
}

rocksdb::IOStatus directory_guard::DeleteFile(const std::string& name,
                                              const rocksdb::IOOptions& options,
                                              rocksdb::IODebugContext* debug) {
  {
    std::lock_guard lock{mutex_};
    if (!accepted_ && found_.contains(std::filesystem::path{name}.filename())) {
      deletions_.push_back(name);
      return rocksdb::IOStatus::OK();
    }
  }
  return FileSystemWrapper::DeleteFile(name, options, debug);
}

void directory_guard::opened() {
  opened_current_ = current();
}

void directory_guard::accept() {
  std::vector<std::string> waiting;
  {
    std::lock_guard lock{mutex_};
    accepted_ = true;
    waiting.swap(deletions_);
  }
  for (const auto& each : waiting)
    FileSystemWrapper::DeleteFile(each, {}, nullptr).PermitUncheckedError();
}

void directory_guard::undo(rocksdb::Env& environment) {
  if (accepted_ || opened_current_.empty() || found_current_.empty()) return;
  const auto path = [this](const std::string& name) { return directory_ + "/" + name; };
  rocksdb::FileLock* lock = nullptr;
  if (!environment.LockFile(path("LOCK"), &lock).ok()) return;
  auto done = current() == opened_current_ ? rocksdb::Status::OK() : rocksdb::Status::Busy();
  if (done.ok())
    done = rocksdb::WriteStringToFile(&environment, found_current_, path("undo"), true);
  if (done.ok()) done = environment.RenameFile(path("undo"), path("CURRENT"));
  std::unique_ptr<rocksdb::Directory> folder;
  if (done.ok()) done = environment.NewDirectory(directory_, &folder);
  if (done.ok()) done = folder->Fsync();
  if (done.ok())
    for (const auto& each : files())
      if (each != "LOCK" && !found_.contains(each))
        environment.DeleteFile(path(each)).PermitUncheckedError();
  environment.UnlockFile(lock).PermitUncheckedError();
}

std::string directory_guard::current() const {
  std::ifstream file{directory_ + "/CURRENT", std::ios::binary};
  return {std::istreambuf_iterator<char>{file}, {}};
}

std::set<std::string> directory_guard::files() const {
  std::set<std::string> names;
  std::error_code bad;
  for (std::filesystem::directory_iterator each{directory_, bad}, end; !bad && each != end;
       each.increment(bad))
    names.insert(each->path().filename());
  return names;
}

}  // namespace troupe::persistence
