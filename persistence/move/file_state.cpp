#include "persistence/move/file_state.hpp"

#include <fcntl.h>
#include <rocksdb/options.h>
#include <rocksdb/sst_file_reader.h>
#include <rocksdb/sst_file_writer.h>
#include <spdlog/fmt/fmt.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <utility>

#include "persistence/format/record.hpp"
#include "persistence/move/defaults.hpp"
#include "persistence/move/rename_into_place.hpp"

namespace troupe::persistence {

namespace fs = std::filesystem;

namespace {

// They sort before all keys of objects.
const std::string head_key{"\0head", 5};
const std::string file_prefix{"\0file/", 6};

rocksdb::Options options_of_file() {
  rocksdb::Options options;
  options.compression = rocksdb::kZSTD;
  return options;
}

bool is_locked(const std::string& path) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return false;
  const bool locked = ::flock(file, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK;
  ::close(file);
  return locked;
}

expected<void> taken(const std::string& path, const rocksdb::Status& status) {
  if (status.ok()) return {};
  return fail(status.IsCorruption() ? errc::corrupt : errc::io,
              fmt::format("{}: {}", path, status.ToString()));
}

}  // namespace

// -- the source -----------------------------------------------------------------------------------

expected<std::unique_ptr<file_source>> file_source::open(const std::string& path) {
  std::unique_ptr<file_source> made{new file_source{path}};
  auto checked = taken(path, made->file_->Open(path));
  if (checked) checked = taken(path, made->file_->VerifyChecksum());
  if (checked) checked = made->read_head();
  if (!checked) return fail(std::move(checked.error()));
  return made;
}

file_source::file_source(const std::string& path)
    : path_{path}, file_{std::make_unique<rocksdb::SstFileReader>(options_of_file())} {}

file_source::~file_source() = default;

expected<void> file_source::read_head() {
  at_.reset(file_->NewIterator({}));
  at_->SeekToFirst();
  for (; at_->Valid() && at_->key().starts_with(file_prefix); at_->Next())
    files_.emplace(at_->key().ToString().substr(file_prefix.size()), at_->value().ToString());
  if (!at_->Valid() || at_->key() != head_key)
    return fail(errc::invalid, fmt::format("{} is not a backup of a cluster", path_));
  const auto text = at_->value().ToString();
  const auto blank = text.find(' ');
  const auto at = blank == text.npos ? std::nullopt : read_number(text.substr(blank + 1));
  if (!at || *at == 0)
    return fail(errc::invalid, fmt::format("{} is of another version of troupe", path_));
  head_ = {text.substr(0, blank), *at};
  at_->Next();
  return {};
}

expected<std::vector<stored_item>> file_source::next() {
  std::vector<stored_item> items;
  for (std::size_t bytes = 0; at_->Valid() && bytes < defaults::part_bytes; at_->Next()) {
    const auto value = at_->value();
    const auto state = read_state({value.data(), value.size()});
    if (!state) return fail(errc::corrupt, fmt::format("{}: a row is malformed", path_));
    items.push_back(
        {at_->key().ToString(), std::string{state->object}, state->created, state->modified});
    bytes += at_->key().size() + value.size();
  }
  if (auto good = taken(path_, at_->status()); !good) return fail(std::move(good.error()));
  return items;
}

// -- the target -----------------------------------------------------------------------------------

expected<std::unique_ptr<file_target>> file_target::open(const std::string& path,
                                                         state_files files) {
  std::error_code failed;
  if (fs::exists(path, failed))
    return fail(errc::invalid, fmt::format("there is a file {} already", path));
  return std::unique_ptr<file_target>{new file_target{path, std::move(files)}};
}

file_target::file_target(const std::string& path, state_files files)
    : path_{path}, partial_{path + ".partial"}, files_{std::move(files)} {}

file_target::~file_target() {
  if (lock_ < 0) return;
  std::error_code failed;
  fs::remove(partial_, failed);  // absent after finish()
  ::close(lock_);
}

expected<void> file_target::begin(const cluster_head& head) {
  if (is_locked(partial_))
    return fail(errc::invalid, fmt::format("{} is being written by another process", partial_));
  std::error_code failed;
  fs::remove(partial_, failed);
  file_ = std::make_unique<rocksdb::SstFileWriter>(rocksdb::EnvOptions{}, options_of_file());
  // RocksDB keeps the mode of an existing file.
  lock_ = ::open(partial_.c_str(), O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
  if (lock_ < 0 || ::flock(lock_, LOCK_EX | LOCK_NB) != 0)
    return fail(errc::io, fmt::format("{}: {}", partial_, std::strerror(errno)));
  auto opened = taken(partial_, file_->Open(partial_));
  for (const auto& [name, content] : files_)
    if (opened) opened = taken(partial_, file_->Put(file_prefix + name, content));
  if (opened)
    opened = taken(partial_, file_->Put(head_key, fmt::format("{} {}", head.cluster, head.at)));
  return opened;
}

expected<void> file_target::add(std::vector<stored_item> items) {
  for (const auto& each : items) {
    auto value = state_head(each.created, each.modified) + each.value;
    if (auto put = taken(partial_, file_->Put(each.key, value)); !put) return put;
  }
  return {};
}

expected<void> file_target::finish() {
  if (auto done = taken(partial_, file_->Finish()); !done) return done;  // synced
  return rename_into_place(partial_, path_);
}

}  // namespace troupe::persistence
