#include "persistence/commit/staging.hpp"

#include <google/protobuf/message.h>
#include <spdlog/fmt/fmt.h>

namespace troupe::persistence {

namespace {

// The last state, stamped with the revision of its removal.
api::object_ptr tombstone(const entry& old, revision at) {
  auto last = old.object();
  if (!old.encoded()) return api::object::revised(std::move(last), at);
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

outcome staging::apply(submission& submitted) {
  if (submitted.decided) return follow(*submitted.decided);
  if (auto holds = check(submitted.request.preconditions); !holds)
    return fail(std::move(holds.error()));
  if (auto bounded = check_bounds(submitted); !bounded) return fail(std::move(bounded.error()));
  if (space_->low())
    if (auto fits = check_space(submitted); !fits) return fail(std::move(fits.error()));
  auto& mutations = submitted.request.mutations;
  committed result;
  result.objects.reserve(mutations.size());
  change_id id{last_ + 1, 0};
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    auto made = mutate(mutations[i], submitted.stored[i], id, submitted.request.cause);
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

expected<void> staging::check_bounds(const submission& submitted) const {
  const auto& mutations = submitted.request.mutations;
  for (const auto& allowed : submitted.request.bounds) {
    std::uint64_t more = 0;
    const bool bytes = allowed.unit == bound::measure::bytes;
    for (std::size_t i = 0; i < mutations.size(); ++i) {
      const auto& key = mutations[i].key;
      if (mutations[i].content == nullptr || tree_.find(key) != nullptr) continue;
      if (bytes || key.starts_with(allowed.prefix))
        more += bytes ? key.size() + submitted.stored[i].size() : 1;
    }
    if (more == 0) continue;
    const std::uint64_t actual = bytes ? tree_.bytes().all : tree_.count(allowed.prefix);
    if (actual + more > allowed.limit) return fail(exceeded(allowed, actual));
  }
  return {};
}

// What was counted before a part is refused stays counted; it is
// little.
expected<void> staging::check_space(const submission& submitted) const {
  const auto& mutations = submitted.request.mutations;
  for (std::size_t i = 0; i < mutations.size(); ++i) {
    const entry* old = tree_.find(mutations[i].key);
    const auto before = old == nullptr ? 0 : old->stored_bytes();
    const auto after = mutations[i].content == nullptr ? 0 : submitted.stored[i].size();
    if (auto fits = space_->admit(mutations[i].key, before, after); !fits) return fits;
  }
  return {};
}

api::object_ptr staging::mutate(mutation& requested, std::string_view stored, change_id id,
                                const change_cause& cause) {
  const entry* old = tree_.find(requested.key);
  const bool removal = requested.content == nullptr;
  if (removal && old == nullptr) return nullptr;
  const auto& kind = removal ? old->kind() : *requested.kind;
  auto made = removal
                  ? tombstone(*old, id.at)
                  : std::make_shared<const api::object>(kind, std::move(requested.content), id.at);
  durable_ = durable_ || !kind.options().relaxed();
  const auto created = old == nullptr ? id.at : old->created();
  change_to(std::move(requested.key), {kind, made, stored, created, removal}, id, cause);
  return made;
}

void staging::change_to(std::string key, next_state next, change_id id, const change_cause& cause) {
  const entry* old = tree_.find(key);
  change seen;
  seen.at = id.at;
  seen.cause = cause;
  seen.time = now_;
  if (old != nullptr) seen.previous = old->object();
  seen.object = next.object;
  seen.stored_bytes =
      static_cast<std::uint32_t>(next.removal ? old->stored_bytes() : next.stored.size());
  seen.type = next.removal     ? change_type::removed
              : old == nullptr ? change_type::created
                               : change_type::updated;

  change_record record{seen.type, next.created, 0, now_, cause, key, {}};
  if (old != nullptr) {
    record.previous = old->modified();
    digest_.remove(key, old->created(), record.previous);
    keep_base(*old);
  }
  const auto row = change_key(id), head = change_head(record);
  rows_.put(table::changes, row, head, next.stored);
  log_bytes_ += row.size() + head.size() + next.stored.size();
  if (next.removal) {
    rows_.remove(table::objects, key);
    tree_.remove(key);
  } else {
    rows_.put(table::objects, key, state_head(next.created, id.at), next.stored);
    if (next.kind.options().compact()) {
      tree_.put(key, stored_object{&next.kind, id.at, next.stored}, next.created);
      seen.object = tree_.find(key)->object();
    } else {
      tree_.put(key, seen.object, next.created, static_cast<std::uint32_t>(next.stored.size()));
    }
    digest_.add(key, next.created, id.at);
  }
  seen.key = std::move(key);
  changes_->push_back(std::move(seen));
}

// A replica's changes are not durable: those that a kill loses are fetched again.
outcome staging::follow(decided_step& step) {
  if (step.time) now_ = std::chrono::floor<std::chrono::microseconds>(*step.time);
  committed result;
  std::uint32_t index = 0;
  for (auto& each : step.changes) {
    const entry* old = tree_.find(each.key);
    const bool removal = each.object == nullptr;
    if (removal && old == nullptr) {
      result.objects.push_back(nullptr);
      continue;
    }
    auto object = removal ? tombstone(*old, step.at) : std::move(each.object);
    const auto& kind = object->kind();
    const change_id id{object->revision(), index++};
    const auto known = old != nullptr ? old->created() : id.at;
    const auto created = removal || each.created == 0 ? known : each.created;
    result.objects.push_back(object);
    change_to(std::move(each.key), {kind, std::move(object), each.stored, created, removal}, id,
              step.cause);
  }
  if (index != 0 || step.whole_state) last_ = step.at;
  result.at = last_;
  if (step.whole_state) begin_history(step.at);
  return result;
}

void staging::begin_history(revision at) {
  rows_.remove_range(table::changes, change_key({0, 0}), change_key({at + 1, 0}));
  rows_.remove_range(table::bases, base_key(0, {}), base_key(at + 1, {}));
  rows_.put(table::meta, meta_key::compacted, std::to_string(at));
  horizon_ = begins_ = at;
  log_bytes_ = 0;
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
