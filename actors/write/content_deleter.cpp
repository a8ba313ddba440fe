#include "actors/write/content_deleter.hpp"

#include <algorithm>
#include <utility>

#include "actors/core/log.hpp"
#include "actors/write/commands.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

content_deleter::content_deleter(const persistence::store* store, core_actors core,
                                 const char* author)
    : informer{core.watcher}, store_{store}, core_{std::move(core)}, author_{author} {}

void content_deleter::begin_deletion(const api::object& of) {
  const auto key = api::key_of(of);
  const auto& uid = of.meta().uid();
  if (find(key, uid) != nullptr) return;
  endings_[key] = {.uid = uid, .name = of.meta().name()};
  log().info("{}: {} at revision {} is terminating: deletes its content", author_, key,
             of.revision());
  empty(key, uid);
}

void content_deleter::stop_deletion(const api::object& of) {
  const auto key = api::key_of(of);
  if (endings_.erase(key) > 0)
    log().info("{}: {} at revision {} is deleted", author_, key, of.revision());
}

std::string content_deleter::endings() const {
  std::string names;
  for (const auto& [key, each] : endings_)
    names += (names.empty() ? "" : ", ") + each.name;
  return names;
}

content_deleter::ending* content_deleter::find(const std::string& key, const std::string& uid) {
  const auto found = endings_.find(key);
  return found == endings_.end() || found->second.uid != uid ? nullptr : &found->second;
}

void content_deleter::empty(const std::string& key, const std::string& uid) {
  const auto state = store_->read();
  const auto object = state.find(key);
  auto* found = find(key, uid);
  // An object created later under the same name has another uid.
  if (found == nullptr || !object || object->meta().uid() != uid) return;
  if (!waits(*object)) {
    endings_.erase(key);
    return;
  }
  auto next = survey(state, *object, defaults::content_in_flight);
  if (!next.to_remove.empty()) {
    found->in_flight = next.to_remove.size();
    for (const auto& each : next.to_remove)
      remove_content(key, uid, *each);
  } else if (next.next) {
    conclude(key, *object, std::move(next.next));
  } else {
    empty_later(key, uid);
  }
}

void content_deleter::remove_content(const std::string& key, const std::string& uid,
                                     const api::object& object) {
  log().debug("{}: {} at revision {} is deleted with {}", author_, api::key_of(object),
              object.revision(), key);
  request<command_done>(
      core_.writer,
      remove{.key = api::key_of(object), .uid = object.meta().uid(), .cause = {.author = author_}},
      defaults::write_timeout, [this, key, uid](auto reply) {
        auto* still = find(key, uid);
        if (still == nullptr) return;
        const bool gone = reply && ((*reply)->result || (*reply)->result.error().code == 404);
        still->refused = still->refused || !gone;
        if (--still->in_flight > 0) return;
        if (std::exchange(still->refused, false)) {
          empty_later(key, uid);
        } else {
          empty(key, uid);
        }
      });
}

void content_deleter::conclude(const std::string& key, const api::object& object,
                               std::unique_ptr<api::body> next) {
  auto transaction = std::make_shared<persistence::transaction>(succeed(object, std::move(next)));
  transaction->cause.author = author_;
  request<commit_done>(core_.writer, commit{std::move(transaction)}, defaults::write_timeout,
                       [this, key, uid = object.meta().uid()](auto reply) {
                         if (reply && (*reply)->result) return empty(key, uid);
                         empty_later(key, uid);
                       });
}

// Retries later while the remaining objects terminate.
void content_deleter::empty_later(const std::string& key, const std::string& uid) {
  auto* found = find(key, uid);
  if (found == nullptr) return;
  log().debug("{}: {} is checked again in {} ms", author_, key,
              std::chrono::duration_cast<std::chrono::milliseconds>(found->pause).count());
  found->again = after(found->pause, [this, key, uid] { empty(key, uid); });
  found->pause = std::min(found->pause * 2, defaults::content_longest_pause);
}

}  // namespace troupe::actors
