#include "server/access/socket_token.hpp"

#include <string_view>
#include <utility>

#include "server/credentials/base64url.hpp"
#include "server/http/upgrade.hpp"

namespace troupe::server {
namespace {

constexpr std::string_view prefix = "base64url.bearer.authorization.k8s.io.";
constexpr std::string_view protocol_field = "sec-websocket-protocol";

}  // namespace

api::expected<std::string> socket_token(const request& head) {
  std::string token;
  if (!wants_websocket(head)) return token;
  int tokens = 0, others = 0;
  for (const auto& protocol : offered_protocols(head.headers)) {
    if (!protocol.starts_with(prefix)) {
      ++others;
      continue;
    }
    auto decoded = from_base64url(std::string_view{protocol}.substr(prefix.size()));
    if (!decoded || ++tokens > 1) return api::fail(api::unauthorized());
    token = std::move(*decoded);
  }
  if (tokens != 0 && others == 0) return api::fail(api::unauthorized());
  return token;
}

void hide_socket_token(header_block& headers) {
  if (headers.joined(protocol_field).find(prefix) == std::string::npos) return;
  header_block kept;
  for (std::size_t i = 0; i < headers.size(); ++i)
    if (headers.name(i) != protocol_field) kept.add(headers.name(i), headers.value(i));
  for (const auto& protocol : offered_protocols(headers))
    if (!protocol.starts_with(prefix)) kept.add(protocol_field, protocol);
  headers = std::move(kept);
}

}  // namespace troupe::server
