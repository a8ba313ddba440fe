#include "actors/tokens/token_cleaner.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <utility>

#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::core::v1::Secret;

namespace {

bool is_token(const api::object& object) {
  return object.as<Secret>().type() == bootstrap_token_type;
}

}  // namespace

token_cleaner::token_cleaner(core_actors core) : informer{core.watcher}, core_{std::move(core)} {}

const runtime::behavior& token_cleaner::make_behavior() const {
  static const auto table =
      runtime::handlers(&token_cleaner::on_watch_events, &token_cleaner::on_watch_ended);
  return table;
}

void token_cleaner::started() {
  follow(api::kind_of<Secret>().prefix(std::string{bootstrap_token_namespace}),
         [this](const watch_events& m) { on_tokens(m); }, {.accept = is_token});
}

std::string token_cleaner::describe() const {
  return fmt::format("tokens that expire: {}\n", tokens_.size());
}

void token_cleaner::on_tokens(const watch_events& m) {
  for (const auto& event : m.events) {
    const auto& object = *event.object;
    const auto key = object.kind().key(object.meta().namespace_(), object.meta().name());
    const auto token = read_bootstrap_token(object);
    if (event.type == event_type::deleted || !token || !token->expires) {
      tokens_.erase(key);
    } else {
      tokens_[key] = {*token->expires, object.revision()};
    }
  }
  if (m.synced) clean();
}

// Runs at least each `defaults::token_sweep`: the wall clock may be set forward.
void token_cleaner::clean() {
  const auto now = wall_now();
  runtime::duration wait = defaults::token_sweep;
  for (const auto& [key, token] : tokens_) {
    const auto left = token.at - now;
    if (left <= left.zero()) {
      remove_token(key, token.seen);
    } else {
      wait = std::min<runtime::duration>(wait, left);
    }
  }
  next_ = tokens_.empty() ? runtime::timer{} : after(wait, [this] { clean(); });
}

void token_cleaner::remove_token(const std::string& key, revision seen) {
  tell(core_.writer, remove{.key = key, .at = seen, .cause = {.author = "token-cleaner"}});
}

}  // namespace troupe::actors
