#include "persistence/repair/verify.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <filesystem>

#include "persistence/defaults.hpp"
#include "persistence/engine/replica_mark.hpp"
#include "persistence/engine/rocks_engine.hpp"
#include "persistence/format/record.hpp"
#include "persistence/log/history.hpp"
#include "persistence/log/log_fold.hpp"
#include "persistence/open/loader.hpp"
#include "persistence/open/open_checks.hpp"

namespace troupe::persistence {

namespace {

void fold_bases(std::string_view key, std::string_view value, verification& found, log_fold& fold) {
  const auto id = read_base_key(key);
  const auto state = read_state(value);
  ++found.bases;
  if (!id || !state || id->at != state->modified)
    found.problems.push_back(fmt::format("base {} is malformed", found.bases));
  else if (id->at <= found.compacted)  // a later one is still in the log as well
    fold.begin_with(id->key, *state);
}

void read_meta_row(std::string_view, std::string_view, verification&, log_fold&) {}

void fold_change(std::string_view key, std::string_view value, verification& found,
                 log_fold& fold) {
  const auto id = read_change_key(key);
  const auto record = read_change(value);
  ++found.changes;
  if (!id || !record)
    found.problems.push_back(fmt::format("change {} is malformed", found.changes));
  else if (id->at <= found.compacted)
    found.problems.push_back(fmt::format("revision {} is compacted and still there", id->at));
  else
    fold.add(*id, *record);
}

void compare_object(std::string_view key, std::string_view value, verification& found,
                    log_fold& fold) {
  ++found.objects;
  const auto state = read_state(value);
  if (state) found.digest.add(key, state->created, state->modified);
  if (!state)
    found.problems.push_back(fmt::format("the row of {} is malformed", key));
  else if (state->modified > found.last)
    found.problems.push_back(fmt::format("{} is newer than the log", key));
  else if (state->modified > found.compacted && fold.find(key) == nullptr)
    found.problems.push_back(fmt::format("{} was changed at revision {}, the log does not say so",
                                         key, state->modified));
  else
    fold.compare(key, *state);
}

// The checks of opening.
expected<void> check_as_opening(const engine& disk, verification& found) {
  const auto note = [&](const expected<void>& checked) {
    if (!checked) found.problems.push_back(checked.error().message);
  };
  const auto format = read_meta(disk, meta_key::format);
  if (!format) return fail(format.error());
  const auto gaps = read_gaps(disk);
  if (!gaps) return fail(gaps.error());
  const auto sealed = read_sealed(disk, *format);
  if (!sealed) return fail(sealed.error());
  note(check_acknowledged(disk, std::max(found.last, defaults::first_revision)));
  if (!*sealed) return {};
  note(check_log(disk, **sealed, {found.last, found.compacted, *gaps}));
  note(check_objects(**sealed, found.digest));
  return {};
}

}  // namespace

expected<verification> verify(const engine& disk) {
  verification found;
  log_fold fold{log_fold::reach::whole_log};
  auto last = last_revision(disk);
  if (!last) return fail(std::move(last.error()));
  found.last = *last;
  auto compacted = disk.get(table::meta, meta_key::compacted);
  if (!compacted) return fail(std::move(compacted.error()));
  found.compacted = read_number(compacted->value_or("0")).value_or(0);

  const auto read = [&](table target, auto take) {
    return disk.scan(target, {}, [&](std::string_view key, std::string_view value) {
      take(key, value, found, fold);
      return found.problems.size() < log_fold::problem_limit;
    });
  };
  if (auto done = read(table::meta, read_meta_row); !done) return fail(std::move(done.error()));
  if (auto done = read(table::bases, fold_bases); !done) return fail(std::move(done.error()));
  if (auto done = read(table::changes, fold_change); !done) return fail(std::move(done.error()));
  if (auto done = read(table::objects, compare_object); !done) return fail(std::move(done.error()));
  fold.finish();
  if (auto done = check_as_opening(disk, found); !done) return fail(std::move(done.error()));
  found.problems.insert(found.problems.end(), fold.problems().begin(), fold.problems().end());
  return found;
}

bool is_store(const std::string& directory) {
  std::error_code bad;
  for (const auto& each : std::filesystem::directory_iterator{directory, bad}) {
    const auto name = each.path().filename().string();
    if (name == "CURRENT" || name.starts_with("MANIFEST-") || name.ends_with(".sst")) return true;
  }
  return false;
}

expected<verification> verify(const std::string& directory) {
  if (is_replica(directory)) return fail(replica_refusal(directory));
  if (!is_store(directory))
    return fail(errc::io, fmt::format("there is no store in {}", directory));
  auto disk = open_engine(rocks_engine_in(directory), open_mode::strict);
  if (!disk) return fail(std::move(disk.error()));
  auto found = verify(**disk);
  disk->reset();
  if (found && !found->problems.empty())
    if (auto lost = find_lost_file(rocks_engine_in(directory)))
      found->problems.insert(found->problems.begin(), std::move(lost->message));
  return found;
}

}  // namespace troupe::persistence
