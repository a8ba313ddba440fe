#include "persistence/repair/damaged_state.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <set>

#include "api/object/object.hpp"
#include "api/scheme.hpp"
#include "persistence/defaults.hpp"
#include "persistence/engine/rocks_engine.hpp"
#include "persistence/engine/rocks_rescue.hpp"
#include "persistence/format/record.hpp"
#include "persistence/open/loader.hpp"
#include "persistence/open/open_checks.hpp"

namespace troupe::persistence {

namespace {

// Above this number, lines of the same kind are only counted.
constexpr std::size_t lines_of_a_kind = 100;

class reader {
 public:
  // Adds the content of another database with parts of the same store.
  void add(const engine& disk) {
    disk_ = &disk;
    read_numbers();
    take_objects();
    take_changes();
  }

  // True if everything that the last batch wrote is present.
  bool is_whole() const {
    if (!sealed_) return false;
    state_digest found;
    for (const auto& [key, state] : found_.objects)
      found.add(key, state.created, state.modified);
    return found == sealed_->digest;
  }

  damaged_state finish() {
    note_holes();
    drop_unreadable();
    note_sources();
    if (found_.cluster_id.empty()) lose("the id of the cluster is lost: a new one was made");
    return std::move(found_);
  }

 private:
  void lose(std::string line) {
    auto& all = found_.losses;
    if (std::find(all.begin(), all.end(), line) == all.end()) all.push_back(std::move(line));
  }

  // Visits the readable rows of a table, in order; skips damaged blocks.
  void scan(table target, const char* name, const engine::visitor& visit) {
    std::string last;
    const auto remember = [&](std::string_view key, std::string_view value) {
      last = key;
      return visit(key, value);
    };
    for (auto done = disk_->scan(target, {}, remember); !done;) {
      const auto next = first_readable(target, last);
      lose(fmt::format("a part of the table {} cannot be read, after {} and before {}", name,
                       printable(target, last), next ? printable(target, *next) : "its end"));
      if (!next) return;
      done = disk_->scan(target, *next, remember);
    }
  }

  static std::string printable(table target, const std::string& key) {
    if (key.empty()) return "its begin";
    const auto id = target == table::changes ? read_change_key(key) : std::nullopt;
    return id ? fmt::format("revision {}", id->at) : key;
  }

  // The first key behind the damage that follows `after`, found byte by byte: below some bound
  // every read fails, above it none does.
  std::optional<std::string> first_readable(table target, const std::string& after) const {
    std::optional<std::string> found;
    std::string below;  // fails, as does everything between `after` and it
    while (below.size() <= std::max(after.size(), found ? found->size() : 0) + 1) {
      int low = 0, high = 256;
      while (low < high) {
        const int middle = (low + high) / 2;
        std::optional<std::string> seen;
        if (readable(target, below + static_cast<char>(middle), after, seen)) {
          found = std::move(seen);
          high = middle;
        } else {
          low = middle + 1;
        }
      }
      if (high == 0) break;
      below.push_back(static_cast<char>(high - 1));
    }
    return found;
  }

  bool readable(table target, const std::string& from, const std::string& after,
                std::optional<std::string>& seen) const {
    if (from <= after) return false;
    return disk_
        ->scan(target, from,
               [&](std::string_view key, std::string_view) {
                 seen = key;
                 return false;
               })
        .has_value();
  }

  void read_numbers() {
    for (const auto name : {meta_key::floor, meta_key::compacted, meta_key::horizon}) {
      const auto number = read_meta(*disk_, name);
      if (!number) continue;
      found_.at = std::max(found_.at, *number);
      if (name == meta_key::compacted) compacted_ = std::max(compacted_, *number);
    }
    if (const auto id = disk_->get(table::meta, meta_key::cluster); id && *id)
      found_.cluster_id = **id;
    if (const auto sealed = read_sealed(*disk_, defaults::oldest_format); sealed && *sealed)
      if (!sealed_ || sealed_->at < (*sealed)->at) sealed_ = *sealed;
    if (sealed_) found_.at = std::max(found_.at, sealed_->at);
    acknowledged_ = std::max(acknowledged_, disk_->acknowledged());
    found_.at = std::max({found_.at, acknowledged_, defaults::first_revision});
    if (auto gaps = read_gaps(*disk_); gaps && gaps->str().size() > gaps_.str().size())
      gaps_ = std::move(*gaps);
  }

