#include "persistence/open/open_checks.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>

#include "persistence/defaults.hpp"
#include "persistence/format/record.hpp"

namespace troupe::persistence {

namespace {

// Walks along the log and records the first missing revision.
class log_walk {
 public:
  log_walk(const engine& disk, const log_facts& log, revision from)
      : disk_{disk}, log_{log}, at_{from} {}

  // Continues at `from`, which must exist, until it has seen a later revision.
  expected<void> cross(revision from) { return walk(from, false); }
  expected<void> to_the_end(revision from) { return walk(from, true); }

  std::optional<std::string> hole() const { return hole_; }

 private:
  expected<void> walk(revision from, bool to_the_end) {
    at_ = from;
    return disk_.scan(
        table::changes, change_key({from, 0}), [&](std::string_view key, std::string_view) {
          const auto id = read_change_key(key);
          if (!id) hole_ = "a key of the change log is malformed";
          if (hole_ || id->at == at_) return !hole_;
          // Most revisions follow directly: no look-up of gaps.
          const auto next = id->at == at_ + 1 ? id->at : log_.gaps.next(at_);
          if (id->at != next)
            hole_ = fmt::format("the changes of revisions {} to {} are missing", next, id->at - 1);
          at_ = id->at;
          return to_the_end && !hole_;
        });
  }

  const engine& disk_;
  const log_facts& log_;
  revision at_;
  std::optional<std::string> hole_;
};

}  // namespace

std::string salvaged_copy_of(const std::string& directory) {
  return directory + ".salvage-made";
}

expected<void> check_salvage_ended(const std::string& directory) {
  if (directory.empty()) return {};  // a store in memory
  namespace fs = std::filesystem;
  std::error_code bad;
  const auto copy = salvaged_copy_of(directory);
  if (!fs::exists(copy, bad) || (fs::exists(directory, bad) && !fs::is_empty(directory, bad)))
    return {};
  return fail(errc::corrupt,
              fmt::format("{0} is missing, and {1} exists: `troupe store salvage` was interrupted; "
                          "rename {1} to {0}, or remove {1} to begin with an empty store",
                          directory, copy));
}

expected<std::optional<sealed_state>> read_sealed(const engine& disk, std::uint64_t format) {
  auto text = disk.get(table::meta, meta_key::digest);
  if (!text) return fail(std::move(text.error()));
  const auto found = sealed_state::read(text->value_or(""));
  if (!found && format > defaults::oldest_format)
    return fail(errc::corrupt, fmt::format("the store's digest is malformed: '{}'; a part of the "
                                           "store is missing",
                                           text->value_or("")));
  return found;
}

expected<void> check_log(const engine& disk, const sealed_state& sealed, const log_facts& log) {
  if (log.last < sealed.at || (log.last > sealed.at && log.last > log.compacted))
    return fail(errc::corrupt,
                fmt::format("the last batch was of revision {}, the change log ends with {}",
                            sealed.at, log.last));
  const auto begin = std::max({log.compacted, sealed.since, log.gaps.known_from()});
  if (begin >= log.last) return {};
  log_walk walk{disk, log, begin};
  auto done = walk.cross(begin);
  auto newest = begin;
  for (const auto& each : disk.file_boundaries(table::changes)) {
    if (!done || walk.hole()) break;
    const auto id = read_change_key(each);
    if (!id || id->at <= begin || id->at > log.last) continue;
    done = walk.cross(id->at);
    newest = std::max(newest, id->at);
  }
  if (done && !walk.hole()) done = walk.to_the_end(newest);
  if (!done) return done;
  if (walk.hole()) return fail(errc::corrupt, *walk.hole());
  return {};
}

expected<void> check_objects(const sealed_state& sealed, const state_digest& found) {
  if (sealed.digest == found) return {};
  const auto count = sealed.digest.objects();
  return fail(errc::corrupt,
              count == found.objects()
                  ? fmt::format("some of the {} objects are not as they were at revision {}", count,
                                sealed.at)
                  : fmt::format("there were {} objects at revision {}, {} are there", count,
                                sealed.at, found.objects()));
}

expected<void> check_acknowledged(const engine& disk, revision last) {
  const auto promised = disk.acknowledged();
  if (promised <= std::max(last, defaults::first_revision)) return {};
  return fail(
      errc::corrupt,
      fmt::format("writes up to revision {} were acknowledged, the disk has them only up to "
                  "{}: its write-ahead log is damaged",
                  promised, last));
}

}  // namespace troupe::persistence
