#include "server/console/views/views.hpp"

#include "server/console/output/rendering.hpp"
#include "server/http/status.hpp"

namespace troupe::server {
namespace {

#define TROUPE_VIEW(name, scope) {#name, &show_##name, view_scope::scope},
constexpr named_view views[] = {
#include "server/console/views/views.def"
};
#undef TROUPE_VIEW

console_answer refusal(const api::error& error) {
  return {error.code, status_response(error).content.text(), std::nullopt};
}

}  // namespace

const named_view* view_called(std::string_view name) noexcept {
  for (const auto& each : views)
    if (each.name == name) return &each;
  return nullptr;
}

console_answer rendered(const view_result& result, const query_string& query) {
  if (!result) return refusal(result.error());
  const auto form = parse_rendering(query.get_or("as", "json"));
  if (!form) return refusal(api::bad_request("as: one of json, yaml, text"));
  return {200, render(result->json, *form), result->total};
}

std::string target_of(std::string_view view, const query_string& query) {
  std::string target{view};
  char separator = '?';
  query.each([&](const std::string& key, const std::string& value) {
    // The other node does not need its own name, and the position of a trace is set here.
    if (key == "node" || key == "after" || key == "revisions") return;
    target += separator + percent_encode(key) + "=" + percent_encode(value);
    separator = '&';
  });
  return target;
}

console_answer console_failure(int status, std::string message) {
  std::string reason;
  for (const char c : reason_phrase(status))
    if (c != ' ') reason += c;
  return {status, status_response(status, reason, message).content.text(), std::nullopt};
}

}  // namespace troupe::server
