#include "server/legacy/legacy_api.hpp"

#include <charconv>
#include <optional>
#include <utility>
#include <vector>

#include "api/conversion.hpp"
#include "api/v1beta1/v1beta1.hpp"
#include "server/legacy/defaults.hpp"
#include "server/legacy/verbs.hpp"
#include "server/version.hpp"

namespace troupe::server {

using namespace legacy;

namespace {

using parts_list = std::vector<std::string_view>;

parts_list split(std::string_view path) {
  parts_list out;
  while (!path.empty()) {
    const auto slash = std::min(path.find('/'), path.size());
    if (slash > 0) out.push_back(path.substr(0, slash));
    path.remove_prefix(std::min(slash + 1, path.size()));
  }
  return out;
}

response text_response(std::string text) {
  response out;
  out.content_type = "text/plain; charset=utf-8";
  out.content.add(std::move(text));
  return out;
}

std::optional<response> document(const request& what) {
  if (what.method != http_method::get) return std::nullopt;
  if (what.path == "/healthz") return text_response("ok");
  if (what.path == "/version") return version_response();
  if (what.path == "/api" || what.path == "/api/")
    return json_response(200, R"({"versions":["v1beta1"]})");
  return std::nullopt;
}

// What follows watch/ and redirect/ and operations/ is read by their own rules.
enum class section : std::uint8_t { objects, watch, redirect };

std::optional<place> place_of(const request& what, section in, const parts_list& parts) {
  place out;
  if (parts.empty() || parts.size() > 2) return std::nullopt;
  out.shape = api::conversions::instance().find_resource("v1beta1", parts[0]);
  if (out.shape == nullptr) return std::nullopt;
  out.hub = api::conversions::instance().hub(*out.shape);
  if (out.hub == nullptr) return std::nullopt;
  if (out.hub->namespaced()) {
    out.space = what.query.get_or("namespace", legacy::defaults::space);
    if (out.space.empty()) out.space = legacy::defaults::space;
  }
  if (parts.size() == 2) out.id = parts[1];
  // A watch of one object by its field is a watch of one key.
  if (in == section::watch && out.id.empty())
    if (const auto fields = legacy_selector::parse(what.query.get_or("fields", "")))
      out.id = fields->exact("ID").value_or("");
  out.name = api::v1beta1::name_of(out.id);
  return out;
}

using verb_handler = void (*)(const legacy_call_ptr&);
struct wanted_verb {
  verb what;
  verb_handler handle;
};

std::optional<wanted_verb> verb_of(const request& what, bool one) {
  switch (what.method) {
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

// Bindings are written, never read (upstream: pkg/registry/binding/rest.go).
void refuse_binding(const legacy_call_ptr& what) {
  if (what->what->method == http_method::put)
    return what->fail(api::internal("Bindings may not be changed."));
  what->fail(api::not_found(*what->at.hub, what->at.id.empty() ? "list" : what->at.id));
}

std::optional<wanted_verb> handler_of(const request& what, section in, const place& at) {
  if (in != section::objects && what.method != http_method::get) return std::nullopt;
  if (in == section::watch && at.hub->stored()) return wanted_verb{verb::watch, &watch_objects};
  if (in == section::watch) return std::nullopt;
  if (in == section::redirect) {
    if (at.id.empty()) return std::nullopt;
    return wanted_verb{verb::get, &redirect};
  }
  auto found = verb_of(what, !at.id.empty());
  if (found && !at.hub->stored())
    found->handle = found->what == verb::create ? &create_binding : &refuse_binding;
  return found;
}

}  // namespace

legacy_api::legacy_api(rest_services& in) : in_{in}, pending_{in.plane.company()} {}
legacy_api::~legacy_api() = default;

void legacy_api::serve(request_ptr what, responder answer) {
  if (auto found = document(*what)) return answer.respond(std::move(*found));
  const std::string path = what->path;
  auto parts = split(path);
  if (parts.size() < 3 || parts[0] != "api" || parts[1] != "v1beta1")
    return answer.respond(nothing_there(*what));
  parts.erase(parts.begin(), parts.begin() + 2);
  serve_resource(std::move(what), std::move(answer), parts);
}

void legacy_api::serve_resource(request_ptr what, responder answer, const parts_list& given) {
  auto parts = given;
  const auto make = [&](place at, verb wanted) {
    return std::make_shared<legacy_call>(in_, pending_, what, answer, std::move(at), wanted);
  };
  if (parts[0] == "operations" && what->method == http_method::get && parts.size() <= 2) {
    if (parts.size() == 1) return pending_.list(make({}, verb::list));
    std::uint64_t id = 0;
    const auto end = parts[1].data() + parts[1].size();
    const auto [at, failed] = std::from_chars(parts[1].data(), end, id);
    if (failed != std::errc() || at != end) return answer.respond(nothing_there(*what));
    return pending_.show(make({}, verb::get), id);
  }
  auto in = section::objects;
  if (parts[0] == "watch") in = section::watch;
  if (parts[0] == "redirect") in = section::redirect;
  if (in != section::objects) parts.erase(parts.begin());
  auto at = place_of(*what, in, parts);
  const auto found = at ? handler_of(*what, in, *at) : std::nullopt;
  if (!found) return answer.respond(nothing_there(*what));
  found->handle(make(std::move(*at), found->what));
}

}  // namespace troupe::server
