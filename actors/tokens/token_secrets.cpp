#include "actors/tokens/token_secrets.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "actors/core/condition.hpp"
#include "actors/core/labels.hpp"
#include "actors/core/log.hpp"
#include "actors/tokens/defaults.hpp"
#include "actors/write/commands.hpp"
#include "actors/write/creation.hpp"
#include "api/object/object_key.hpp"
#include "api/schema/core_account.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"
#include "api/strategy/strategy.hpp"

namespace troupe::actors {

using api::core::v1::Secret;
using api::core::v1::ServiceAccount;

namespace {

bool is_account_token(const api::object& object) {
  return object.as<Secret>().type() == account_token_type;
}

// The key of the account that a secret names.
std::string account_key(const api::object& secret) {
  return api::kind_of<ServiceAccount>().key(
      secret.meta().namespace_(),
      annotation_of(secret.meta(), std::string{account_name_annotation}));
}

// True if a secret listed in the account exists.
bool has_listed_secret(const persistence::snapshot& state, const api::object& account) {
  const auto& listed = account.as<ServiceAccount>().secrets();
  return std::any_of(listed.begin(), listed.end(), [&](const auto& each) {
    const auto found =
        state.find(api::kind_of<Secret>().key(account.meta().namespace_(), each.name()));
    return found && is_account_token(*found);
  });
}

template <class Map>
bool set(Map& map, std::string_view key, const std::string& value) {
  auto& held = map[std::string{key}];
  if (held == value) return false;
  held = value;
  return true;
}

}  // namespace

bool fill_token_secret(Secret& secret, const api::object& account, const std::string& certificates,
                       const std::function<std::string(const token_claims&)>& sign) {
  const auto& owner = account.meta();
  auto& meta = *secret.mutable_metadata();
  auto& data = *secret.mutable_data();
  bool changed = set(*meta.mutable_annotations(), account_uid_annotation, owner.uid());
  changed |= set(*meta.mutable_annotations(), account_name_annotation, owner.name());
  if (!certificates.empty()) changed |= set(data, "ca.crt", certificates);
  if (data["namespace"].empty()) changed |= set(data, "namespace", owner.namespace_());
  if (!data["token"].empty()) return changed;
  token_claims claims;
  claims.ns = owner.namespace_();
  claims.account = {owner.name(), owner.uid()};
  claims.secret = named_uid{meta.name(), {}};
  claims.legacy = true;
  data["token"] = sign(claims);
  return true;
}

token_secrets::token_secrets(const persistence::store* store, core_actors core,
                             token_secret_options options)
    : informer{core.watcher}, store_{store}, core_{std::move(core)}, options_{std::move(options)} {}

const runtime::behavior& token_secrets::make_behavior() const {
  static const auto table =
      runtime::handlers(&token_secrets::on_watch_events, &token_secrets::on_watch_ended);
  return table;
}

void token_secrets::started() {
  follow(api::kind_of<Secret>().prefix(), [this](const watch_events& m) { on_secrets(m); },
         {.accept = is_account_token});
  follow(api::kind_of<ServiceAccount>().prefix(),
         [this](const watch_events& m) { on_accounts(m); });
}

std::string token_secrets::describe() const {
  return fmt::format("accountsWithSecrets: {}\noneForEachAccount: {}\n", secrets_of_.size(),
                     options_.one_for_each);
}

// -- messages from the watcher --------------------------------------------------------------------

void token_secrets::on_secrets(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    current_cause({event.cause.request, event.at});
    const auto key = api::key_of(*event.object);
    const auto account = account_key(*event.object);
    if (event.previous) forget(key, account_key(*event.previous));
    if (event.type == event_type::deleted) {
      forget(key, account);
      unlist(account, event.object->meta().name());
      sync_service_account(account);
    } else {
      secrets_of_[account].insert(key);
      sync_secret(key);
    }
  }
}

void token_secrets::on_accounts(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    current_cause({event.cause.request, event.at});
    const auto key = api::key_of(*event.object);
    if (const auto found = secrets_of_.find(key); found != secrets_of_.end())
      for (const auto& secret : found->second)
        sync_secret(secret);
    if (event.type != event_type::deleted) sync_service_account(key);
  }
}

void token_secrets::forget(const std::string& secret, const std::string& account) {
  const auto found = secrets_of_.find(account);
  if (found == secrets_of_.end()) return;
  found->second.erase(secret);
  if (found->second.empty()) secrets_of_.erase(found);
}

// -- reconciliation -----------------------------------------------------------------------------

void token_secrets::sync_service_account(const std::string& key) {
  if (!options_.one_for_each) return;
  const auto state = store_->read();
  const auto account = state.find(key);
  if (!account || account->meta().has_deletion_timestamp()) return;
  if (!has_listed_secret(state, *account)) make_secret(state, *account);
}

