#include "server/rest/requests/continue_token.hpp"

#include <rapidjson/document.h>

#include <algorithm>

#include "api/codec/document_writer.hpp"
#include "api/values/base64.hpp"

namespace troupe::server {
namespace {

constexpr std::string_view token_version = "meta.k8s.io/v1";
// "After this key" is encoded as "from the next possible key on".
constexpr char successor = '\0';
constexpr std::size_t token_limit_bytes = 2048;

api::error broken() {
  return api::bad_request("continue key is not valid: it is not one that a list answered");
}

}  // namespace

std::string encode_token(const continue_token& token) {
  api::document_writer out;
  out.object([&] {
    out.field("v", token_version);
    out.number("rv", token.revision);
    out.field("start", token.after + successor);
  });
  std::string encoded;
  api::append_base64(encoded, out.take());
  // Base64url without padding.
  while (encoded.ends_with('='))
    encoded.pop_back();
  std::replace(encoded.begin(), encoded.end(), '+', '-');
  std::replace(encoded.begin(), encoded.end(), '/', '_');
  return encoded;
}

api::expected<continue_token> decode_token(std::string_view text) {
  if (text.size() > token_limit_bytes) return api::fail(broken());
  std::string encoded{text};
  std::replace(encoded.begin(), encoded.end(), '-', '+');
  std::replace(encoded.begin(), encoded.end(), '_', '/');
  while (encoded.size() % 4 != 0)
    encoded += '=';
  std::string json;
  if (api::append_from_base64(json, encoded)) return api::fail(broken());
  rapidjson::Document document;
  document.Parse<rapidjson::kParseIterativeFlag>(json.data(), json.size());
  if (document.HasParseError() || !document.IsObject()) return api::fail(broken());
  const auto version = document.FindMember("v");
  const auto revision = document.FindMember("rv");
  const auto start = document.FindMember("start");
  const auto end = document.MemberEnd();
  if (version == end || !version->value.IsString() || version->value.GetString() != token_version)
    return api::fail(broken());
  if (revision == end || !revision->value.IsInt64() || revision->value.GetInt64() == 0)
    return api::fail(broken());
  if (start == end || !start->value.IsString()) return api::fail(broken());
  continue_token out;
  out.revision = revision->value.GetInt64();
  out.after.assign(start->value.GetString(), start->value.GetStringLength());
  if (out.after.ends_with(successor)) out.after.pop_back();
  if (out.after.empty()) return api::fail(broken());
  return out;
}

}  // namespace troupe::server
