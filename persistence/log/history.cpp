#include "persistence/log/history.hpp"

#include <google/protobuf/message.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <string>
#include <unordered_map>
#include <unordered_set>

#include "api/object/object.hpp"
#include "persistence/defaults.hpp"

namespace troupe::persistence {

namespace {

struct row {
  std::string key;
  std::string value;
};

expected<std::vector<row>> read_rows(const engine& disk, revision after, revision up_to,
                                     std::size_t limit) {
  std::vector<row> rows;
  revision last = 0;
  auto done = disk.scan(table::changes, change_key({after + 1, 0}),
                        [&](std::string_view key, std::string_view value) {
                          const auto id = read_change_key(key);
                          if (id && id->at > up_to) return false;
                          if (id && rows.size() >= limit && id->at != last) return false;
                          if (id) last = id->at;
                          rows.push_back({std::string{key}, std::string{value}});
                          return true;
                        });
  if (!done) return fail(std::move(done.error()));
  return rows;
}

// Turns rows into changes, one after the other; caches the objects that it decodes.
class change_reader {
 public:
  change_reader(const engine& disk, const tree_root& now) : disk_{disk}, now_{now} {}

  expected<change> read(const row& from) {
    const auto id = read_change_key(from.key);
    const auto record = read_change(from.value);
    if (!id || !record) return fail(errc::corrupt, "the record is malformed");
    change made;
    made.at = id->at;
    made.type = record->type;
    made.key = record->key;
    made.cause = record->cause;
    made.time = record->time;
    if (record->type != change_type::created) {
      auto before = state_at(record->previous, made.key);
      if (!before) return fail(std::move(before.error()));
      made.previous = std::move(*before);
    }
    auto state = record->type == change_type::removed ? tombstone(*made.previous, id->at)
                                                      : decode(made.key, record->object, id->at);
    if (!state) return fail(std::move(state.error()));
    made.object = std::move(*state);
    made.stored_bytes = static_cast<std::uint32_t>(
        made.type == change_type::removed ? made.object->encoded_bytes() : record->object.size());
    newest_[made.key] = made.object;
    return made;
  }

  // The object that the change at `at` left.
  expected<api::object_ptr> state_at(revision at, std::string_view key) {
    if (const auto known = newest_.find(std::string{key});
        known != newest_.end() && known->second->revision() == at)
      return known->second;
    auto in_log = from_log(at, key);
    if (!in_log || *in_log != nullptr) return in_log;
    auto base = disk_.get(table::bases, base_key(at, key));
    if (!base) return fail(std::move(base.error()));
    const auto state = *base ? read_state(**base) : std::nullopt;
    if (!state)
      return fail(errc::corrupt, fmt::format("the state of {} at revision {} is missing", key, at));
    return decode(key, state->object, at);
  }

  // Of all objects that were decoded.
  std::size_t decoded_bytes() const noexcept { return decoded_bytes_; }

 private:
  static expected<api::object_ptr> tombstone(const api::object& last, revision at) {
    return std::make_shared<const api::object>(last.kind(), last.copy(), at);
  }

  expected<api::object_ptr> decode(std::string_view key, std::string_view bytes, revision at) {
    const entry* current = now_.find(key);
    if (current != nullptr && current->modified() == at) return current->object();
    decoded_bytes_ += bytes.size();
    const auto kind = api::kind_of_stored(key, bytes);
    if (!kind) return fail(errc::corrupt, "unknown kind of " + std::string{key});
    auto made = api::object::from_storage(*kind, bytes, at);
    if (!made) return fail(errc::corrupt, made.error().message);
    return std::move(*made);
  }

  // Null if the log does not reach back to `at`.
  expected<api::object_ptr> from_log(revision at, std::string_view key) {
    expected<api::object_ptr> found{nullptr};
    auto done = disk_.scan(table::changes, change_key({at, 0}),
                           [&](std::string_view row_key, std::string_view value) {
                             const auto id = read_change_key(row_key);
                             if (!id || id->at != at) return false;
                             const auto record = read_change(value);
                             if (!record || record->key != key) return true;
                             found = decode(key, record->object, at);
                             return false;
                           });
    if (!done) return fail(std::move(done.error()));
    return found;
  }