  void take_objects() {
    scan(table::objects, "objects", [&](std::string_view key, std::string_view value) {
      if (const auto state = read_state(value))
        take(std::string{key}, {state->created, state->modified, std::string{state->object}});
      else
        lose(fmt::format("the row of {} is malformed", key));
      return true;
    });
  }

  void take_changes() {
    scan(table::changes, "changes", [&](std::string_view key, std::string_view value) {
      const auto id = read_change_key(key);
      const auto record = read_change(value);
      if (!id || !record) {
        lose("a record of the change log is malformed");
        return true;
      }
      revisions_.insert(id->at);
      const std::string name{record->key};
      if (record->type == change_type::removed)
        remove(name, id->at);
      else if (take(name, {record->created, id->at, std::string{record->object}}))
        from_log_[name] = id->at;
      return true;
    });
  }

  // The newest state wins, from any source. Returns true if it is this one.
  bool take(const std::string& key, damaged_state::state state) {
    found_.at = std::max(found_.at, state.modified);
    if (const auto gone = removed_.find(key);
        gone != removed_.end() && gone->second > state.modified)
      return false;
    auto& kept = found_.objects[key];
    if (kept.modified >= state.modified) return false;
    kept = std::move(state);
    from_log_.erase(key);
    return true;
  }

  void remove(const std::string& key, revision at) {
    found_.at = std::max(found_.at, at);
    removed_[key] = std::max(removed_[key], at);
    const auto kept = found_.objects.find(key);
    if (kept == found_.objects.end() || kept->second.modified > at) return;
    found_.objects.erase(kept);
    from_log_.erase(key);
  }

  void note_holes() {
    auto last = std::max({compacted_, sealed_ ? sealed_->since : 0, gaps_.known_from()});
    std::size_t holes = 0;
    const auto missing = [&](revision from, revision to) {
      if (++holes <= lines_of_a_kind)
        lose(fmt::format("the changes of revisions {} to {} are missing: what they did is unknown",
                         from, to));
    };
    for (auto at = revisions_.upper_bound(last); at != revisions_.end(); last = *at++)
      if (const auto next = gaps_.next(last); *at > next) missing(next, *at - 1);
    const auto wanted = std::max(acknowledged_, sealed_ ? sealed_->at : 0);
    if (last < wanted) missing(last + 1, wanted);
    if (holes > lines_of_a_kind)
      lose(fmt::format("{} more gaps of the change log are missing", holes - lines_of_a_kind));
  }

  void drop_unreadable() {
    std::erase_if(found_.objects, [&](const auto& each) {
      const auto& [key, state] = each;
      const auto kind = api::kind_of_stored(key, state.bytes);
      const bool good = kind && api::object::from_storage(*kind, state.bytes, state.modified);
      if (!good) lose(fmt::format("{} at revision {} cannot be read", key, state.modified));
      return !good;
    });
  }

  void note_sources() {
    std::size_t lines = 0;
    for (const auto& [key, at] : from_log_)
      if (++lines <= lines_of_a_kind)
        lose(fmt::format("{} was taken from the change log, as of revision {}", key, at));
    if (lines > lines_of_a_kind)
      lose(fmt::format("{} more were taken from the change log", lines - lines_of_a_kind));
    if (sealed_ && sealed_->digest.objects() != found_.objects.size())
      lose(fmt::format("there were {} objects at revision {}, {} are kept",
                       sealed_->digest.objects(), sealed_->at, found_.objects.size()));
  }

  const engine* disk_ = nullptr;
  damaged_state found_;
  revision compacted_ = 0, acknowledged_ = 0;
  std::optional<sealed_state> sealed_;
  revision_gaps gaps_;
  std::map<std::string, revision> from_log_, removed_;
  std::set<revision> revisions_;
};

}  // namespace

expected<damaged_state> read_damaged(const std::string& copy) {
  reader all;
  const auto add = [&all](const std::string& directory) {
    if (const auto disk = rocks_engine_in(directory)(open_mode::rescue)) all.add(**disk);
  };
  const auto logs = copy + "/logs";
  prepare_rescue(copy, logs);
  add(copy);
  if (!all.is_whole()) {
    rebuild_manifest(copy);
    add(copy);
    add(logs);
  }
  auto found = all.finish();
  if (found.objects.empty() && found.cluster_id.empty())
    return fail(errc::corrupt, "nothing in it can be read; restore a backup");
  return found;
}

}  // namespace troupe::persistence
