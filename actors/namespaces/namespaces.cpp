#include "actors/namespaces/namespaces.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/namespaces/namespace_rules.hpp"
#include "actors/write/commands.hpp"
#include "actors/write/creation.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "api/validation/system_namespaces.hpp"

namespace troupe::actors {

using api::core::v1::Namespace;
using api::core::v1::ServiceAccount;

namespace {

constexpr const char* default_account = "default";

bool is_default_account(const api::object& object) {
  return object.meta().name() == default_account;
}

}  // namespace

namespaces::namespaces(const persistence::store* store, core_actors core)
    : informer{core.watcher}, store_{store}, core_{std::move(core)} {}

const runtime::behavior& namespaces::make_behavior() const {
  static const auto table =
      runtime::handlers(&namespaces::on_watch_events, &namespaces::on_watch_ended);
  return table;
}

void namespaces::started() {
  ensure_system();
  follow(api::kind_of<Namespace>().prefix(), [this](const watch_events& m) { on_namespaces(m); });
  follow(api::kind_of<ServiceAccount>().prefix(), [this](const watch_events& m) { on_accounts(m); },
         {.accept = is_default_account});
}

std::string namespaces::describe() const {
  std::string names;
  for (const auto& [name, ending] : endings_)
    names += (names.empty() ? "" : ", ") + name;
  return fmt::format("ending: [{}]\n", names);
}

// -- messages from the watcher --------------------------------------------------------------------

void namespaces::on_namespaces(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    current_cause({event.cause.request, event.at});
    const auto& name = event.object->meta().name();
    if (event.type == event_type::deleted) {
      endings_.erase(name);
      ensure_system();
    } else if (!terminating(event.object->as<Namespace>())) {
      ensure_account(name);
    } else {
      const auto& uid = event.object->meta().uid();
      if (find(name, uid) != nullptr) continue;
      endings_[name] = {.uid = uid};
      empty(name, uid);
    }
  }
}

void namespaces::on_accounts(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::deleted) ensure_account(event.object->meta().namespace_());
  }
}

// -- what must be there ---------------------------------------------------------------------------

void namespaces::ensure_system() {
  const auto state = store_->read();
  const auto& kind = api::kind_of<Namespace>();
  for (const auto* name : api::system_namespaces) {
    if (state.find(kind.key({}, name))) continue;
    auto ns = std::make_unique<Namespace>();
    ns->mutable_metadata()->set_name(name);
    create(kind, std::move(ns), [this] { ensure_system(); });
  }
}

void namespaces::ensure_account(const std::string& ns) {
  const auto state = store_->read();
  const auto& kind = api::kind_of<ServiceAccount>();
  const auto of = state.find(api::kind_of<Namespace>().key({}, ns));
  if (!of || terminating(of->as<Namespace>())) return;
  if (state.find(kind.key(ns, default_account))) return;
  auto account = std::make_unique<ServiceAccount>();
  account->mutable_metadata()->set_name(default_account);
  account->mutable_metadata()->set_namespace_(ns);
  create(kind, std::move(account), [this, ns] { ensure_account(ns); });
}

// `again` runs when it could not be created.
void namespaces::create(const api::kind_info& kind, std::unique_ptr<api::body> content,
                        std::function<void()> again) {
  const auto key = kind.key(api::meta_of(*content).namespace_(), api::meta_of(*content).name());
  auto transaction = create_transaction(store_->read(), kind, std::move(content),
                                        checks::done_before, wall_now(), random());
  if (!transaction) return;
  transaction->cause.author = "namespaces";
  request<commit_done>(core_.writer,
                       commit{std::make_shared<persistence::transaction>(std::move(*transaction))},
                       defaults::write_timeout, [this, key, again = std::move(again)](auto reply) {
                         if (reply && (*reply)->result) {
                           retries_.erase(key);
                         } else {
                           retries_[key] = after(defaults::try_again, again);
                         }
                       });
}

// -- the end of a namespace -----------------------------------------------------------------------

namespaces::ending* namespaces::find(const std::string& ns, const std::string& uid) {
  const auto found = endings_.find(ns);
  return found == endings_.end() || found->second.uid != uid ? nullptr : &found->second;
}

void namespaces::empty(const std::string& ns, const std::string& uid) {
  const auto state = store_->read();
  const auto object = state.find(api::kind_of<Namespace>().key({}, ns));
  auto* found = find(ns, uid);
  // One that was made since under its name is another.
  if (found == nullptr || !object || object->meta().uid() != uid) return;
  const auto content = survey(state, ns, defaults::namespace_in_flight);
  if (!content.to_remove.empty()) {
    found->in_flight = content.to_remove.size();
    for (const auto& each : content.to_remove)
      remove_content(ns, uid, *each);
  } else if (auto next = progressed(object->as<Namespace>(), content, wall_now())) {
    conclude(ns, *object, std::move(next));
  } else {
    empty_later(ns, uid);
  }
}

void namespaces::remove_content(const std::string& ns, const std::string& uid,
                                const api::object& object) {
  request<command_done>(core_.writer,
                        remove{.key = api::key_of(object),
                               .uid = object.meta().uid(),
                               .cause = {.author = "namespaces"}},
                        defaults::write_timeout, [this, ns, uid](auto reply) {
                          auto* still = find(ns, uid);
                          if (still == nullptr) return;
                          const bool gone =
                              reply && ((*reply)->result || (*reply)->result.error().code == 404);
                          still->refused = still->refused || !gone;
                          if (--still->in_flight > 0) return;
                          if (std::exchange(still->refused, false)) {
                            empty_later(ns, uid);
                          } else {
                            empty(ns, uid);
                          }
                        });
}

void namespaces::conclude(const std::string& ns, const api::object& object,
                          std::unique_ptr<api::body> next) {
  auto transaction = std::make_shared<persistence::transaction>(succeed(object, std::move(next)));
  transaction->cause.author = "namespaces";
  request<commit_done>(core_.writer, commit{std::move(transaction)}, defaults::write_timeout,
                       [this, ns, uid = object.meta().uid()](auto reply) {
                         if (reply && (*reply)->result) return empty(ns, uid);
                         empty_later(ns, uid);
                       });
}

// What is left has its own time: the grace of pods, finalizers of others.
void namespaces::empty_later(const std::string& ns, const std::string& uid) {
  auto* found = find(ns, uid);
  if (found == nullptr) return;
  found->again = after(found->pause, [this, ns, uid] { empty(ns, uid); });
  found->pause = std::min(found->pause * 2, defaults::namespace_longest_pause);
}

}  // namespace troupe::actors
