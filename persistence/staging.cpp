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

// The last state, stamped with the revision at which it went.
api::object_ptr tombstone(const entry& old, revision at) {
  auto last = old.object();
  if (!old.encoded()) return std::make_shared<const api::object>(old.kind(), last->copy(), at);
  return api::object::encoded(old.kind(), old.stored(), at, std::move(last));
}

}  // namespace

staging::staging(tree_edit& tree, write_batch& rows, start from)
    : tree_{tree},
      rows_{rows},
      last_{from.last},
      horizon_{from.horizon},
      // The log keeps microseconds: watchers see the same time now and after a restart.
      now_{std::chrono::floor<std::chrono::microseconds>(from.now)} {}

outcome staging::apply(submission& what) {
  if (auto holds = check(what.what.preconditions); !holds) return fail(std::move(holds.error()));
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
    keep_base(*old);
  }
  rows_.put(table::changes, change_key(id), change_head(record), stored);
  if (removal) {
    rows_.remove(table::objects, what.key);
    tree_.remove(what.key);
  } else {
    rows_.put(table::objects, what.key, state_head(created, id.at), stored);
    if (kind.options().compact()) {
      tree_.put(what.key, stored_object{&kind, id.at, stored}, created);
      seen.object = tree_.find(what.key)->object();
    } else {
      tree_.put(what.key, seen.object, created);
    }
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
