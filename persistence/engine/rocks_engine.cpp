#include "persistence/engine/rocks_engine.hpp"

#include <fcntl.h>
#include <rocksdb/convenience.h>
#include <rocksdb/db.h>
#include <rocksdb/env.h>
#include <rocksdb/file_system.h>
#include <rocksdb/listener.h>
#include <rocksdb/write_batch.h>
#include <spdlog/fmt/fmt.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <filesystem>
#include <mutex>
#include <vector>

#include "persistence/defaults.hpp"
#include "persistence/engine/acknowledged_mark.hpp"
#include "persistence/engine/directory_guard.hpp"
#include "persistence/engine/disk_space.hpp"
#include "persistence/engine/memory_limit.hpp"
#include "persistence/engine/old_logs.hpp"
#include "persistence/engine/rocks_error.hpp"
#include "persistence/engine/rocks_log.hpp"
#include "persistence/engine/rocks_options.hpp"
#include "persistence/format/record.hpp"

namespace troupe::persistence {

namespace {

// Column families are numbered in this order when the directory is created, and the write-ahead log
// refers to them by number: never reorder.
constexpr std::array tables{table::meta, table::objects, table::changes, table::bases};

using columns = std::array<rocksdb::ColumnFamilyHandle*, tables.size()>;
using column_descriptors = std::vector<rocksdb::ColumnFamilyDescriptor>;

rocksdb::Slice slice(std::string_view s) {
  return {s.data(), s.size()};
}
std::string_view view(const rocksdb::Slice& s) {
  return {s.data(), s.size()};
}

class rocks_batch final : public write_batch {
 public:
  explicit rocks_batch(const columns& handles) : handles_{handles} {}

  void put(table target, std::string_view key, std::string_view head,
           std::string_view tail) override {
    const auto k = slice(key);
    const std::array parts{slice(head), slice(tail)};
    note(batch_.Put(column(target), {&k, 1}, {parts.data(), static_cast<int>(parts.size())}));
  }
  void remove(table target, std::string_view key) override {
    note(batch_.Delete(column(target), slice(key)));
  }
  void remove_range(table target, std::string_view from, std::string_view to) override {
    note(batch_.DeleteRange(column(target), slice(from), slice(to)));
  }
  void clear() override {
    batch_.Clear();
    failed_ = {};
  }
  std::size_t size_bytes() const override { return batch_.GetDataSize(); }

  rocksdb::WriteBatch& raw() noexcept { return batch_; }
  // An error while the batch was filled (a key of 4 GB …).
  const rocksdb::Status& failed() const noexcept { return failed_; }

 private:
  rocksdb::ColumnFamilyHandle* column(table target) const {
    return handles_[static_cast<std::size_t>(target)];
  }
  void note(const rocksdb::Status& status) {
    if (!status.ok() && failed_.ok()) failed_ = status;
  }

  columns handles_;
  rocksdb::WriteBatch batch_;
  rocksdb::Status failed_;
};

// Records the first error of RocksDB's own threads, which no write reports, and each new
// write-ahead log: RocksDB starts one when a memtable is full.
class engine_listener final : public rocksdb::EventListener {
 public:
  void OnBackgroundError(rocksdb::BackgroundErrorReason, rocksdb::Status* status) override {
    std::lock_guard lock{mutex_};
    if (first_.ok()) first_ = *status;
  }
  void OnMemTableSealed(const rocksdb::MemTableInfo&) override { log_rotated_ = true; }

  bool take_log_rotated() noexcept { return log_rotated_.exchange(false); }
  rocksdb::Status first() const {
    std::lock_guard lock{mutex_};
    return first_;
  }

 private:
  mutable std::mutex mutex_;
  rocksdb::Status first_;
  std::atomic<bool> log_rotated_{false};
};

std::uint64_t log_bytes_in(const std::string& directory) {
  std::uint64_t sum = 0;
  std::error_code bad;
  for (const auto& each : std::filesystem::directory_iterator{directory, bad})
    if (each.path().extension() == ".log") sum += std::filesystem::file_size(each.path(), bad);
  return sum;
}

// A process that died may have left bytes in the page cache that never reached the disk. Once we
// have read them they count, so they must survive a power failure.
void sync_logs(const std::string& directory) {
  std::error_code bad;
  for (const auto& each : std::filesystem::directory_iterator{directory, bad}) {
    if (each.path().extension() != ".log") continue;
    const int file = ::open(each.path().c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) continue;
    ::fdatasync(file);
    ::close(file);
  }
}

class rocks_engine final : public engine {
 public:
  rocks_engine(std::string directory, std::shared_ptr<rocksdb::FileSystem> files)
      : directory_{std::move(directory)}, mark_{directory_ + "/ACKNOWLEDGED"} {
    guard_ = std::make_shared<directory_guard>(directory_,
                                               files ? files : rocksdb::FileSystem::Default());
    environment_ = rocksdb::NewCompositeEnv(guard_);
  }

