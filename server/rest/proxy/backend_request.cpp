#include "server/rest/proxy/backend_request.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <utility>

#include "api/values/ascii.hpp"
#include "server/http/upgrade.hpp"

namespace troupe::server {
namespace {

using names = std::vector<std::string>;

bool contains(const names& all, std::string_view one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

// RFC 9110 7.6.1, and the fields named by `connection`.
names hop_by_hop(std::string_view connection) {
  auto out = split_list(api::to_lower(connection));
  out.insert(out.end(), {"connection", "proxy-connection", "keep-alive", "proxy-authenticate",
                         "proxy-authorization", "te", "trailer", "transfer-encoding", "upgrade"});
  return out;
}

bool is_ours(std::string_view name) {
  return name == "authorization" || name == "content-length" || name == "expect" ||
         name == "x-forwarded-for" || name == "x-forwarded-uri" || name == "cookie" ||
         name.starts_with("impersonate-");
}

// In any spelling that a server could treat as ours: some replace '-' by '_'.
bool names_user(std::string_view name) {
  static constexpr std::string_view prefix = "x-remote-";
  return name.size() >= prefix.size() &&
         std::equal(prefix.begin(), prefix.end(), name.begin(),
                    [](char a, char b) { return a == b || (a == '-' && b == '_'); });
}

// A character of a field name (Go: net/http/internal/ascii; RFC 9110, token).
bool is_token(char c) {
  static constexpr std::string_view others = "!#$&'*+-.^_`|~";
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         others.find(c) != others.npos;
}

// kubernetes: client-go/transport, headerKeyEscape.
std::string escape_key(std::string_view key) {
  std::string out;
  for (const char c : key)
    out += is_token(c) ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  return out;
}

// The address without the port.
std::string_view address_of_peer(std::string_view peer) {
  peer = peer.substr(0, peer.rfind(':'));
  if (peer.starts_with('[') && peer.ends_with(']')) peer = peer.substr(1, peer.size() - 2);
  return peer;
}

// The query is passed on unchanged, except characters that could end the request
// line.
std::string raw_query(const request& request) {
  std::string out;
  if (request.query.empty() && !request.empty_query) return out;
  out = "?";
  for (const char c : request.query.raw()) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte <= ' ' || byte == 0x7f)
      out += fmt::format("%{:02X}", byte);
    else
      out += c;
  }
  return out;
}

// HTTP/2 clients may send cookies in several fields.
std::string joined_cookies(const header_block& headers) {
  std::string out;
  for (std::size_t i = 0; i < headers.size(); ++i) {
    if (headers.name(i) != "cookie") continue;
    out += out.empty() ? "" : "; ";
    out += headers.value(i);
  }
  return out;
}

std::string_view prefix_of(const request& request, std::string_view path) {
  return std::string_view{request.path}.substr(0, request.path.size() - path.size());
}

bool has_body(const request& request) {
  return !request.content.empty() || request.method == http_method::post ||
         request.method == http_method::put || request.method == http_method::patch;
}

}  // namespace

std::string_view remaining_path(const request& request) {
  const auto& info = request.info;
  // "api", version, [namespaces, its name,] resource, name, subresource.
  const std::size_t parts =
      2 + (info.namespace_name.empty() ? 0 : 2) + std::min<std::size_t>(info.parts.size(), 3);
  std::string_view rest = request.path;
  while (rest.starts_with("//"))
    rest.remove_prefix(1);
  for (std::size_t i = 0; i < parts && !rest.empty(); ++i) {
    const auto next = rest.find('/', 1);
    rest.remove_prefix(std::min(next, rest.size()));
  }
  return rest;
}

