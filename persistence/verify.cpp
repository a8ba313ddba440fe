#include "persistence/verify.hpp"

#include <spdlog/fmt/fmt.h>

#include <filesystem>

#include "persistence/history.hpp"
#include "persistence/loader.hpp"
#include "persistence/log_fold.hpp"
#include "persistence/record.hpp"
#include "persistence/rocks_engine.hpp"

namespace troupe::persistence {

namespace {

void fold_bases(std::string_view key, std::string_view value, verification& found, log_fold& fold) {
  const auto id = read_base_key(key);
  const auto state = read_state(value);
  ++found.bases;
  if (!id || !state || id->at != state->modified)
    found.problems.push_back(fmt::format("base {} makes no sense", found.bases));
  else if (id->at <= found.compacted)  // a later one is still in the log as well
    fold.begin_with(id->key, *state);
}

void fold_change(std::string_view key, std::string_view value, verification& found,
                 log_fold& fold) {
  const auto id = read_change_key(key);
  const auto record = read_change(value);
  ++found.changes;
  if (!id || !record)
    found.problems.push_back(fmt::format("change {} makes no sense", found.changes));
  else if (id->at <= found.compacted)
    found.problems.push_back(fmt::format("revision {} is compacted and still there", id->at));
  else
    fold.add(*id, *record);
}

void compare_object(std::string_view key, std::string_view value, verification& found,
                    log_fold& fold) {
  ++found.objects;
  const auto state = read_state(value);
  if (!state)
    found.problems.push_back(fmt::format("the row of {} makes no sense", key));
  else if (state->modified > found.last)
    found.problems.push_back(fmt::format("{} is newer than the log", key));
  else if (state->modified > found.compacted && fold.find(key) == nullptr)
    found.problems.push_back(fmt::format("{} was changed at revision {}, the log does not say so",
                                         key, state->modified));
  else
    fold.compare(key, *state);
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

  const auto read = [&](table which, auto take) {
    return disk.scan(which, {}, [&](std::string_view key, std::string_view value) {
      take(key, value, found, fold);
      return found.problems.size() < log_fold::problem_limit;
    });
  };
  if (auto done = read(table::bases, fold_bases); !done) return fail(std::move(done.error()));
  if (auto done = read(table::changes, fold_change); !done) return fail(std::move(done.error()));
  if (auto done = read(table::objects, compare_object); !done) return fail(std::move(done.error()));
  fold.finish();
  found.problems.insert(found.problems.end(), fold.problems().begin(), fold.problems().end());
  return found;
}

expected<verification> verify(const std::string& directory) {
  if (!std::filesystem::exists(directory + "/CURRENT"))
    return fail(errc::io, fmt::format("there is no store in {}", directory));
  auto disk = open_engine(rocks_engine_in(directory), open_mode::strict);
  if (!disk) return fail(std::move(disk.error()));
  return verify(**disk);
}

}  // namespace troupe::persistence