  ~rocks_engine() override {
    if (db_ == nullptr) return;
    for (auto* each : handles_)
      db_->DestroyColumnFamilyHandle(each).PermitUncheckedError();
    db_->Close().PermitUncheckedError();
    db_.reset();
    guard_->undo(*environment_);
  }

  expected<void> open(open_mode mode);

  std::unique_ptr<write_batch> make_batch() const override {
    return std::make_unique<rocks_batch>(handles_);
  }

  expected<void> write(write_batch& batch, durability level) override {
    auto& filled = static_cast<rocks_batch&>(batch);
    if (!filled.failed().ok()) return failure(filled.failed(), "write");
    std::call_once(first_write_, [this] { accept(); });
    rocksdb::WriteOptions options;
    options.sync = level == durability::synced;
    const auto status = db_->Write(options, &filled.raw());
    // A synced write has also synced the older logs: their sizes are final.
    if (status.ok() && options.sync && listener_->take_log_rotated()) note_old_logs();
    return result(status, "write");
  }

  expected<void> sync() override { return result(db_->SyncWAL(), "sync the write-ahead log"); }

  expected<std::optional<std::string>> get(table target, std::string_view key) const override {
    std::string value;
    const auto status = db_->Get({}, column(target), slice(key), &value);
    if (status.IsNotFound()) return std::nullopt;
    if (!status.ok()) return failure(status, "read");
    return value;
  }

  expected<void> scan(table target, std::string_view from, const visitor& visit) const override {
    std::unique_ptr<rocksdb::Iterator> at{db_->NewIterator({}, column(target))};
    for (at->Seek(slice(from)); at->Valid(); at->Next())
      if (!visit(view(at->key()), view(at->value()))) break;
    return result(at->status(), "read");
  }

  expected<std::optional<std::string>> last_key(table target) const override {
    std::unique_ptr<rocksdb::Iterator> at{db_->NewIterator({}, column(target))};
    at->SeekToLast();
    if (at->Valid()) return at->key().ToString();
    if (!at->status().ok()) return failure(at->status(), "read");
    return std::nullopt;
  }

  std::uint64_t size_bytes(table target) const override {
    rocksdb::SizeApproximationOptions options;
    options.include_memtables = true;
    const std::string end(16, '\xff');
    const rocksdb::Range all{"", end};
    std::uint64_t size = 0, unsorted = 0;
    db_->GetApproximateSizes(options, column(target), &all, 1, &size).PermitUncheckedError();
    // An unsorted memtable (table_options) does not know its part of a range.
    if (target == table::objects)
      db_->GetIntProperty(column(target), rocksdb::DB::Properties::kCurSizeAllMemTables, &unsorted);
    return size + unsorted;
  }

  bool is_behind() const override {
    std::uint64_t files = 0;
    for (const auto target : {table::objects, table::changes}) {
      std::string count;
      if (db_->GetProperty(column(target), rocksdb::DB::Properties::kNumFilesAtLevelPrefix + "0",
                           &count))
        files += std::strtoull(count.c_str(), nullptr, 10);
    }
    return files > defaults::unmerged_files;
  }

  std::vector<std::string> file_boundaries(table target) const override {
    rocksdb::ColumnFamilyMetaData found;
    db_->GetColumnFamilyMetaData(column(target), &found);
    std::vector<std::string> keys;
    for (const auto& level : found.levels)
      for (const auto& file : level.files)
        keys.push_back(file.largestkey);
    std::sort(keys.begin(), keys.end());
    return keys;
  }

  expected<void> reclaim(table target, std::string_view to) override {
    const auto end = slice(to);
    return result(rocksdb::DeleteFilesInRange(db_.get(), column(target), nullptr, &end), "trim");
  }

