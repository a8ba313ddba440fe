#include "persistence/move/directory_state.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "persistence/engine/replica_mark.hpp"
#include "persistence/engine/rocks_engine.hpp"
#include "persistence/format/record.hpp"
#include "persistence/move/defaults.hpp"
#include "persistence/move/rename_into_place.hpp"
#include "persistence/repair/verify.hpp"
#include "persistence/replica/log_record.hpp"

namespace troupe::persistence {

namespace fs = std::filesystem;

// -- the source -----------------------------------------------------------------------------------

expected<std::unique_ptr<directory_source>> directory_source::open(const std::string& directory) {
  const auto checked = verify(directory);
  if (!checked) return fail(checked.error());
  if (!checked->problems.empty())
    return fail(errc::corrupt, fmt::format("{}: {}", directory, checked->problems.front()));
  auto disk = open_engine(rocks_engine_in(directory), open_mode::strict);
  if (!disk) return fail(std::move(disk.error()));
  auto cluster = (*disk)->get(table::meta, meta_key::cluster);
  if (!cluster) return fail(std::move(cluster.error()));
  // Clients may have seen revisions up to the floor, although no records of them exist.
  const auto floor = (*disk)->get(table::meta, meta_key::floor);
  if (!floor) return fail(floor.error());
  const auto at = std::max(checked->last, read_number(floor->value_or("0")).value_or(0));
  return std::unique_ptr<directory_source>{
      new directory_source{std::move(*disk), {cluster->value_or(""), at}}};
}

directory_source::directory_source(std::unique_ptr<engine> disk, cluster_head head)
    : disk_{std::move(disk)}, head_{std::move(head)} {}

expected<std::vector<stored_item>> directory_source::next() {
  std::vector<stored_item> items;
  std::size_t bytes = 0;
  bool readable = true;
  const auto done =
      disk_->scan(table::objects, from_, [&](std::string_view key, std::string_view value) {
        const auto state = read_state(value);
        readable = state.has_value();
        if (!readable) return false;
        items.push_back(
            {std::string{key}, std::string{state->object}, state->created, state->modified});
        bytes += key.size() + value.size();
        return bytes < defaults::part_bytes;
      });
  if (!done) return fail(done.error());
  if (!readable) return fail(errc::corrupt, "a row of the objects table is malformed");
  if (!items.empty()) from_ = items.back().key + '\0';
  return items;
}

// -- the target -----------------------------------------------------------------------------------

expected<std::unique_ptr<directory_target>> directory_target::open(const std::string& directory) {
  std::error_code failed;
  if (fs::exists(directory, failed) && !fs::is_empty(directory, failed))
    return fail(errc::invalid, fmt::format("{} is not empty", directory));
  return std::unique_ptr<directory_target>{
      new directory_target{fs::path{directory}.lexically_normal().string()}};
}

directory_target::directory_target(std::string directory)
    : directory_{std::move(directory)}, partial_{directory_ + ".partial"} {}

expected<void> directory_target::begin(const cluster_head& head) {
  std::error_code failed;
  fs::remove_all(partial_, failed);
  // It contains secrets.
  if (fs::create_directories(partial_, failed))
    fs::permissions(partial_, fs::perms::owner_all, failed);
  if (failed) return fail(errc::io, fmt::format("{}: {}", partial_, failed.message()));
  store_options options;
  options.directory = partial_;
  options.cluster_id = head.cluster;
  options.threaded = false;
  auto made = local_store::open_local(options, rocks_engine_in(partial_));
  if (!made) return fail(std::move(made.error()));
  store_ = std::move(*made);
  all_ = {head.at, {}, {}, {}, true};
  return {};
}

expected<void> directory_target::add(std::vector<stored_item> items) {
  for (auto& each : items) {
    auto key = each.key;
    auto object =
        read(log_item{std::move(each.key), std::move(each.value), each.created, each.modified});
    if (!object) return fail(std::move(object.error()));
    if (*object) {
      all_.changes.push_back(std::move(**object));
    } else {
      spdlog::warn("store: {} has an unknown kind and is skipped", key);
      ++left_out_;
    }
  }
  return {};
}

expected<void> directory_target::finish() {
  // Sorts the changes by revision.
  std::stable_sort(all_.changes.begin(), all_.changes.end(), [](const auto& a, const auto& b) {
    return a.object->revision() < b.object->revision();
  });
  outcome made = fail(errc::io, "the store did not answer");
  std::vector<decided_step> all;
  all.push_back(std::move(all_));
  store_->follow(std::move(all), [&](std::size_t, outcome result) { made = std::move(result); });
  store_.reset();
  if (!made) return fail(std::move(made.error()));
  const auto checked = verify(partial_);
  if (!checked) return fail(checked.error());
  if (!checked->problems.empty())
    return fail(errc::corrupt, fmt::format("{}: {}", partial_, checked->problems.front()));
  std::error_code failed;
  fs::remove(directory_, failed);  // only if it is empty
  return rename_into_place(partial_, directory_);
}

}  // namespace troupe::persistence
