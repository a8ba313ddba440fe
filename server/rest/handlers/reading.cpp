#include "server/rest/handlers/reading.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include "actors/core/store_error.hpp"
#include "api/conversion/shapes.hpp"
#include "api/kind_row.hpp"
#include "server/rest/requests/continue_token.hpp"
#include "server/rest/watch/watch_session.hpp"

namespace troupe::server {
namespace {

using persistence::snapshot;

// kubernetes: apiserver/pkg/storage, NewTooLargeResourceVersionError.
api::error too_new(std::uint64_t requested, std::uint64_t present) {
  auto out = api::timed_out(
      fmt::format("Too large resource version: {}, current: {}", requested, present), 1);
  out.causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  return out;
}

api::expected<void> not_older(const snapshot& state,
                              const std::optional<std::uint64_t>& requested) {
  if (requested && *requested > state.at()) return api::fail(too_new(*requested, state.at()));
  return {};
}

// The state of a list, and the position in it where the page begins.
struct place {
  snapshot state;
  std::string after;  // a key; empty: the beginning
};

// The message tells users what clients do automatically with the token.
api::error page_expired(const std::string& next) {
  auto out = api::expired(
      "The provided continue parameter is too old to display a consistent list result. You can "
      "start a new list without the continue parameter, or use the continue token in this response "
      "to retrieve the remainder of the results. Continuing with the provided token results in an "
      "inconsistent list - objects that were created, modified, or deleted between the time the "
      "first chunk was returned and now may show up in the list.");
  out.continue_token = next;
  return out;
}

api::expected<place> resume(const call& call, const list_options& options,
                            const std::string& prefix) {
  auto token = decode_token(options.continue_token);
  if (!token) return api::fail(std::move(token.error()));
  auto after = prefix + token->after;
  if (token->revision < 0) return place{call.services.read(), std::move(after)};
  auto state = call.services.plane.store().read_at(static_cast<std::uint64_t>(token->revision));
  if (state) return place{std::move(*state), std::move(after)};
  if (state.error().code == persistence::errc::compacted)
    return api::fail(page_expired(encode_token({-1, token->after})));
  return api::fail(actors::to_api_error(state.error(), call.kind(), {}));
}

// kubernetes: docs, "The resourceVersion parameter". Pages are of one state, so without a match
// rule the revision is exact; if only newer states are available here, they serve such a client
// better than a refusal.
bool prefers_exact(const list_options& options) {
  return options.match == revision_match::unset && options.limit != 0 &&
         options.revision.value_or(0) != 0;
}

api::expected<place> begin(const call& call, const list_options& options) {
  auto state = call.services.read();
  const bool exact = options.match == revision_match::exact;
  if ((exact || prefers_exact(options)) && *options.revision < state.at()) {
    auto then = call.services.plane.store().read_at(*options.revision);
    if (then) return place{std::move(*then), {}};
    if (exact)
      return api::fail(
          api::expired(fmt::format("The resourceVersion for the provided list is too old: {} ({})",
                                   *options.revision, state.at())));
  }
  if (auto fine = not_older(state, options.revision); !fine)
    return api::fail(std::move(fine.error()));
  return place{std::move(state), {}};
}

// The earlier revision whose state the list shows.
std::optional<persistence::revision> earlier_revision(const list_options& options) {
  if (options.continue_token.empty())
    return options.match == revision_match::exact || prefers_exact(options) ? options.revision
                                                                            : std::nullopt;
  const auto token = decode_token(options.continue_token);
  if (!token || token->revision < 0) return std::nullopt;
  return static_cast<persistence::revision>(token->revision);
}

// A list whose selector names a single object.
list_page single(const call& call, const list_options& options, const snapshot& state,
                 std::string_view name) {
  list_page page;
  const auto found = state.find(call.kind().key(call.route.ns, name));
  if (found && options.labels.matches(found->meta().labels()) &&
      options.fields.matches(found->content()))
    page.items.push_back(found);
  return page;
}

list_page scan(const list_options& options, const place& from, const std::string& prefix) {
  list_page page;
  const bool all = options.selects_all();
  std::string last;
  std::int64_t behind = 0;
  from.state.scan(prefix, from.after, [&](std::string_view key, const api::object_ptr& object) {
    if (options.limit != 0 && page.items.size() == options.limit) {
      // The number of remaining items is known only if every key matches.
      ++behind;
      return all && !from.after.empty();
    }
    const auto stored = object->stored();
    if (!stored.empty() && !options.fields.may_match(stored)) return true;
    if (!all && (!options.labels.matches(object->meta().labels()) ||
                 !options.fields.matches(object->content())))
      return true;
    page.items.push_back(object);
    last = key.substr(prefix.size());
    return true;
  });
  if (behind == 0) return page;
  page.continue_token = encode_token({static_cast<std::int64_t>(from.state.at()), last});
  if (all && from.after.empty())
    page.remaining = static_cast<std::int64_t>(from.state.count(prefix) - page.items.size());
  else if (all)
    page.remaining = behind;
  return page;
}

}  // namespace

api::expected<list_page> read_page(const call& call, const list_options& options) {
  const auto& kind = call.kind();
  const auto prefix = kind.prefix(call.route.ns);
  const auto from =
      options.continue_token.empty() ? begin(call, options) : resume(call, options, prefix);
  if (!from) return api::fail(from.error());
  const auto name = options.fields.exact("metadata.name");
  const bool one = name && !name->empty() && (!kind.namespaced() || !call.route.ns.empty());
  auto page = one ? single(call, options, from->state, *name) : scan(options, *from, prefix);
  page.kind = &kind;
  page.revision = from->state.at();
  if (!page.continue_token.empty()) call.services.plane.store().pin(from->state);
  return page;
}

void answer_list(const call_ptr& call, list_page page) {
  if (api::is_converted_on_read(call->kind()))
    for (auto& each : page.items)
      each = api::convert_from_home(call->kind(), each);
  call->answer(list_answer(call->form, std::move(page), call->rows));
}

namespace {

// True if the local state may be too old: the client requests no revision, or a later one.
bool wants_newest(const call& call) {
  const auto& query = call.request->query;
  const auto present = call.services.read().at();
  if (const auto next = query.get_or("continue", ""); !next.empty()) {
    const auto token = decode_token(next);
    return token && token->revision > static_cast<std::int64_t>(present);
  }
  const auto text = query.get_or("resourceVersion", "");
  if (text.empty()) return true;
  const auto wanted = parse_revision(text);
  return wanted && *wanted > present;
}

}  // namespace

void at_newest(const call_ptr& call, void (*handler)(const call_ptr& call)) {
  auto& store = call->services.plane.store();
  if (!store.is_shared() || !wants_newest(*call)) return handler(call);
  store.barrier([call, handler](const persistence::expected<std::uint64_t>& reached) {
    if (!reached)
      return call->fail(api::timed_out("the store does not answer: " + reached.error().message, 1));
    call->run([call, handler] { handler(call); });
  });
}

namespace {

void read_object(const call_ptr& call) {
  const auto state = call->services.read();
  if (const auto text = call->request->query.get_or("resourceVersion", ""); !text.empty()) {
    const auto revision = parse_revision(text);
    if (!revision) return call->fail(revision.error());
    if (const auto fine = not_older(state, *revision); !fine) return call->fail(fine.error());
  }
  const auto found = state.find(call->key());
  if (!found) return call->fail(api::not_found(call->kind(), call->route.name));
  call->answer(200, found);
}

void answer_page(const call_ptr& call, const list_options& options) {
  auto page = read_page(*call, options);
  if (!page) return call->fail(page.error());
  answer_list(call, std::move(*page));
}

// An earlier state that another control plane or an earlier process has shown is not in memory:
// it is rebuilt from the log, on a thread that may block.
void read_list(const call_ptr& call) {
  auto options = parse_list_options(call->kind(), call->request->query, false);
  if (!options) return call->fail(options.error());
  auto& store = call->services.plane.store();
  const auto earlier = earlier_revision(*options);
  const auto kept = earlier ? store.read_at(*earlier) : store.read();
  if (kept || kept.error().code != persistence::errc::compacted) return answer_page(call, *options);
  const bool taken =
      call->services.rebuilds.post([call, &store, at = *earlier, options = *options]() mutable {
        // If it fails the state is missing, and the client is told so.
        if (const auto made = store.rebuild(at); !made)
          spdlog::debug("rest: no state at revision {}: {}", at, made.error().message);
        call->run([call, options = std::move(options)] { answer_page(call, options); });
      });
  if (!taken) answer_page(call, *options);
}

void begin_watch(const call_ptr& call) {
  auto options = parse_list_options(call->kind(), call->request->query, true);
  if (!options) return call->fail(options.error());
  // Its initial state is the current one.
  if (options->initial_events.value_or(false))
    if (const auto fine = not_older(call->services.read(), options->revision); !fine)
      return call->fail(fine.error());
  start_watch(call, std::move(*options));
}

}  // namespace

void get_object(const call_ptr& call) {
  at_newest(call, &read_object);
}

void list_objects(const call_ptr& call) {
  at_newest(call, &read_list);
}

void watch_objects(const call_ptr& call) {
  at_newest(call, &begin_watch);
}

}  // namespace troupe::server
