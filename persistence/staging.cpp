#include "persistence/staging.hpp"

#include <google/protobuf/message.h>
#include <spdlog/fmt/fmt.h>

namespace troupe::persistence {

namespace {

error conflict(const precondition& wanted, revision actual) {
  std::string why;
  if (wanted.at == 0)
    why = fmt::format("{} exists already, at revision {}", wanted.key, actual);
  else if (actual == 0)
    why = fmt::format("{} does not exist; it was expected at revision {}", wanted.key, wanted.at);
  else
    why = fmt::format("{} has been changed: it was expected at revision {} and is at {}",
                      wanted.key, wanted.at, actual);
  return {errc::conflict, std::move(why), wanted.key, actual};
}

error exceeded(const bound& allowed, std::uint64_t actual) {
  const bool bytes = allowed.of == bound::measure::bytes;
  return {errc::exceeded,
          fmt::format("the store holds {} {} and may hold {}", actual,
                      bytes ? "bytes" : "objects below " + allowed.prefix, allowed.most),
          bytes ? std::string{} : allowed.prefix, actual, allowed.most};
}

// The last state, stamped with the revision at which it went.
api::object_ptr tombstone(const entry& old, revision at) {
  auto last = old.object();
  if (!old.encoded()) return std::make_shared<const api::object>(old.kind(), last->copy(), at);
  return api::object::encoded(old.kind(), old.stored(), at, std::move(last));
}

}  // namespace

staging::staging(tree_edit& tree, state_digest& digest, write_batch& rows, start from)
    : tree_{tree},
      digest_{digest},
      rows_{rows},
      last_{from.last},
      horizon_{from.horizon},
      // The log keeps microseconds: watchers see the same time now and after a restart.
      now_{std::chrono::floor<std::chrono::microseconds>(from.now)},
      space_{from.space} {}

outcome staging::apply(submission& what) {
  if (auto holds = check(what.what.preconditions); !holds) return fail(std::move(holds.error()));
  if (auto room = check_bounds(what); !room) return fail(std::move(room.error()));
  if (space_->low())
    if (auto fits = check_space(what); !fits) return fail(std::move(fits.error()));
  auto& mutations = what.what.mutations;
  committed result;
  result.objects.reserve(mutations.size());
  change_id id{last_ + 1, 0};
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    auto made = mutate(mutations[i], what.stored[i], id, what.what.why);
    if (made != nullptr) ++id.index;
    result.objects.push_back(std::move(made));
  }
  if (id.index > 0) last_ = id.at;
  result.at = last_;
  return result;
}

expected<void> staging::check(const std::vector<precondition>& preconditions) const {
  for (const auto& each : preconditions) {
    const entry* found = tree_.find(each.key);
    const revision actual = found == nullptr ? 0 : found->modified();
    if (actual != each.at) return fail(conflict(each, actual));
  }
  return {};
}

expected<void> staging::check_bounds(const submission& what) const {
  const auto& mutations = what.what.mutations;
  for (const auto& allowed : what.what.bounds) {
    std::uint64_t more = 0;
    const bool bytes = allowed.of == bound::measure::bytes;
    for (std::size_t i = 0; i < mutations.size(); ++i) {
      const auto& key = mutations[i].key;
      if (mutations[i].content == nullptr || tree_.find(key) != nullptr) continue;
      if (bytes || key.starts_with(allowed.prefix))
        more += bytes ? key.size() + what.stored[i].size() : 1;
    }
    if (more == 0) continue;
    const std::uint64_t actual = bytes ? tree_.bytes().all : tree_.count(allowed.prefix);
    if (actual + more > allowed.most) return fail(exceeded(allowed, actual));
  }
  return {};
}

// A part that was admitted before another one is refused counts all the same; it is little.
expected<void> staging::check_space(const submission& what) const {
  const auto& mutations = what.what.mutations;
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    const entry* old = tree_.find(mutations[i].key);
    const auto before = old == nullptr ? 0 : old->stored_bytes();
    const auto after = mutations[i].content == nullptr ? 0 : what.stored[i].size();
    if (auto fits = space_->admit(mutations[i].key, before, after); !fits) return fits;
  }
  return {};
}

api::object_ptr staging::mutate(mutation& what, std::string_view stored, change_id id,
                                const change_cause& why) {
  const entry* old = tree_.find(what.key);
  const bool removal = what.content == nullptr;
  if (removal && old == nullptr) return nullptr;

  change seen;
  seen.at = id.at;
  seen.why = why;
  seen.when = now_;
  if (old != nullptr) seen.previous = old->object();
  const revision created = old == nullptr ? id.at : old->created();
  const auto& kind = removal ? old->kind() : *what.kind;
  auto made = removal ? tombstone(*old, id.at)
                      : std::make_shared<const api::object>(kind, std::move(what.content), id.at);
  seen.object = made;
  seen.type = removal          ? change_type::removed
              : old == nullptr ? change_type::created
                               : change_type::updated;

  change_record record{seen.type, created, 0, now_, why, what.key, {}};
  if (old != nullptr) {
    record.previous = old->modified();
    digest_.remove(what.key, created, record.previous);
    keep_base(*old);
  }
  const auto key = change_key(id), head = change_head(record);
  rows_.put(table::changes, key, head, stored);
  log_bytes_ += key.size() + head.size() + stored.size();
  if (removal) {
    rows_.remove(table::objects, what.key);
    tree_.remove(what.key);
  } else {
    rows_.put(table::objects, what.key, state_head(created, id.at), stored);
    if (kind.options().compact()) {
      tree_.put(what.key, stored_object{&kind, id.at, stored}, created);
      seen.object = tree_.find(what.key)->object();
    } else {
      tree_.put(what.key, seen.object, created, static_cast<std::uint32_t>(stored.size()));
    }
    digest_.add(what.key, created, id.at);
  }
  durable_ = durable_ || !kind.options().relaxed();
  seen.key = std::move(what.key);
  changes_->push_back(std::move(seen));
  return made;
}

void staging::keep_base(const entry& old) {
  const auto modified = old.modified();
  if (modified > horizon_) return;
  const auto head = state_head(old.created(), modified);
  if (old.encoded())
    rows_.put(table::bases, base_key(modified, old.key()), head, old.stored());
  else
    rows_.put(table::bases, base_key(modified, old.key()), head,
              api::to_storage(old.kind(), old.kept()->content()));
}

}  // namespace troupe::persistence