  expected<void> rewrite(std::atomic<bool>& stop) override {
    rocksdb::CompactRangeOptions options;
    options.exclusive_manual_compaction = false;
    options.canceled = &stop;
    // Tables that shrink most first: the freed space is room for the next rewrite.
    for (const auto target : {table::bases, table::changes, table::meta, table::objects}) {
      auto* const each = column(target);
      if (const auto space = space_of(directory_);
          space && space->free_bytes < rewritten_at_once(each))
        return failure(rocksdb::Status::NoSpace(), "rewrite tables");
      const auto status = db_->CompactRange(options, each, nullptr, nullptr);
      if (!status.ok()) return failure(status, "rewrite tables");
    }
    return {};
  }
  // The bytes that exist twice during a rewrite: level 0 is merged with level 1 as a whole.
  std::uint64_t rewritten_at_once(rocksdb::ColumnFamilyHandle* family) const {
    std::uint64_t size = 0;
    db_->GetIntProperty(family, rocksdb::DB::Properties::kCurSizeAllMemTables, &size);
    rocksdb::ColumnFamilyMetaData found;
    db_->GetColumnFamilyMetaData(family, &found);
    for (const auto& level : found.levels)
      if (level.level <= 1) size += level.size;
    return size;
  }

  expected<void> health() const override { return result(listener_->first(), "write"); }

  void acknowledge(revision at) override { mark_.value(at); }
  revision acknowledged() const override { return mark_.value(); }

  expected<void> probe() override;

 private:
  rocksdb::ColumnFamilyHandle* column(table target) const {
    return handles_[static_cast<std::size_t>(target)];
  }
  tl::unexpected<error> failure(const rocksdb::Status& status, std::string_view action) const {
    return fail(translate(status, action, directory_));
  }
  expected<void> result(const rocksdb::Status& status, std::string_view action) const {
    if (!status.ok()) return failure(status, action);
    return {};
  }
  tl::unexpected<error> damaged(std::string_view level) const {
    return fail(errc::corrupt,
                fmt::format("{}: {}; {}", directory_, level, defaults::damage_remedy));
  }
  rocksdb::Status open_database(open_mode mode, const rocksdb::DBOptions& options,
                                const column_descriptors& descriptors);
  expected<void> check_files() const;
  // The number of tables; 0: a new directory.
  expected<std::size_t> check_tables(const rocksdb::DBOptions& options) const;
  expected<void> check_opened(std::size_t tables_found) const;
  std::uint64_t oldest_needed_log() const;
  void accept();
  void note_old_logs();

