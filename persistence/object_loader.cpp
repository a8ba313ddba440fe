#include "persistence/object_loader.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <thread>
#include <vector>

#include "api/scheme.hpp"
#include "persistence/defaults.hpp"
#include "persistence/record.hpp"

namespace troupe::persistence {

namespace {

struct row {
  std::string key;
  std::string value;
  revision created = 0;
  expected<api::object_ptr> object{nullptr};
};

expected<api::object_ptr> decode(const row& from, const stored_state& state) {
  const auto* kind = api::scheme::instance().find_key(from.key);
  if (kind == nullptr)
    return fail(
        errc::incompatible,
        fmt::format("the store holds {}, of a kind that this program does not know: open it "
                    "with the version that wrote it",
                    from.key));
  auto made = api::object::from_storage(*kind, state.object, state.modified);
  if (!made)
    return fail(errc::corrupt, fmt::format("{} cannot be read: {}; restore a backup", from.key,
                                           made.error().message));
  return std::move(*made);
}

void decode(row& r) {
  if (const auto state = read_state(r.value))
    r.object = decode(r, *state);
  else
    r.object = fail(errc::corrupt, fmt::format("the row of {} makes no sense", r.key));
}

void decode(std::vector<row>& rows) {
  const std::size_t helpers =
      rows.size() < defaults::parallel_decode_from
          ? 1
          : std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
  const auto part = [&rows, helpers](std::size_t which) {
    for (auto i = rows.size() * which / helpers; i < rows.size() * (which + 1) / helpers; ++i)
      decode(rows[i]);
  };
  std::vector<std::thread> threads;
  for (std::size_t i = 1; i < helpers; ++i)
    threads.emplace_back(part, i);
  part(0);
  for (auto& each : threads)
    each.join();
}

expected<void> insert(std::vector<row>& rows, tree_edit& into) {
  decode(rows);
  for (auto& each : rows) {
    if (!each.object) return fail(std::move(each.object.error()));
    const auto& object = **each.object;
    if (!object.kind().options().compact())
      into.put(each.key, std::move(*each.object), each.created);
    else if (const auto state =
                 read_state(each.value))  // it was decoded only to see that it can be
      into.put(each.key, stored_object{&object.kind(), object.revision(), state->object},
               each.created);
  }
  rows.clear();
  return {};
}

}  // namespace

expected<void> load_objects(const engine& disk, revision last, log_fold& fold, tree_edit& into) {
  // Decoded in parts, so that the stored form of everything is never in memory at once.
  const std::size_t part = 2 * defaults::parallel_decode_from;
  std::vector<row> rows;
  expected<void> result;
  auto done = disk.scan(table::objects, {}, [&](std::string_view key, std::string_view value) {
    row next{std::string{key}, std::string{value}};
    if (const auto state = read_state(value)) {
      fold.compare(key, *state);
      next.created = state->created;
      if (state->modified > last)
        result = fail(errc::corrupt,
                      fmt::format("{} is of revision {}, but the newest change is of {}; restore a "
                                  "backup",
                                  key, state->modified, last));
    }
    rows.push_back(std::move(next));
    if (result && rows.size() >= part) result = insert(rows, into);
    return result.has_value();
  });
  if (!done) return done;
  if (!result) return result;
  return insert(rows, into);
}

}  // namespace troupe::persistence
