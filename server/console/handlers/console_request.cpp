#include "server/console/handlers/console_request.hpp"

#include <fmt/format.h>

#include "server/console/output/rendering.hpp"
#include "server/http/status.hpp"

namespace troupe::server {
namespace {

constexpr std::string_view right_header = "x-troupe-control";

}  // namespace

bool is_console_path(std::string_view path) noexcept {
  return path == "/console" || path.starts_with("/console/");
}

bool is_trace(std::string_view path) noexcept {
  return path.starts_with(console_api_prefix) && path.substr(console_api_prefix.size()) == "trace";
}

std::string_view view_name(const request& request) {
  return std::string_view{request.path}.substr(console_api_prefix.size());
}

control_requester requester_of(const request& request) {
  return {request.user ? request.user->name : "?",
          request.connection ? request.connection->peer : "?", request.id};
}

console_question question_of(const request& request) {
  return {target_of(view_name(request), request.query), request.method == http_method::post,
          requester_of(request).user};
}

std::optional<response> refuse(const request& request) {
  if (request.method == http_method::get) return std::nullopt;
  if (request.method != http_method::post)
    return status_response(405, "MethodNotAllowed", "GET shows, POST changes something");
  const auto name = view_name(request);
  if (!is_control_verb(name) || request.headers.get(right_header) == "allow") return std::nullopt;
  return status_response(403, "Forbidden",
                         fmt::format("{} changes something: attach with --allow-control", name));
}

response to_response(console_answer from, const query_string& query) {
  response made;
  made.status = from.status;
  const auto form = from.status == 200 ? parse_rendering(query.get_or("as", "json")) : std::nullopt;
  made.content_type = content_type_of(form.value_or(rendering::json));
  if (from.total) made.fields.push_back({"x-total-count", std::to_string(*from.total)});
  made.content.add(std::move(from.body));
  return made;
}

response no_such_path(std::string_view path) {
  return status_response(404, "NotFound",
                         "the console has no " + std::string{path} + ": see docs/console.md");
}

}  // namespace troupe::server