  std::string directory_;
  acknowledged_mark mark_;
  std::shared_ptr<directory_guard> guard_;
  std::unique_ptr<rocksdb::Env> environment_;
  std::shared_ptr<engine_listener> listener_ = std::make_shared<engine_listener>();
  std::unique_ptr<rocksdb::DB> db_;
  columns handles_{};
  std::once_flag first_write_;
};

// Without CURRENT RocksDB would create a new database and delete the existing files.
expected<void> rocks_engine::check_files() const {
  std::error_code bad;
  if (std::filesystem::exists(directory_ + "/CURRENT", bad)) return {};
  for (const auto& each : std::filesystem::directory_iterator{directory_, bad}) {
    const auto kind = each.path().extension();
    if (mark_.value() > 0 || kind == ".sst" || (kind == ".log" && each.file_size() > 0))
      return damaged("the file CURRENT is missing, but data files exist");
  }
  return {};
}

// Another version of the program may have made tables that this one does not know.
expected<std::size_t> rocks_engine::check_tables(const rocksdb::DBOptions& options) const {
  if (!environment_->FileExists(directory_ + "/CURRENT").ok()) return 0;
  std::vector<std::string> found;
  const auto status = rocksdb::DB::ListColumnFamilies(options, directory_, &found);
  if (!status.ok()) return failure(status, "open the store");
  for (const auto& name : found)
    if (std::none_of(tables.begin(), tables.end(), [&](table t) { return name == table_name(t); }))
      return fail(errc::incompatible,
                  fmt::format("the data directory {} has a table '{}' that this program does not "
                              "know: open it with the version that wrote it",
                              directory_, name));
  return found.size();
}

expected<void> rocks_engine::check_opened(std::size_t tables_found) const {
  const auto format = get(table::meta, meta_key::format);
  if (!format) return fail(format.error());
  // Until the first start has made all tables, they are empty.
  if (*format && tables_found < tables.size())
    return damaged("a table is missing as a whole, a part of the MANIFEST is lost");
  const auto noted = get(table::meta, meta_key::logs);
  if (!noted) return fail(noted.error());
  if (const auto logs = read_old_logs(noted->value_or("")))
    if (const auto lost = find_lost_log(directory_, *logs, oldest_needed_log()))
      return damaged(*lost);
  return {};
}

std::uint64_t rocks_engine::oldest_needed_log() const {
  std::uint64_t number = 0;
  db_->GetIntProperty(rocksdb::DB::Properties::kMinLogNumberToKeep, &number);
  return number;
}

// From here on the directory changes.
void rocks_engine::accept() {
  guard_->accept();
  note_old_logs();
}

// All logs except the newest, which is still being written.
void rocks_engine::note_old_logs() {
  auto found = find_old_logs(directory_, oldest_needed_log(), UINT64_MAX);
  if (!found.empty()) found.pop_back();
  const auto logs = to_text(found);
  const auto noted = get(table::meta, meta_key::logs);
  if (noted && noted->value_or("") == logs) return;
  // If this write is lost, a lost log is still detected, but not named.
  db_->Put({}, column(table::meta), slice(meta_key::logs), logs).PermitUncheckedError();
}

rocksdb::Status rocks_engine::open_database(open_mode mode, const rocksdb::DBOptions& options,
                                            const column_descriptors& descriptors) {
  std::vector<rocksdb::ColumnFamilyHandle*> made;
  rocksdb::DB* db = nullptr;
  const auto status =
      mode == open_mode::inspect
          ? rocksdb::DB::OpenForReadOnly(options, directory_, descriptors, &made, &db)
          : rocksdb::DB::Open(options, directory_, descriptors, &made, &db);
  if (!status.ok()) return status;
  db_.reset(db);
  std::copy(made.begin(), made.end(), handles_.begin());
  return status;
}

expected<void> rocks_engine::open(open_mode mode) {
  const auto space = space_of(directory_);
  const auto sizes =
      sizes_within(plan_space(space ? space->capacity_bytes : UINT64_MAX, 0).reserve_bytes,
                   memory_limit_bytes().value_or(UINT64_MAX));
  auto options = database_options(mode, sizes);
  const auto replayed = log_bytes_in(directory_);
  const bool small = replayed <= defaults::replay_kept_bytes;
  const bool full = space && space->free_bytes < 2 * replayed;
  options.avoid_flush_during_recovery = mode == open_mode::strict && (small || full);
  options.env = environment_.get();
  options.info_log = make_rocks_log();
  options.listeners.push_back(listener_);
  const bool trust = mode != open_mode::rescue;
  if (auto good = check_files(); trust && !good) return good;
  const auto known = trust ? check_tables(options) : 0;
  if (!known) return fail(known.error());
  if (mode != open_mode::inspect) sync_logs(directory_);
  column_descriptors descriptors;
  for (const auto each : tables)
    descriptors.emplace_back(table_name(each), table_options(each, sizes));
  const auto status = open_database(mode, options, descriptors);
  if (status.IsCorruption() && mode == open_mode::inspect) {
    // The open may have failed because of a noted log.
    options.wal_recovery_mode = rocksdb::WALRecoveryMode::kSkipAnyCorruptedRecords;
    if (open_database(mode, options, descriptors).ok())
      if (auto checked = check_opened(*known); !checked) return checked;
  }
  if (!status.ok()) return failure(status, "open the store");
  if (mode != open_mode::inspect) guard_->opened();
  return trust ? check_opened(*known) : expected<void>{};
}

expected<void> rocks_engine::probe() {
  const auto path = directory_ + "/probe";
  std::unique_ptr<rocksdb::WritableFile> file;
  auto status = environment_->NewWritableFile(path, &file, {});
  if (status.ok()) status = file->Append(std::string(defaults::probe_bytes, '\0'));
  if (status.ok()) status = file->Sync();
  if (file) {
    const auto closed = file->Close();
    if (status.ok()) status = closed;
  }
  environment_->DeleteFile(path).PermitUncheckedError();
  return result(status, "write");
}

}  // namespace

engine_factory rocks_engine_in(std::string directory, std::shared_ptr<rocksdb::FileSystem> files) {
  return [directory = std::move(directory),
          files = std::move(files)](open_mode mode) -> expected<std::unique_ptr<engine>> {
    std::error_code bad;
    // Only the owner has access: the store contains secrets.
    if (std::filesystem::create_directories(directory, bad))
      std::filesystem::permissions(directory, std::filesystem::perms::owner_all, bad);
    if (bad)
      return fail(errc::io,
                  fmt::format("cannot make the data directory {}: {}", directory, bad.message()));
    auto made = std::make_unique<rocks_engine>(directory, files);
    if (auto opened = made->open(mode); !opened) return fail(std::move(opened.error()));
    return made;
  };
}

}  // namespace troupe::persistence
