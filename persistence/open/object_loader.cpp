#include "persistence/open/object_loader.hpp"

#include <google/protobuf/message.h>
#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <optional>
#include <system_error>
#include <thread>
#include <vector>

#include "api/object/object.hpp"
#include "persistence/defaults.hpp"
#include "persistence/engine/memory_limit.hpp"
#include "persistence/format/record.hpp"

namespace troupe::persistence {

namespace {

struct row {
  std::string key;
  std::string value;
  revision created = 0;
  std::uint32_t stored_bytes = 0;
  expected<api::object_ptr> object{nullptr};
};

expected<api::object_ptr> decode(const row& from, const stored_state& state) {
  const auto kind = api::kind_of_stored(from.key, state.object);
  if (!kind)
    return fail(
        errc::incompatible,
        fmt::format("the store holds {}, of a kind that this program does not know: open it "
                    "with the version that wrote it",
                    from.key));
  auto made = api::object::from_storage(*kind, state.object, state.modified);
  if (!made)
    return fail(errc::corrupt, fmt::format("{} cannot be read: {}; {}", from.key,
                                           made.error().message, defaults::damage_remedy));
  return std::move(*made);
}

void decode(row& r) {
  if (const auto state = read_state(r.value))
    r.object = decode(r, *state);
  else
    r.object = fail(errc::corrupt, fmt::format("the row of {} is malformed", r.key));
}

void decode(std::vector<row>& rows) {
  const std::size_t helpers =
      rows.size() < defaults::parallel_decode_from
          ? 1
          : std::clamp<std::size_t>(std::thread::hardware_concurrency(), 1, 8);
  const auto part = [&rows, helpers](std::size_t index) {
    for (auto i = rows.size() * index / helpers; i < rows.size() * (index + 1) / helpers; ++i)
      decode(rows[i]);
  };
  std::vector<std::thread> threads;
  threads.reserve(helpers);
  for (std::size_t i = 1; i < helpers; ++i) {
    try {
      threads.emplace_back(part, i);
    } catch (const std::system_error&) {
      part(i);  // no thread could be created
    }
  }
  part(0);
  for (auto& each : threads)
    each.join();
}

// The memory that a sample of the objects takes.
struct memory_sample {
  std::uint64_t stored_bytes = 0, decoded_bytes = 0, text_bytes = 0;

  // An unreadable row counts with its stored size: it is refused later.
  void add(row r) {
    decode(r);
    stored_bytes += r.value.size();
    if (!r.object || (*r.object)->kind().options().compact()) {
      decoded_bytes += r.value.size();
      return;
    }
    const auto& content = (*r.object)->content();
    decoded_bytes += content.SpaceUsedLong() * defaults::memory_percent / 100;
    text_bytes += r.value.size() * defaults::text_percent / 100;
    if (content.GetDescriptor()->FindFieldByName("status") != nullptr)
      decoded_bytes += defaults::memory_per_actor;
  }

  // The estimate for all objects, from this sample.
  std::uint64_t needed_bytes(std::uint64_t all_objects, std::uint64_t all_bytes) const {
    const auto times = stored_bytes == 0 ? 0 : double(all_bytes) / double(stored_bytes);
    return defaults::program_bytes + all_objects * defaults::memory_per_object +
           static_cast<std::uint64_t>(
               double(decoded_bytes) * times +
               std::min<double>(double(text_bytes) * times, defaults::most_text_bytes));
  }
};

expected<void> insert(std::vector<row>& rows, tree_edit& into) {
  decode(rows);
  for (auto& each : rows) {
    if (!each.object) return fail(std::move(each.object.error()));
    const auto& object = **each.object;
    if (!object.kind().options().compact())
      into.put(each.key, std::move(*each.object), each.created, each.stored_bytes);
    else if (const auto state =
                 read_state(each.value))  // decoded only to check that it is readable
      into.put(each.key, stored_object{&object.kind(), object.revision(), state->object},
               each.created);
  }
  rows.clear();
  return {};
}

}  // namespace

expected<void> check_memory(const engine& disk, std::uint64_t limit_bytes) {
  const auto limit = limit_bytes != 0 ? std::optional{limit_bytes} : memory_limit_bytes();
  // The table's size may include deleted rows; the rows are counted only if it matters.
  const auto most = disk.size_bytes(table::objects) * defaults::memory_factor;
  if (!limit || defaults::program_bytes + most <= *limit) return {};
  std::uint64_t objects = 0, bytes = 0;
  memory_sample sample;
  auto done = disk.scan(table::objects, {}, [&](std::string_view key, std::string_view value) {
    bytes += value.size();
    if (objects++ % defaults::memory_sample == 0)
      sample.add({std::string{key}, std::string{value}});
    return true;
  });
  if (!done) return done;
  const auto needed = sample.needed_bytes(objects, bytes);
  if (needed <= *limit) return {};
  constexpr std::uint64_t mebibyte = 1u << 20;
  return fail(
      errc::no_memory,
      fmt::format("{} objects of {} MiB in all need some {} MiB of memory, and this process "
                  "may use {} MiB: give its control group more",
                  objects, bytes / mebibyte, needed / mebibyte, *limit / mebibyte));
}

expected<void> load_objects(const engine& disk, revision last, log_fold& fold, tree_edit& into) {
  // Decodes in parts, so that never all stored bytes are in memory at once.
  const std::size_t part = 2 * defaults::parallel_decode_from;
  std::size_t part_bytes = 0;
  std::vector<row> rows;
  expected<void> result;
  auto done = disk.scan(table::objects, {}, [&](std::string_view key, std::string_view value) {
    row next{std::string{key}, std::string{value}};
    if (const auto state = read_state(value)) {
      fold.compare(key, *state);
      next.created = state->created;
      next.stored_bytes = static_cast<std::uint32_t>(state->object.size());
      if (state->modified > last)
        result = fail(errc::corrupt,
                      fmt::format("{} is of revision {}, but the newest change is of {}; {}", key,
                                  state->modified, last, defaults::damage_remedy));
    }
    part_bytes += value.size();
    rows.push_back(std::move(next));
    const bool full = rows.size() >= part || part_bytes >= defaults::decode_bytes;
    if (result && full) {
      result = insert(rows, into);
      part_bytes = 0;
    }
    return result.has_value();
  });
  if (!done) return done;
  if (!result) return result;
  return insert(rows, into);
}

}  // namespace troupe::persistence