std::string escape_path(std::string_view path) {
  static constexpr std::string_view plain = "-_.~$&+,/:;=@";
  std::string out;
  for (const char c : path) {
    const bool alphanumeric =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
    if (alphanumeric || plain.find(c) != plain.npos)
      out += c;
    else
      out += fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return out;
}

std::string backend_request_head(const request& request, std::string_view path,
                                 const front_fields* front) {
  const auto& headers = request.headers;
  const auto target = path.empty() ? std::string{"/"} : escape_path(path);
  auto out = fmt::format("{} {}{} HTTP/1.1\r\n", request.method_text, target, raw_query(request));
  const auto add = [&out](std::string_view name, std::string_view value) {
    out.append(name).append(": ").append(value).append("\r\n");
  };
  const auto connection = headers.joined("connection");
  const auto left_out = hop_by_hop(connection);
  for (std::size_t i = 0; i < headers.size(); ++i) {
    const auto name = headers.name(i);
    if (name.starts_with(':') || is_ours(name) || contains(left_out, name)) continue;
    if (front != nullptr && (name == "host" || names_user(name))) continue;
    add(name, headers.value(i));
  }
  if (front != nullptr) {
    add("host", front->host);
    for (const auto& [name, value] : front->fields)
      add(name, value);
  }
  if (const auto cookies = joined_cookies(headers); !cookies.empty()) add("cookie", cookies);
  auto forwarded = headers.joined("x-forwarded-for");
  if (request.connection) {
    forwarded += forwarded.empty() ? "" : ", ";
    forwarded += address_of_peer(request.connection->peer);
  }
  if (!forwarded.empty()) add("x-forwarded-for", forwarded);
  add("x-forwarded-uri", escape_path(prefix_of(request, path)) + target);
  if (has_body(request)) add("content-length", std::to_string(request.content.size()));
  if (is_upgrade(request)) {
    add("connection", "Upgrade");
    add("upgrade", headers.get("upgrade"));
  } else {
    add("connection", "close");
  }
  return out + "\r\n";
}

std::optional<header_fields> front_fields_of(const user_info& user) {
  header_fields out{{"x-remote-user", user.name}};
  if (!user.uid.empty()) out.emplace_back("x-remote-uid", user.uid);
  for (const auto& group : user.groups)
    out.emplace_back("x-remote-group", group);
  for (const auto& [key, values] : user.extra)
    for (const auto& value : values)
      out.emplace_back("x-remote-extra-" + escape_key(key), value);
  const auto ends_field = [](char c) {
    return (static_cast<unsigned char>(c) < ' ' && c != '\t') || c == 0x7f;
  };
  for (const auto& [name, value] : out)
    if (std::any_of(value.begin(), value.end(), ends_field)) return std::nullopt;
  return out;
}

std::string rewrite_location(std::string_view location, std::string_view prefix,
                             std::string_view backend, std::string_view client) {
  auto path = location;
  std::string_view host;
  const auto scheme = path.substr(0, path.find("//"));
  if (scheme.empty() || api::to_lower(scheme) == "http:" || api::to_lower(scheme) == "https:") {
    if (scheme.size() != path.size()) {
      path.remove_prefix(scheme.size() + 2);
      host = path.substr(0, path.find_first_of("/?#"));
      path.remove_prefix(host.size());
    }
  }
  const bool elsewhere = !host.empty() && host != backend && host != client;
  if (elsewhere || !path.starts_with('/')) return std::string{location};
  std::string out;
  if (!host.empty() && host == client) out = location.substr(0, location.size() - path.size());
  const auto only_path = path.substr(0, path.find_first_of("?#"));
  if (only_path != prefix && !path.starts_with(std::string{prefix} + "/")) out += prefix;
  return out += path;
}

response client_head(const backend_head& from, const request& request, std::string_view path,
                     std::string_view backend) {
  static constexpr std::string_view cors = "access-control-allow-";
  std::string connection;
  for (const auto& [name, value] : from.fields)
    if (name == "connection") connection += (connection.empty() ? "" : ",") + value;
  const auto left_out = hop_by_hop(connection);
  response out;
  out.status = from.status;
  const auto kept = std::make_shared<std::vector<std::string>>();
  kept->reserve(from.fields.size());  // names are views of its elements
  for (const auto& [name, value] : from.fields) {
    if (name == "content-type") {
      out.content_type = value;
      continue;
    }
    // The transport sets these itself.
    if (name == "content-length" || name == "date" || name == "audit-id") continue;
    if (name.starts_with(cors) || contains(left_out, name)) continue;
    auto text = value;
    if (name == "location")
      text = rewrite_location(value, escape_path(prefix_of(request, path)), backend,
                              request.headers.get("host"));
    out.fields.push_back({kept->emplace_back(name), std::move(text)});
  }
  out.names = kept;
  return out;
}

}  // namespace troupe::server
