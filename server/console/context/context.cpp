#include "server/console/context/context.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "api/scheme.hpp"
#include "api/values/integer.hpp"
#include "api/values/timestamp.hpp"

namespace troupe::server {
namespace {

api::error nothing_called(std::string_view thing, std::string_view name, std::string_view hint) {
  api::error out;
  out.code = 404;
  out.reason = "NotFound";
  out.message = fmt::format("there is no {} \"{}\": {}", thing, name, hint);
  return out;
}

constexpr std::string_view hint_for_actors = "`actors --match '*part*'` finds names";

api::kind_handle kind_called(std::string_view word) {
  for (const auto* kind : api::scheme::instance().all()) {
    if (!kind->stored()) continue;
    const auto& options = kind->options();
    if (word == options.plural() || word == options.singular() ||
        word == kind->qualified_plural() || word == kind->kind())
      return kind;
    for (const auto& each : options.short_names())
      if (word == each) return kind;
  }
  return nullptr;
}

}  // namespace

std::string full_name(const runtime::actor_info& actor) {
  return actor.kind + "/" + actor.name;
}

api::expected<runtime::actor_info> find_actor(const console_context& context,
                                              std::string_view name) {
  if (name.empty()) return api::fail(api::bad_request("an actor must be named: kind/name"));
  const auto slash = name.find('/');
  if (slash != std::string_view::npos) {
    const auto found = context.actors().find(name.substr(0, slash), name.substr(slash + 1));
    if (found) {
      if (auto row = context.actors().find(found.id())) return std::move(*row);
    }
  }
  const auto found = context.actors().called(name);
  if (found.size() > 1)
    return api::fail(
        api::bad_request(fmt::format("{} actors are called \"{}\": name the kind as well, e.g. {}",
                                     found.size(), name, name_of(context, found.front().id()))));
  if (!found.empty())
    if (auto row = context.actors().find(found.front().id())) return std::move(*row);
  return api::fail(nothing_called("actor", name, hint_for_actors));
}

std::string name_of(const console_context& context, std::uint64_t id) {
  const auto found = context.actors().find(id);
  return found ? full_name(*found) : fmt::format("ended/{}", id);
}

std::unordered_map<std::uint64_t, std::string> names_of(const console_context& context,
                                                        const std::vector<std::uint64_t>& ids) {
  std::unordered_map<std::uint64_t, std::string> names;
  for (const auto id : ids)
    if (id != 0 && names.count(id) == 0) names.emplace(id, name_of(context, id));
  return names;
}

std::string object_name::text() const {
  return kind->qualified_plural() + "/" + (kind->namespaced() ? ns + "/" : "") + name;
}

api::expected<object_name> parse_object_name(std::string_view text) {
  constexpr std::string_view form = "write resource/namespace/name, e.g. pods/default/web-1";
  const auto slash = text.find('/');
  if (slash == std::string_view::npos || slash + 1 == text.size())
    return api::fail(api::bad_request(fmt::format("\"{}\" names no object: {}", text, form)));
  object_name made;
  made.kind = kind_called(text.substr(0, slash));
  if (made.kind == nullptr)
    return api::fail(nothing_called("resource", text.substr(0, slash), form));
  const auto rest = text.substr(slash + 1);
  const auto second = rest.find('/');
  if (!made.kind->namespaced()) {
    made.name = rest;
  } else if (second == std::string_view::npos) {
    made.ns = "default";
    made.name = rest;
  } else {
    made.ns = rest.substr(0, second);
    made.name = rest.substr(second + 1);
  }
  if (made.name.empty() || made.name.find('/') != std::string::npos)
    return api::fail(api::bad_request(fmt::format("\"{}\" names no object: {}", text, form)));
  return made;
}

std::string readable_key(std::string_view key) {
  constexpr std::string_view registry = "/registry/";
  const auto kind = api::scheme::instance().find_key(key);
  if (kind && kind->options().group_in_key())
    return kind->qualified_plural() + '/' + std::string{key.substr(kind->prefix().size())};
  if (key.starts_with(registry)) key.remove_prefix(registry.size());
  return std::string{key};
}

bool matches_glob(std::string_view text, std::string_view pattern) noexcept {
  if (pattern.empty()) return true;
  if (pattern.find_first_of("*?") == std::string_view::npos)
    return text.find(pattern) != std::string_view::npos;
  std::size_t t = 0;
  std::size_t p = 0;
  auto star = std::string_view::npos;
  std::size_t from_star = 0;
  while (t < text.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++t;
      ++p;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from_star = t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++from_star;
    } else {
      return false;
    }
  }
  return pattern.find_first_not_of('*', p) == std::string_view::npos;
}

api::expected<std::size_t> number_of(const query_string& from, std::string_view name,
                                     std::size_t fallback, std::size_t most) {
  const auto text = from.get(name);
  if (!text) return fallback;
  const auto number = api::parse_integer<std::size_t>(*text);
  if (!number)
    return api::fail(api::bad_request(fmt::format("{}: \"{}\" is no number", name, *text)));
  return std::min(*number, most);
}

std::string request_text(std::uint64_t id) {
  return id == 0 ? std::string{} : fmt::format("{:016x}", id);
}

std::string time_text(std::chrono::system_clock::time_point at) {
  const auto since = at.time_since_epoch();
  const auto seconds = std::chrono::floor<std::chrono::seconds>(since);
  std::string out;
  api::append_micro_time(
      out, {seconds.count(),
            static_cast<std::int32_t>(std::chrono::nanoseconds{since - seconds}.count())});
  return out;
}

std::string level_text(spdlog::level::level_enum level) {
  const auto text = spdlog::level::to_string_view(level);
  return {text.data(), text.size()};
}

}  // namespace troupe::server