  const engine& disk_;
  const tree_root& now_;
  std::unordered_map<std::string, api::object_ptr> newest_;
  std::size_t decoded_bytes_ = 0;
};

std::string name_of(std::string_view key) {
  const auto id = read_change_key(key);
  return id ? fmt::format("revision {}, change {}", id->at, id->index) : "a malformed change";
}

// The error of a record that could not be read, unless it was compacted meanwhile.
error unreadable(const engine& disk, revision after, const std::string& place, error reason) {
  if (reason.code != errc::corrupt) return reason;
  const auto compacted = disk.get(table::meta, meta_key::compacted);
  if (compacted && *compacted && read_number(**compacted).value_or(0) > after)
    return {errc::compacted, fmt::format("the changes after revision {} were compacted", after)};
  return {errc::corrupt, fmt::format("the history cannot be read at {}: {}; {}", place,
                                     reason.message, defaults::damage_remedy)};
}

// The first change of a key after a revision.
struct first_change {
  std::string key;
  revision created = 0, previous = 0;  // of the state before it; 0: there was none
};

expected<std::vector<first_change>> read_first_changes(const engine& disk, revision after,
                                                       revision up_to, std::size_t limit) {
  std::vector<first_change> found;
  std::unordered_set<std::string> keys;
  std::size_t count = 0;
  std::optional<error> failure;
  const auto take = [&](std::string_view key, std::string_view value) {
    const auto id = read_change_key(key);
    if (id && id->at > up_to) return false;
    const auto record = id ? read_change(value) : std::nullopt;
    if (!record)
      failure = unreadable(disk, after, name_of(key), {errc::corrupt, "the record is malformed"});
    else if (++count > limit)
      failure = error{errc::compacted,
                      fmt::format("more than {} changes have followed revision {}", limit, after)};
    else if (keys.emplace(record->key).second)
      found.push_back({std::string{record->key}, record->created, record->previous});
    return !failure;
  };
  auto done = disk.scan(table::changes, change_key({after + 1, 0}), take);
  if (!done) return fail(std::move(done.error()));
  if (failure) return fail(std::move(*failure));
  return found;
}

}  // namespace

expected<revision> last_revision(const engine& disk) {
  auto key = disk.last_key(table::changes);
  if (!key) return fail(std::move(key.error()));
  revision last = 0;
  if (*key) {
    const auto id = read_change_key(**key);
    if (!id) return fail(errc::corrupt, "the newest key of the change log is malformed");
    last = id->at;
  }
  auto compacted = disk.get(table::meta, meta_key::compacted);
  if (!compacted) return fail(std::move(compacted.error()));
  if (*compacted) last = std::max(last, read_number(**compacted).value_or(0));
  return last;
}

expected<std::vector<change>> read_changes(const engine& disk, const tree_root& now, revision after,
                                           revision up_to, std::size_t limit) {
  auto rows = read_rows(disk, after, up_to, limit);
  if (!rows) return fail(std::move(rows.error()));
  std::vector<change> found;
  found.reserve(rows->size());
  change_reader reader{disk, now};
  for (const auto& each : *rows) {
    auto made = reader.read(each);
    if (!made) return fail(unreadable(disk, after, name_of(each.key), std::move(made.error())));
    found.push_back(std::move(*made));
  }
  return found;
}

expected<std::shared_ptr<const tree_root>> rebuild_state(const engine& disk, const tree_root& now,
                                                         revision at,
                                                         const rebuild_limits& limits) {
  const auto changed = read_first_changes(disk, at, now.at(), limits.changes);
  if (!changed) return fail(changed.error());
  change_reader reader{disk, now};
  tree_edit edit{now};
  for (const auto& each : *changed) {
    if (each.previous == 0) {
      edit.remove(each.key);
      continue;
    }
    auto before = reader.state_at(each.previous, each.key);
    if (!before) return fail(unreadable(disk, at, each.key, std::move(before.error())));
    if (reader.decoded_bytes() > limits.bytes)
      return fail(errc::compacted, fmt::format("the objects that have changed since revision {} "
                                               "had more than {} bytes",
                                               at, limits.bytes));
    edit.put(each.key, std::move(*before), each.created);
  }
  return edit.freeze(at);
}

}  // namespace troupe::persistence
