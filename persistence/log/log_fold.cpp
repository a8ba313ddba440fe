#include "persistence/log/log_fold.hpp"

#include <spdlog/fmt/fmt.h>

#include <functional>

namespace troupe::persistence {

namespace {

std::uint64_t hash(std::string_view bytes) {
  return std::hash<std::string_view>{}(bytes);
}

}  // namespace

void log_fold::begin_with(std::string_view key, const stored_state& base) {
  state begun{base.created, base.modified, hash(base.object)};
  begun.is_base = true;
  if (!states_.emplace(key, begun).second)
    note(fmt::format("the log begins with two base states of {}", key));
}

void log_fold::add(change_id id, const change_record& record) {
  ++records_;
  check_order(id);
  last_ = id;
  if (!first_) first_ = id.at;
  auto [at, fresh] = states_.try_emplace(std::string{record.key});
  if (!fresh)
    check_link(id, record, at->second);
  else if (reach_ == reach::whole_log && record.type != change_type::created)
    note(fmt::format("the state of {} before revision {} is missing", record.key, id.at));
  if (record.type == change_type::created && record.created != id.at)
    note(fmt::format("revision {} creates {} but says that it was made at {}", id.at, record.key,
                     record.created));
  at->second = {record.created, id.at, hash(record.object), record.type == change_type::removed};
}

void log_fold::check_order(change_id id) {
  if (!first_) {
    if (id.index != 0) note(fmt::format("revision {} begins with change {}", id.at, id.index));
  } else if (id.at == last_.at ? id.index != last_.index + 1 : id.index != 0) {
    note(fmt::format("after change {} of revision {} comes change {} of revision {}", last_.index,
                     last_.at, id.index, id.at));
  }
}

void log_fold::check_link(change_id id, const change_record& record, const state& before) {
  const bool lives = record.type != change_type::created;
  if (lives == before.removed || (lives && record.previous != before.modified))
    note(fmt::format(
        "revision {} follows a state of {} made at {}, but the state before was {} at {}", id.at,
        record.key, record.previous, before.removed ? "removed" : "made", before.modified));
  else if (lives && record.created != before.created)
    note(fmt::format("revision {} says that {} was created at {}, it was at {}", id.at, record.key,
                     record.created, before.created));
}

void log_fold::compare(std::string_view key, const stored_state& found) {
  const auto at = states_.find(key);
  if (at == states_.end()) {
    if (first_ && found.modified >= *first_)
      note(fmt::format("{} says it was changed at revision {}, the log does not know of it", key,
                       found.modified));
    return;
  }
  auto& wanted = at->second;
  wanted.met = true;
  if (wanted.removed)
    note(fmt::format("{} was removed at revision {} and is still there", key, wanted.modified));
  else if (found.modified != wanted.modified || found.created != wanted.created)
    note(fmt::format("{} is of revision {} made at {}, the log says {} made at {}", key,
                     found.modified, found.created, wanted.modified, wanted.created));
  else if (hash(found.object) != wanted.bytes_hash)
    note(fmt::format("{} differs from what the log says was written at revision {}", key,
                     wanted.modified));
}

void log_fold::finish() {
  for (const auto& [key, wanted] : states_)
    if (wanted.is_base)
      note(fmt::format("a state of {} at revision {} is kept that no change began from", key,
                       wanted.modified));
    else if (!wanted.removed && !wanted.met)
      note(fmt::format("{} was written at revision {} and is not there", key, wanted.modified));
}

const log_fold::state* log_fold::find(std::string_view key) const {
  const auto at = states_.find(key);
  return at == states_.end() ? nullptr : &at->second;
}

void log_fold::note(std::string problem) {
  if (problems_.size() < problem_limit) problems_.push_back(std::move(problem));
}

}  // namespace troupe::persistence
