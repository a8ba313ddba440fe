#include "server/tokens/web_token.hpp"

#include <rapidjson/document.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "api/codec/document_writer.hpp"
#include "server/credentials/base64url.hpp"

namespace troupe::server {

namespace {

using actors::named_uid;
using actors::token_claims;
using rapidjson::Document;
using rapidjson::Value;

// Iterative: no token can exhaust the stack.
constexpr unsigned parse_flags =
    rapidjson::kParseIterativeFlag | rapidjson::kParseValidateEncodingFlag;

std::optional<Document> parse(const std::string& json) {
  Document read;
  read.Parse<parse_flags>(json.data(), json.size());
  if (read.HasParseError() || !read.IsObject()) return std::nullopt;
  return read;
}

const Value* member(const Value& of, std::string_view name) {
  const auto found = of.FindMember(Value{rapidjson::StringRef(name.data(), name.size())});
  return found == of.MemberEnd() ? nullptr : &found->value;
}

// Empty if it is absent or not a string.
std::string text(const Value& of, std::string_view name) {
  const auto* found = member(of, name);
  return found != nullptr && found->IsString()
             ? std::string{found->GetString(), found->GetStringLength()}
             : std::string{};
}

// 0 if it is absent; seconds may have a fraction (RFC 7519, NumericDate).
std::int64_t seconds(const Value& of, std::string_view name) {
  constexpr double latest = 1e15;
  const auto* found = member(of, name);
  if (found == nullptr || !found->IsNumber()) return 0;
  const double value = found->GetDouble();
  return value > 0 && value < latest ? static_cast<std::int64_t>(value) : 0;
}

std::optional<named_uid> reference(const Value& of, std::string_view name) {
  const auto* found = member(of, name);
  if (found == nullptr || !found->IsObject()) return std::nullopt;
  return named_uid{text(*found, "name"), text(*found, "uid")};
}

std::vector<std::string> audiences(const Value& of) {
  const auto* found = member(of, "aud");
  if (found == nullptr) return {};
  if (found->IsString()) return {text(of, "aud")};
  std::vector<std::string> all;
  if (!found->IsArray()) return all;
  for (const auto& each : found->GetArray())
    if (each.IsString()) all.emplace_back(each.GetString(), each.GetStringLength());
  return all;
}

bool read_bound(const Value& json, token_claims& into) {
  const auto* own = member(json, "kubernetes.io");
  if (own == nullptr || !own->IsObject()) return false;
  into.ns = text(*own, "namespace");
  const auto account = reference(*own, "serviceaccount");
  if (!account) return false;
  into.account = *account;
  into.pod = reference(*own, "pod");
  into.secret = reference(*own, "secret");
  into.node = reference(*own, "node");
  into.warn_after = seconds(*own, "warnafter");
  return !into.account.uid.empty() && into.expires != 0;
}

bool read_legacy(const Value& json, token_claims& into) {
  const std::string prefix = "kubernetes.io/serviceaccount/";
  into.legacy = true;
  into.ns = text(json, prefix + "namespace");
  into.account = {text(json, prefix + "service-account.name"),
                  text(json, prefix + "service-account.uid")};
  into.secret = named_uid{text(json, prefix + "secret.name"), {}};
  return !into.secret->name.empty() && !into.account.uid.empty();
}

using api::document_writer;

void print(document_writer& out, std::string_view name, const named_uid& of) {
  out.object(name, [&] {
    out.field("name", of.name);
    if (!of.uid.empty()) out.field("uid", of.uid);
  });
}

void print(document_writer& out, std::string_view name, const std::optional<named_uid>& of) {
  if (of) print(out, name, *of);
}

void print_legacy(document_writer& out, const token_claims& claims) {
  out.field("kubernetes.io/serviceaccount/namespace", claims.ns);
  out.field("kubernetes.io/serviceaccount/secret.name", claims.secret->name);
  out.field("kubernetes.io/serviceaccount/service-account.name", claims.account.name);
  out.field("kubernetes.io/serviceaccount/service-account.uid", claims.account.uid);
}

void print_bound(document_writer& out, const token_claims& claims) {
  out.strings("aud", claims.audiences);
  out.number("exp", claims.expires);
  out.number("iat", claims.issued);
  out.field("jti", claims.id);
  out.object("kubernetes.io", [&] {
    out.field("namespace", claims.ns);
    print(out, "node", claims.node);
    print(out, "pod", claims.pod);
    print(out, "secret", claims.secret);
    print(out, "serviceaccount", claims.account);
    if (claims.warn_after != 0) out.number("warnafter", claims.warn_after);
  });
  out.number("nbf", claims.issued);
}

}  // namespace

std::optional<token_parts> split_token(std::string_view token) {
  const auto first = token.find('.');
  const auto second = first == token.npos ? first : token.find('.', first + 1);
  if (second == token.npos || token.size() > token_limit_bytes) return std::nullopt;
  const auto header = from_base64url(token.substr(0, first));
  auto claims = from_base64url(token.substr(first + 1, second - first - 1));
  auto signature = from_base64url(token.substr(second + 1));
  if (!header || !claims || !signature) return std::nullopt;
  const auto json = parse(*header);
  if (!json || text(*json, "alg") != "ES256") return std::nullopt;
  return token_parts{token.substr(0, second), std::move(*claims), text(*json, "kid"),
                     std::move(*signature)};
}

std::optional<read_claims> parse_claims(const std::string& json) {
  const auto read = parse(json);
  if (!read) return std::nullopt;
  read_claims out;
  out.issuer = text(*read, "iss");
  auto& claims = out.claims;
  claims.id = text(*read, "jti");
  claims.audiences = audiences(*read);
  claims.expires = seconds(*read, "exp");
  claims.issued = std::max(seconds(*read, "iat"), seconds(*read, "nbf"));
  const bool known =
      out.issuer == legacy_issuer ? read_legacy(*read, claims) : read_bound(*read, claims);
  if (!known || text(*read, "sub") != actors::account_user(claims.ns, claims.account.name))
    return std::nullopt;
  return out;
}

std::string print_claims(const token_claims& claims, std::string_view issuer) {
  document_writer out;
  out.object([&] {
    if (claims.legacy)
      print_legacy(out, claims);
    else
      print_bound(out, claims);
    out.field("iss", claims.legacy ? legacy_issuer : issuer);
    out.field("sub", actors::account_user(claims.ns, claims.account.name));
  });
  return out.take();
}

tl::expected<std::string, std::string> sign_token(const token_claims& claims,
                                                  std::string_view issuer, const es256::key& key) {
  const auto header = R"({"alg":"ES256","kid":")" + key.id() + R"("})";
  auto token = base64url(header) + "." + base64url(print_claims(claims, issuer));
  const auto signature = key.sign(token);
  if (!signature) return tl::make_unexpected(signature.error());
  token += "." + base64url(*signature);
  return token;
}

}  // namespace troupe::server
