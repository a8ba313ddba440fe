#include "persistence/open/loader.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>

#include "persistence/defaults.hpp"
#include "persistence/format/record.hpp"
#include "persistence/log/history.hpp"
#include "persistence/log/log_fold.hpp"
#include "persistence/open/cluster_id.hpp"
#include "persistence/open/object_loader.hpp"
#include "persistence/open/open_checks.hpp"

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

expected<revision_gaps> read_gaps(const engine& disk) {
  auto text = disk.get(table::meta, meta_key::gaps);
  if (!text) return fail(std::move(text.error()));
  auto gaps = revision_gaps::read(text->value_or(""));
  if (!gaps)
    return fail(errc::corrupt, fmt::format("the store's gaps are malformed: '{}'", **text));
  return *gaps;
}

namespace {

// The format of the store; 0 if it is empty.
expected<std::uint64_t> check_format(const engine& disk, const store_options& options) {
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
    if (auto promised = check_acknowledged(disk, 0); !promised)
      return fail(std::move(promised.error()));
    return 0;
  }
  const auto format = read_number(**found);
  if (!format || *format < defaults::oldest_format || *format > defaults::format_version)
    return fail(errc::incompatible,
                fmt::format("{} is of format {}, this program reads format {}: open it with the "
                            "version that wrote it",
                            place(options), **found, defaults::format_version));
  return *format;
}

expected<void> initialise(engine& disk, const store_options& options) {
  auto first = disk.make_batch();
  const auto id = options.cluster_id.empty() ? make_cluster_id() : options.cluster_id;
  first->put(table::meta, meta_key::format, std::to_string(defaults::format_version));
  first->put(table::meta, meta_key::cluster, id);
  first->put(table::meta, meta_key::floor, std::to_string(defaults::first_revision));
  first->put(table::meta, meta_key::digest, sealed_state{}.str());
  auto written = disk.write(*first, durability::synced);
  if (written) disk.acknowledge(defaults::first_revision);
  return written;
}

// Adds the gap between the newest change and the store's next revision. Gaps are on disk before any
// newer change is.
expected<void> update_gaps(engine& disk, revision_gaps& gaps, revision compacted, revision last,
                           revision current) {
  const auto before = gaps;
  gaps.forget(compacted);
  gaps.add(last, current);
  if (gaps == before) return {};
  auto rows = disk.make_batch();
  rows->put(table::meta, meta_key::gaps, gaps.str());
  return disk.write(*rows, durability::buffered);
}

// Converts a directory of an earlier format to the current one: from here on it has a digest.
expected<void> raise_format(engine& disk, const sealed_state& first) {
  auto rows = disk.make_batch();
  rows->put(table::meta, meta_key::format, std::to_string(defaults::format_version));
  rows->put(table::meta, meta_key::digest, first.str());
  return disk.write(*rows, durability::buffered);
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
  if (!readable) return fail(errc::corrupt, "a record of the change log is malformed");
  return fold;
}

expected<void> evaluate(const log_fold& fold, const store_options& options) {
  if (fold.problems().empty()) return {};
  for (const auto& each : fold.problems())
    spdlog::error("store: {}", each);
  return fail(errc::corrupt,
              fmt::format("{}: the change log and the objects disagree: {}; {}", place(options),
                          fold.problems().front(), defaults::damage_remedy));
}

tl::unexpected<error> refuse(error cause, const store_options& options) {
  cause.message = fmt::format("{}: {}; {}", place(options), cause.message, defaults::damage_remedy);
  return fail(std::move(cause));
}

