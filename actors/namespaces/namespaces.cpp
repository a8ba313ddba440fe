#include "actors/namespaces/namespaces.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "actors/core/log.hpp"
#include "actors/namespaces/defaults.hpp"
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

constexpr const char* author = "namespaces";
constexpr const char* default_account = "default";

bool is_default_account(const api::object& object) {
  return object.meta().name() == default_account;
}

}  // namespace

namespaces::namespaces(const persistence::store* store, core_actors core)
    : content_deleter{store, std::move(core), author} {}

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
  return fmt::format("ending: [{}]\n", endings());
}

// -- messages from the watcher --------------------------------------------------------------------

void namespaces::on_namespaces(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    current_cause({event.cause.request, event.at});
    const auto& name = event.object->meta().name();
    if (event.type == event_type::deleted) {
      retries_.erase(api::kind_of<ServiceAccount>().key(name, default_account));
      stop_deletion(*event.object);
      ensure_system();
    } else if (!terminating(event.object->as<Namespace>())) {
      ensure_account(name);
    } else {
      retries_.erase(api::kind_of<ServiceAccount>().key(name, default_account));
      begin_deletion(*event.object);
    }
  }
}

void namespaces::on_accounts(const watch_events& m) {
  for (const auto& event : m.events) {
    if (event.type == event_type::deleted) ensure_account(event.object->meta().namespace_());
  }
}

// -- required objects ---------------------------------------------------------------------------

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

// `again` runs if the creation failed.
void namespaces::create(const api::kind_info& kind, std::unique_ptr<api::body> content,
                        std::function<void()> again) {
  const auto key = kind.key(api::meta_of(*content).namespace_(), api::meta_of(*content).name());
  auto transaction = create_transaction(store_->read(), kind, std::move(content),
                                        checks::done_before, wall_now(), random());
  if (!transaction) return retry_later(key, std::move(again));
  transaction->cause.author = author;
  request<commit_done>(core_.writer,
                       commit{std::make_shared<persistence::transaction>(std::move(*transaction))},
                       defaults::write_timeout, [this, key, again = std::move(again)](auto reply) {
                         if (reply && (*reply)->result)
                           retries_.erase(key);
                         else
                           retry_later(key, again);
                       });
}

// A webhook or a quota may refuse the object for a long time.
void namespaces::retry_later(const std::string& key, std::function<void()> again) {
  auto& next = retries_[key];
  next.pause = std::clamp<runtime::duration>(next.pause * 2, defaults::try_again,
                                             defaults::creation_retry_longest);
  log().info("namespaces: creating {} failed, retrying in {} s", key,
             std::chrono::duration_cast<std::chrono::seconds>(next.pause).count());
  next.timer = after(next.pause, std::move(again));
}

// -- deletion of a namespace --------------------------------------------------------------------

content_deleter::stage namespaces::survey(const persistence::snapshot& state, const api::object& of,
                                          std::size_t limit) const {
  auto content = actors::survey(state, of.meta().name(), limit);
  if (!content.to_remove.empty()) return {.to_remove = std::move(content.to_remove)};
  return {.next = progressed(of.as<Namespace>(), content, wall_now())};
}

bool namespaces::waits(const api::object& of) const {
  return terminating(of.as<Namespace>());
}

}  // namespace troupe::actors
