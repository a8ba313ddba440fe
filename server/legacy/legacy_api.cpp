#include "server/legacy/legacy_api.hpp"

#include <optional>
#include <utility>
#include <vector>

#include "api/conversion/conversion.hpp"
#include "api/v1beta1/v1beta1.hpp"
#include "api/values/integer.hpp"
#include "api/values/text_parts.hpp"
#include "server/http/version.hpp"
#include "server/legacy/defaults.hpp"
#include "server/legacy/minion_proxy.hpp"
#include "server/legacy/object_proxy.hpp"
#include "server/legacy/verbs.hpp"

namespace troupe::server {

using namespace legacy;

namespace {

using parts_list = std::vector<std::string_view>;

std::optional<response> document(const request& request) {
  if (request.method != http_method::get) return std::nullopt;
  if (request.path == "/healthz") return text_response(200, "ok");
  if (request.path == "/version") return version_response();
  if (request.path == "/api" || request.path == "/api/")
    return json_response(200, R"({"versions":["v1beta1"]})");
  return std::nullopt;
}

// Paths below watch/, redirect/ and operations/ have their own rules.
enum class section : std::uint8_t { objects, watch, redirect };

std::optional<place> place_of(const request& request, section section, const parts_list& parts) {
  place out;
  if (parts.empty() || parts.size() > 2) return std::nullopt;
  out.shape = api::conversions::instance().find_resource("v1beta1", parts[0]);
  if (out.shape == nullptr) return std::nullopt;
  out.hub = api::conversions::instance().hub(*out.shape);
  if (out.hub == nullptr) return std::nullopt;
  if (out.hub->namespaced()) {
    out.ns = request.query.get_or("namespace", legacy::defaults::ns);
    if (out.ns.empty()) out.ns = legacy::defaults::ns;
  }
  if (parts.size() == 2) out.id = parts[1];
  // A watch with a field selector for one object is a watch of one key.
  if (section == section::watch && out.id.empty())
    if (const auto fields = legacy_selector::parse(request.query.get_or("fields", "")))
      out.id = fields->exact("ID").value_or("");
  out.name = api::v1beta1::name_of(out.id);
  return out;
}

using verb_handler = void (*)(const legacy_call_ptr&);
struct wanted_verb {
  server::verb verb;
  verb_handler handle;
};

std::optional<wanted_verb> verb_of(const request& request, bool one) {
  switch (request.method) {
    case http_method::get:
      if (one) return wanted_verb{verb::get, &get_object};
      return wanted_verb{verb::list, &list_objects};
    case http_method::post:
      if (!one) return wanted_verb{verb::create, &create_object};
      return std::nullopt;
    case http_method::put:
      if (one) return wanted_verb{verb::update, &update_object};
      return std::nullopt;
    case http_method::del:
      if (one) return wanted_verb{verb::remove, &delete_object};
      return std::nullopt;
    default:
      return std::nullopt;
  }
}

// Bindings are write-only (upstream: pkg/registry/binding/rest.go).
void refuse_binding(const legacy_call_ptr& call) {
  if (call->request->method == http_method::put)
    return call->fail(api::internal("Bindings may not be changed."));
  call->fail(api::not_found(*call->at.hub, call->at.id.empty() ? "list" : call->at.id));
}

std::optional<wanted_verb> handler_of(const request& request, section section, const place& at) {
  if (section != section::objects && request.method != http_method::get) return std::nullopt;
  if (section == section::watch && at.hub->stored())
    return wanted_verb{verb::watch, &watch_objects};
  if (section == section::watch) return std::nullopt;
  if (section == section::redirect) {
    if (at.id.empty()) return std::nullopt;
    return wanted_verb{verb::get, &redirect};
  }
  auto found = verb_of(request, !at.id.empty());
  if (found && !at.hub->stored())
    found->handle = found->verb == verb::create ? &create_binding : &refuse_binding;
  return found;
}

}  // namespace

legacy_api::legacy_api(rest_services& services)
    : services_{services}, pending_{services.plane.system()} {}
legacy_api::~legacy_api() = default;

void legacy_api::serve(request_ptr request, responder answer) {
  if (auto found = document(*request)) return answer.respond(std::move(*found));
  const auto held = request;  // the parts are views into its path
  auto parts = api::parts_between(held->path, '/');
  if (is_minion_request(parts))
    return answer_for_minion(services_, *request, std::move(answer), parts);
  if (parts.size() < 3 || parts[0] != "api" || parts[1] != "v1beta1")
    return answer.respond(unknown_path(*request));
  parts.erase(parts.begin(), parts.begin() + 2);
  serve_resource(std::move(request), std::move(answer), parts);
}

void legacy_api::serve_resource(request_ptr request, responder answer, const parts_list& given) {
  auto parts = given;
  const auto make = [&](place at, verb verb) {
    return std::make_shared<legacy_call>(services_, pending_, request, answer, std::move(at), verb);
  };
  if (parts[0] == "operations" && request->method == http_method::get && parts.size() <= 2) {
    if (parts.size() == 1) return pending_.list(make({}, verb::list));
    const auto id = api::parse_integer<std::uint64_t>(parts[1]);
    if (!id) return answer.respond(unknown_path(*request));
    return pending_.show(make({}, verb::get), *id);
  }
  if (is_minion_request(parts))
    return answer_for_minion(services_, *request, std::move(answer), parts);
  if (is_object_request(parts))
    return pass_to_object(services_, *request, std::move(answer), parts);
  auto part = section::objects;
  if (parts[0] == "watch") part = section::watch;
  if (parts[0] == "redirect") part = section::redirect;
  if (part != section::objects) parts.erase(parts.begin());
  auto at = place_of(*request, part, parts);
  const auto found = at ? handler_of(*request, part, *at) : std::nullopt;
  if (!found) return answer.respond(unknown_path(*request));
  found->handle(make(std::move(*at), found->verb));
}

}  // namespace troupe::server