// Fills the fields derived from the tables. Returns the number of changes checked against objects.
expected<std::uint64_t> load_state(std::uint64_t format, revision last,
                                   const store_options& options, loaded_store& made) {
  auto& disk = *made.disk;
  const auto sealed = read_sealed(disk, format);
  if (!sealed) return refuse(sealed.error(), options);
  auto gaps = read_gaps(disk);
  if (!gaps) return refuse(gaps.error(), options);
  // Steps of a shared log may skip revisions, and any of its newest ones may be lost.
  auto checked = options.replica
                     ? expected<void>{}
                     : check_acknowledged(disk, std::max(last, defaults::first_revision));
  if (checked && *sealed && !options.replica)
    checked = check_log(disk, **sealed, {last, made.compacted, *gaps});
  if (!checked) return refuse(checked.error(), options);

  auto fold = fold_newest(disk, last);
  if (!fold) return refuse(fold.error(), options);
  tree_edit edit{*tree_root::empty(0)};
  const auto known = options.replica && *sealed ? std::max(last, (*sealed)->at) : last;
  if (auto done = load_objects(disk, known, *fold, edit); !done)
    return fail(std::move(done.error()));
  fold->finish();
  if (auto good = evaluate(*fold, options); !good) return fail(std::move(good.error()));
  made.root = edit.freeze(std::max({known, made.floor, defaults::first_revision}));
  const auto digest = state_digest::of(*made.root);
  if (*sealed)
    if (auto same = check_objects(**sealed, digest); !same) return refuse(same.error(), options);

  made.sealed_since = *sealed ? (*sealed)->since : last;
  auto done = options.replica ? expected<void>{}
                              : update_gaps(disk, *gaps, made.compacted, last, made.root->at());
  if (done && !*sealed) done = raise_format(disk, {last, last, digest});
  if (!done) return fail(std::move(done.error()));
  made.gaps = std::move(*gaps);
  if (disk.acknowledged() == 0) {
    spdlog::warn("store: {}/ACKNOWLEDGED is missing or damaged; it is written again",
                 place(options));
    disk.acknowledge(std::max(last, defaults::first_revision));
  }
  return fold->records();
}

expected<loaded_store> load_checked(const engine_factory& factory, const store_options& options) {
  const auto began = std::chrono::steady_clock::now();
  auto disk = open_engine(factory, open_mode::strict);
  if (!disk) return fail(std::move(disk.error()));
  loaded_store made;
  made.disk = std::move(*disk);
  auto format = check_format(*made.disk, options);
  if (!format) return fail(std::move(format.error()));
  const bool old = *format != 0;
  if (!old)
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
  if (auto enough = check_memory(*made.disk, options.memory_limit_bytes); !enough)
    return fail(std::move(enough.error()));
  const auto agree = load_state(old ? *format : defaults::format_version, *last, options, made);
  if (!agree) return fail(agree.error());
  spdlog::info(
      "store: {} {}: {} objects at revision {}, history from {}; the last {} changes agree "
      "with the objects ({} ms)",
      old ? "opened" : "made", place(options), made.root->size(), made.root->at(),
      made.compacted + 1, *agree,
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() -
                                                            began)
          .count());
  return made;
}

}  // namespace

expected<std::unique_ptr<engine>> open_engine(const engine_factory& factory, open_mode mode) {
  auto strict = factory(mode);
  if (strict || strict.error().code != errc::corrupt) return strict;
  {
    auto looked = factory(open_mode::inspect);
    if (!looked)
      return looked.error().code == errc::corrupt ? std::move(looked) : std::move(strict);
    const auto last = last_revision(**looked);
    if (!last || *last < (*looked)->acknowledged()) return strict;
  }
  spdlog::warn(
      "store: the end of the write-ahead log is torn; dropping what was not acknowledged: {}",
      strict.error().message);
  return factory(open_mode::salvage);
}

std::optional<error> find_lost_file(const engine_factory& factory) {
  auto looked = factory(open_mode::inspect);
  if (looked || looked.error().code != errc::corrupt) return std::nullopt;
  return std::move(looked.error());
}

expected<loaded_store> load(const engine_factory& factory, const store_options& options) {
  auto made = load_checked(factory, options);
  if (made || made.error().code != errc::corrupt) return made;
  if (auto lost = find_lost_file(factory)) return fail(std::move(*lost));
  return made;
}

}  // namespace troupe::persistence