void token_secrets::sync_secret(const std::string& key) {
  const auto state = store_->read();
  const auto secret = state.find(key);
  if (!secret || secret->meta().has_deletion_timestamp()) return;
  const auto account = state.find(account_key(*secret));
  const auto& uid = annotation_of(secret->meta(), std::string{account_uid_annotation});
  if (account && (uid.empty() || uid == account->meta().uid())) return fill(*secret, *account);
  log().info("tokens: secret {} is deleted: its service account does not exist", key);
  ++sent_;
  request<command_done>(
      core_.writer,
      remove{.key = key, .uid = secret->meta().uid(), .cause = {.author = "token-secrets"}},
      defaults::write_timeout, [this, key](auto reply) {
        if (reply && ((*reply)->result || (*reply)->result.error().code == 404))
          retries_.erase(key);
        else
          retry_later(key, [this, key] { sync_secret(key); });
      });
}

void token_secrets::fill(const api::object& secret, const api::object& account) {
  auto changed = secret.copy_as<Secret>();
  if (!fill_token_secret(*changed, account, certificates(),
                         [this](const token_claims& claims) { return sign(claims); }))
    return;
  const auto key = api::key_of(secret);
  write(key, succeed(secret, std::move(changed)), [this, key] { sync_secret(key); });
}

// Removes a deleted secret from the list of its account.
void token_secrets::unlist(const std::string& account_key, const std::string& name) {
  const auto state = store_->read();
  const auto account = state.find(account_key);
  if (!account || account->meta().has_deletion_timestamp() ||
      state.find(api::kind_of<Secret>().key(account->meta().namespace_(), name)))
    return;
  auto changed = account->copy_as<ServiceAccount>();
  auto& listed = *changed->mutable_secrets();
  const auto kept = std::remove_if(listed.begin(), listed.end(),
                                   [&](const auto& each) { return each.name() == name; });
  if (kept == listed.end()) return;
  listed.erase(kept, listed.end());
  write(account_key + "/" + name, succeed(*account, std::move(changed)),
        [this, account_key, name] { unlist(account_key, name); });
}

// Creates the secret and lists it in the account, in one transaction. Earlier secrets from here
// that were deleted while this actor restarted are no longer listed.
void token_secrets::make_secret(const persistence::snapshot& state, const api::object& account) {
  const auto& meta = account.meta();
  const auto prefix = meta.name() + "-token-";
  auto secret = std::make_unique<Secret>();
  secret->mutable_metadata()->set_namespace_(meta.namespace_());
  secret->mutable_metadata()->set_name(api::generate_name(prefix, [this] { return random()(); }));
  secret->set_type(std::string{account_token_type});
  fill_token_secret(*secret, account, certificates(),
                    [this](const token_claims& claims) { return sign(claims); });
  auto changed = account.copy_as<ServiceAccount>();
  auto& listed = *changed->mutable_secrets();
  const auto& kind = api::kind_of<Secret>();
  listed.erase(std::remove_if(listed.begin(), listed.end(),
                              [&](const auto& each) {
                                return each.name().starts_with(prefix) &&
                                       !state.find(kind.key(meta.namespace_(), each.name()));
                              }),
               listed.end());
  changed->add_secrets()->set_name(secret->metadata().name());
  const auto key = api::key_of(account);
  auto transaction =
      create_transaction(state, kind, std::move(secret), checks::all, wall_now(), random());
  if (!transaction) return;  // the namespace is terminating
  transaction->preconditions.push_back({key, account.revision()});
  transaction->mutations.push_back({key, &account.kind(), std::move(changed)});
  write(key, std::move(*transaction), [this, key] { sync_service_account(key); });
}

std::string token_secrets::sign(const token_claims& claims) const {
  auto signed_token = options_.issuer->sign(claims);
  if (signed_token) return std::move(*signed_token);
  log().error("tokens: a token for secret {}/{} was not signed: {}", claims.ns, claims.secret->name,
              signed_token.error());
  return {};
}

std::string token_secrets::certificates() const {
  return options_.authority ? options_.authority->certificates() : std::string{};
}

// `again` runs if the write failed; after a conflict a newer state is on its way.
void token_secrets::write(const std::string& key, persistence::transaction transaction,
                          std::function<void()> again) {
  transaction.cause.author = "token-secrets";
  ++sent_;
  request<commit_done>(core_.writer,
                       commit{std::make_shared<persistence::transaction>(std::move(transaction))},
                       defaults::write_timeout, [this, key, again = std::move(again)](auto reply) {
                         if (reply && (*reply)->result) {
                           retries_.erase(key);
                         } else {
                           retry_later(key, again);
                         }
                       });
}

void token_secrets::retry_later(const std::string& key, std::function<void()> again) {
  auto& [timer, pause] = retries_[key];
  pause =
      std::clamp<runtime::duration>(pause * 2, defaults::try_again, token_defaults::longest_retry);
  timer = after(pause, [this, key, again = std::move(again)] {
    const auto before = sent_;
    again();
    if (sent_ == before) retries_.erase(key);  // nothing is to be written any more
  });
}

}  // namespace troupe::actors
