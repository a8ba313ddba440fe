#include "persistence/repair/salvage.hpp"

#include <rocksdb/env.h>
#include <spdlog/fmt/chrono.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>

#include "persistence/defaults.hpp"
#include "persistence/engine/replica_mark.hpp"
#include "persistence/engine/rocks_engine.hpp"
#include "persistence/format/record.hpp"
#include "persistence/open/cluster_id.hpp"
#include "persistence/open/open_checks.hpp"
#include "persistence/repair/damaged_state.hpp"
#include "persistence/repair/replace_directory.hpp"
#include "persistence/repair/verify.hpp"

namespace troupe::persistence {

namespace {

namespace fs = std::filesystem;

// The same lock as RocksDB's.
class directory_lock {
 public:
  explicit directory_lock(const std::string& directory) {
    held_ = rocksdb::Env::Default()->LockFile(directory + "/LOCK", &lock_).ok();
  }
  ~directory_lock() {
    if (held_) rocksdb::Env::Default()->UnlockFile(lock_).PermitUncheckedError();
  }
  directory_lock(const directory_lock&) = delete;
  directory_lock& operator=(const directory_lock&) = delete;
  bool held() const noexcept { return held_; }

 private:
  rocksdb::FileLock* lock_ = nullptr;
  bool held_ = false;
};

// A path that the destructor removes.
struct scratch {
  std::string path;
  ~scratch() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

// Empty: no damage. An error: it cannot be repaired here.
expected<std::string> damage_of(const std::string& directory) {
  auto found = verify(directory);
  if (found) return found->problems.empty() ? std::string{} : found->problems.front();
  if (found.error().code != errc::corrupt && found.error().code != errc::io)
    return fail(std::move(found.error()));
  if (!is_store(directory)) return fail(std::move(found.error()));
  return found.error().message;
}

expected<void> write_objects(engine& to, const damaged_state& recovered) {
  auto rows = to.make_batch();
  for (const auto& [key, state] : recovered.objects) {
    rows->put(table::objects, key, state_head(state.created, state.modified), state.bytes);
    if (rows->size_bytes() < defaults::batch_bytes) continue;
    if (auto done = to.write(*rows, durability::buffered); !done) return done;
    rows->clear();
  }
  return to.write(*rows, durability::buffered);
}

// Writes the rows that make it a store last: half a copy is not a store.
expected<void> write_store(const std::string& directory, const damaged_state& recovered) {
  auto made = rocks_engine_in(directory)(open_mode::strict);
  if (!made) return fail(std::move(made.error()));
  if (auto done = write_objects(**made, recovered); !done) return done;
  sealed_state sealed{recovered.at, recovered.at, {}};
  for (const auto& [key, state] : recovered.objects)
    sealed.digest.add(key, state.created, state.modified);
  auto rows = (*made)->make_batch();
  const auto at = std::to_string(recovered.at);
  rows->put(table::meta, meta_key::format, std::to_string(defaults::format_version));
  rows->put(table::meta, meta_key::cluster,
            recovered.cluster_id.empty() ? make_cluster_id() : recovered.cluster_id);
  for (const auto name : {meta_key::floor, meta_key::compacted, meta_key::horizon})
    rows->put(table::meta, name, at);
  rows->put(table::meta, meta_key::digest, sealed.str());
  auto done = (*made)->write(*rows, durability::synced);
  if (done) (*made)->acknowledge(recovered.at);
  return done;
}

expected<void> check(const std::string& made) {
  const auto found = verify(made);
  if (!found) return fail(found.error());
  if (!found->problems.empty()) return fail(errc::corrupt, found->problems.front());
  return {};
}

std::string folder_aside(const std::string& directory) {
  const auto now = std::chrono::system_clock::now();
  const auto name = fmt::format("{}.damaged-{:%Y%m%dT%H%M%SZ}", directory,
                                fmt::gmtime(std::chrono::system_clock::to_time_t(now)));
  // Another directory may have been moved there within the same second.
  auto free = name;
  for (int i = 2; fs::exists(free) && i < 1'000; ++i)
    free = fmt::format("{}-{}", name, i);
  return free;
}

}  // namespace

expected<salvage_report> salvage(const std::string& wanted) {
  auto directory = fs::path{wanted}.lexically_normal().string();
  while (directory.size() > 1 && directory.back() == '/')
    directory.pop_back();
  if (is_replica(directory)) return fail(replica_refusal(directory));
  salvage_report report;
  auto damage = damage_of(directory);
  if (!damage) return fail(std::move(damage.error()));
  if (damage->empty()) return report;
  report.damage = std::move(*damage);
  const directory_lock lock{directory};
  if (!lock.held())
    return fail(errc::locked, fmt::format("{} is in use; stop what uses it", directory));

  const scratch copy{directory + ".salvage-copy"}, made{salvaged_copy_of(directory)};
  std::error_code bad;
  for (const auto* each : {&copy, &made})
    fs::remove_all(each->path, bad);
  fs::copy(directory, copy.path, bad);
  if (bad) return fail(errc::io, fmt::format("cannot copy {}: {}", directory, bad.message()));
  auto recovered = read_damaged(copy.path);
  if (!recovered) return fail(std::move(recovered.error()));
  auto done = write_store(made.path, *recovered);
  if (done) done = check(made.path);
  if (!done) return fail(std::move(done.error()));

  report.old_directory = folder_aside(directory);
  done = replace_directory(directory, made.path, report.old_directory);
  if (!done) return fail(std::move(done.error()));
  report.at = recovered->at;
  report.objects = recovered->objects.size();
  report.losses = std::move(recovered->losses);
  return report;
}

}  // namespace troupe::persistence
