#include "persistence/loader.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "persistence/cluster_id.hpp"
#include "persistence/defaults.hpp"
#include "persistence/history.hpp"
#include "persistence/log_fold.hpp"
#include "persistence/object_loader.hpp"
#include "persistence/record.hpp"

namespace troupe::persistence {

namespace {

std::string place(const store_options& options) {
  return options.directory.empty() ? std::string{"memory"} : options.directory;
}

}  // namespace

expected<revision> read_meta(const engine& disk, std::string_view name) {
  auto text = disk.get(table::meta, name);
  if (!text) return fail(std::move(text.error()));
  if (!*text) return 0;
  const auto value = read_number(**text);
  if (!value)
    return fail(errc::corrupt, fmt::format("the store's {} is not a number: '{}'", name, **text));
  return *value;
}

namespace {

// False when there is nothing in the store yet.
expected<bool> check_format(const engine& disk, const store_options& options) {
  auto found = disk.get(table::meta, meta_key::format);
  if (!found) return fail(std::move(found.error()));
  if (!*found) {
    for (const auto each : {table::objects, table::changes}) {
      auto last = disk.last_key(each);
      if (!last) return fail(std::move(last.error()));
      if (*last)
        return fail(errc::incompatible,
                    fmt::format("{} holds data without a format version: it was not made by this "
                                "program; choose another data directory",
                                place(options)));
    }
    return false;
  }
  if (read_number(**found) != defaults::format_version)
    return fail(errc::incompatible,
                fmt::format("{} is of format {}, this program reads format {}: open it with the "
                            "version that wrote it",
                            place(options), **found, defaults::format_version));
  return true;
}

expected<void> initialise(engine& disk, const store_options& options) {
  auto first = disk.make_batch();
  const auto id = options.cluster_id.empty() ? make_cluster_id() : options.cluster_id;
  first->put(table::meta, meta_key::format, std::to_string(defaults::format_version));
  first->put(table::meta, meta_key::cluster, id);
  first->put(table::meta, meta_key::floor, std::to_string(defaults::first_revision));
  return disk.write(*first, durability::synced);
}

// With those between the newest change and the revision at which the store goes on; they are on
// disk before a newer change is.
expected<revision_gaps> update_gaps(engine& disk, revision compacted, revision last,
                                    revision current) {
  auto text = disk.get(table::meta, meta_key::gaps);
  if (!text) return fail(std::move(text.error()));
  auto gaps = revision_gaps::read(text->value_or(""));
  if (!gaps)
    return fail(errc::corrupt, fmt::format("the store's gaps make no sense: '{}'", **text));
  const auto before = *gaps;
  gaps->forget(compacted);
  gaps->add(last, current);
  if (*gaps == before) return *gaps;
  auto rows = disk.make_batch();
  rows->put(table::meta, meta_key::gaps, gaps->str());
  auto written = disk.write(*rows, durability::buffered);
  if (!written) return fail(std::move(written.error()));
  return *gaps;
}

expected<log_fold> fold_newest(const engine& disk, revision last) {
  log_fold fold{log_fold::reach::newest_part};
  const auto from = last - std::min(last, defaults::open_check_revisions - 1);
  bool readable = true;
  auto done = disk.scan(table::changes, change_key({from, 0}),
                        [&](std::string_view key, std::string_view value) {
                          const auto id = read_change_key(key);
                          const auto record = read_change(value);
                          readable = id && record;
                          if (readable) fold.add(*id, *record);
                          return readable;
                        });
  if (!done) return fail(std::move(done.error()));
  if (!readable) return fail(errc::corrupt, "a record of the change log makes no sense");
  return fold;
}

expected<void> judge(const log_fold& fold, const store_options& options) {
  if (fold.problems().empty()) return {};
  for (const auto& each : fold.problems())
    spdlog::error("store: {}", each);
  return fail(errc::corrupt,
              fmt::format("{}: the change log and the objects disagree: {}; restore a "
                          "backup",
                          place(options), fold.problems().front()));
}

expected<void> check_promises(const engine& disk, revision last, const store_options& options) {
  if (disk.acknowledged() <= last) return {};
  return fail(
      errc::corrupt,
      fmt::format("{}: writes up to revision {} were acknowledged, the disk has them only up "
                  "to {}: its write-ahead log is damaged; restore a backup",
                  place(options), disk.acknowledged(), last));
}

}  // namespace

expected<std::unique_ptr<engine>> open_engine(const engine_factory& factory, open_mode mode) {
  auto strict = factory(mode);
  if (strict || strict.error().code != errc::corrupt) return strict;
  {
    auto looked = factory(open_mode::inspect);
    if (!looked) return strict;
    const auto last = last_revision(**looked);
    if (!last || *last < (*looked)->acknowledged()) return strict;
  }
  spdlog::warn(
      "store: the end of the write-ahead log is torn; dropping what nobody was told of: {}",
      strict.error().message);
  return factory(open_mode::salvage);
}

expected<loaded_store> load(const engine_factory& factory, const store_options& options) {
  const auto began = std::chrono::steady_clock::now();
  auto disk = open_engine(factory, open_mode::strict);
  if (!disk) return fail(std::move(disk.error()));
  loaded_store made;
  made.disk = std::move(*disk);
  auto old = check_format(*made.disk, options);
  if (!old) return fail(std::move(old.error()));
  if (!*old)
    if (auto done = initialise(*made.disk, options); !done) return fail(std::move(done.error()));

  const auto last = last_revision(*made.disk);
  const auto compacted = read_meta(*made.disk, meta_key::compacted);
  const auto horizon = read_meta(*made.disk, meta_key::horizon);
  const auto floor = read_meta(*made.disk, meta_key::floor);
  auto cluster = made.disk->get(table::meta, meta_key::cluster);
  for (const auto* each : {&last, &compacted, &horizon, &floor})
    if (!*each) return fail(each->error());
  if (!cluster) return fail(std::move(cluster.error()));
  made.compacted = *compacted;
  made.horizon = std::max(*horizon, *compacted);
  made.floor = *floor;
  made.cluster_id = cluster->value_or("");
  if (auto kept = check_promises(*made.disk, *last, options); !kept)
    return fail(std::move(kept.error()));

  if (auto room = check_memory(*made.disk, options.memory_limit_bytes); !room)
    return fail(std::move(room.error()));
  auto fold = fold_newest(*made.disk, *last);
  if (!fold) return fail(std::move(fold.error()));
  tree_edit edit{*tree_root::empty(0)};
  if (auto done = load_objects(*made.disk, *last, *fold, edit); !done)
    return fail(std::move(done.error()));
  fold->finish();
  if (auto good = judge(*fold, options); !good) return fail(std::move(good.error()));
  const auto current = std::max({*last, *floor, defaults::first_revision});
  made.root = edit.freeze(current);
  auto gaps = update_gaps(*made.disk, made.compacted, *last, current);
  if (!gaps) return fail(std::move(gaps.error()));
  made.gaps = std::move(*gaps);
  spdlog::info(
      "store: {} {}: {} objects at revision {}, history from {}; the last {} changes agree "
      "with the objects ({} ms)",
      *old ? "opened" : "made", place(options), made.root->size(), current, made.compacted + 1,
      fold->records(),
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                            began)
          .count());
  return made;
}

}  // namespace troupe::persistence
