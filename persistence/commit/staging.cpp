#include "persistence/commit/staging.hpp"

#include <google/protobuf/message.h>
#include <spdlog/fmt/fmt.h>

namespace troupe::persistence {

namespace {

error conflict(const precondition& wanted, revision actual) {
  std::string message;
  if (wanted.at == 0)
    message = fmt::format("{} exists already, at revision {}", wanted.key, actual);
  else if (actual == 0)
    message =
        fmt::format("{} does not exist; it was expected at revision {}", wanted.key, wanted.at);
  else
    message = fmt::format("{} has been changed: it was expected at revision {} and is at {}",
                          wanted.key, wanted.at, actual);
  return {errc::conflict, std::move(message), wanted.key, actual};
}

error exceeded(const bound& allowed, std::uint64_t actual) {
  const bool bytes = allowed.unit == bound::measure::bytes;
  return {errc::exceeded,
          fmt::format("the store holds {} {} and may hold {}", actual,
                      bytes ? "bytes" : "objects below " + allowed.prefix, allowed.limit),
          bytes ? std::string{} : allowed.prefix, actual, allowed.limit};
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

outcome staging::apply(submission& submitted) {
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

// A part that was admitted before another one is refused counts all the same; it is little.
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

  change seen;
  seen.at = id.at;
  seen.cause = cause;
  seen.time = now_;
  if (old != nullptr) seen.previous = old->object();
  const revision created = old == nullptr ? id.at : old->created();
  const auto& kind = removal ? old->kind() : *requested.kind;
  auto made = removal
                  ? tombstone(*old, id.at)
                  : std::make_shared<const api::object>(kind, std::move(requested.content), id.at);
  seen.object = made;
  seen.type = removal          ? change_type::removed
              : old == nullptr ? change_type::created
                               : change_type::updated;

  change_record record{seen.type, created, 0, now_, cause, requested.key, {}};
  if (old != nullptr) {
    record.previous = old->modified();
    digest_.remove(requested.key, created, record.previous);
    keep_base(*old);
  }
  const auto key = change_key(id), head = change_head(record);
  rows_.put(table::changes, key, head, stored);
  log_bytes_ += key.size() + head.size() + stored.size();
  if (removal) {
    rows_.remove(table::objects, requested.key);
    tree_.remove(requested.key);
  } else {
    rows_.put(table::objects, requested.key, state_head(created, id.at), stored);
    if (kind.options().compact()) {
      tree_.put(requested.key, stored_object{&kind, id.at, stored}, created);
      seen.object = tree_.find(requested.key)->object();
    } else {
      tree_.put(requested.key, seen.object, created, static_cast<std::uint32_t>(stored.size()));
    }
    digest_.add(requested.key, created, id.at);
  }
  durable_ = durable_ || !kind.options().relaxed();
  seen.key = std::move(requested.key);
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
