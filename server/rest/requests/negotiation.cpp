#include "server/rest/requests/negotiation.hpp"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

#include "api/values/ascii.hpp"
#include "api/values/text_parts.hpp"

namespace troupe::server {
namespace {

constexpr std::string_view json_type = "application/json";
constexpr std::string_view yaml_type = "application/yaml";
constexpr std::string_view protobuf_type = "application/vnd.kubernetes.protobuf";
constexpr std::string_view text_types = "application/json, application/yaml";
constexpr std::string_view all_types =
    "application/json, application/yaml, application/vnd.kubernetes.protobuf";

std::string_view trim(std::string_view text) {
  return api::trimmed(text, " \t");
}

// Calls `visit(part)` for each part between separators, trimmed; stops when it returns false.
template <class F>
void each_part(std::string_view text, char separator, F visit) {
  while (!text.empty())
    if (!visit(trim(api::take_part(text, separator)))) return;
}

struct clause {
  std::string type;
  std::string_view as, group, version;
  double quality = 1;
};

clause parse_clause(std::string_view text) {
  clause out;
  bool first = true;
  each_part(text, ';', [&](std::string_view part) {
    if (std::exchange(first, false)) {
      out.type = api::to_lower(part);
      return true;
    }
    const auto equals = std::min(part.find('='), part.size());
    const auto key = trim(part.substr(0, equals));
    const auto value = trim(part.substr(std::min(equals + 1, part.size())));
    if (key == "as") out.as = value;
    if (key == "g") out.group = value;
    if (key == "v") out.version = value;
    if (key == "q") out.quality = std::strtod(std::string{value}.c_str(), nullptr);
    return true;
  });
  return out;
}

std::optional<response_format> form_of(const clause& c, const asked_for& of) {
  response_format out;
  if (c.type == yaml_type && !of.watching)
    out.media = api::media::yaml;
  else if (c.type == protobuf_type)
    out.media = api::media::protobuf;
  else if (c.type != json_type && c.type != "*/*" && c.type != "application/*")
    return std::nullopt;
  if (c.as.empty() && of.custom && out.media == api::media::protobuf) return std::nullopt;
  if (c.as.empty()) return out;
  if (c.group != "meta.k8s.io" || (c.version != "v1" && c.version != "v1beta1"))
    return std::nullopt;
  out.v1 = c.version == "v1";
  if (c.as == "Table" && out.media == api::media::json && of.readable)
    out.as = shape::table;
  else if (c.as == "PartialObjectMetadata" || c.as == "PartialObjectMetadataList")
    out.as = shape::metadata;
  else
    return std::nullopt;
  return out;
}

// Calls `take(clause)` for each clause; returns the result of the best one.
template <class T, class F>
std::optional<T> best(std::string_view accept, F take) {
  std::optional<T> chosen;
  double quality = 0;
  each_part(accept, ',', [&](std::string_view text) {
    const auto c = parse_clause(text);
    if (c.quality <= quality) return true;
    if (auto found = take(c)) {
      chosen = std::move(found);
      quality = c.quality;
    }
    return quality < 1;
  });
  return chosen;
}

}  // namespace

api::expected<response_format> negotiate(std::string_view accept, const asked_for& of) {
  if (accept.empty() || accept == json_type || accept == "*/*") return response_format{};
  auto found = best<response_format>(accept, [&](const clause& c) { return form_of(c, of); });
  if (found) return *found;
  if (of.watching)
    return api::fail(api::not_acceptable(
        of.custom ? json_type : "application/json, application/vnd.kubernetes.protobuf"));
  return api::fail(api::not_acceptable(of.custom ? text_types : all_types));
}

std::string_view negotiate_discovery(std::string_view accept) {
  const auto take = [](const clause& c) -> std::optional<std::string_view> {
    if (c.type != json_type && c.type != "*/*") return std::nullopt;
    if (c.as.empty()) return std::string_view{};
    if (c.as != "APIGroupDiscoveryList" || c.group != "apidiscovery.k8s.io") return std::nullopt;
    if (c.version == "v2") return "v2";
    if (c.version == "v2beta1") return "v2beta1";
    return std::nullopt;
  };
  return best<std::string_view>(accept, take).value_or(std::string_view{});
}

std::string content_type_of(const response_format& form, bool watching) {
  if (form.media == api::media::protobuf)
    return watching ? "application/vnd.kubernetes.protobuf;stream=watch"
                    : std::string{protobuf_type};
  return std::string{form.media == api::media::yaml ? yaml_type : json_type};
}

api::expected<api::media> body_media(std::string_view content_type, bool custom) {
  const auto type = media_type(content_type);
  if (type.empty() || type == json_type) return api::media::json;
  if (type == yaml_type) return api::media::yaml;
  if (type == protobuf_type && !custom) return api::media::protobuf;
  return api::fail(api::unsupported_media_type(content_type, custom ? text_types : all_types));
}

std::string media_type(std::string_view header) {
  return api::to_lower(trim(header.substr(0, std::min(header.find(';'), header.size()))));
}

}  // namespace troupe::server
