// Selectors, amounts, times, the configuration file, and requests of joining machines.
#include "actors/api_servers/api_server_record.hpp"
#include "actors/api_servers/defaults.hpp"
#include "api/scheme.hpp"
#include "api/selectors/selector.hpp"
#include "api/values/quantity.hpp"
#include "api/values/timestamp.hpp"
#include "config/sources.hpp"
#include "config/table.hpp"
#include "config/units.hpp"
#include "server/credentials/x509.hpp"
#include "server/join/flat_json.hpp"
#include "server/legacy/legacy_selector.hpp"
#include "server/tokens/web_token.hpp"
#include "tools/fuzz/entries.hpp"

namespace troupe::fuzz {
namespace {

std::vector<std::string> selectors() {
  return {"app=web,tier in (front,back),!canary", "a!=b,c notin (d,e),f", "x>1,y<2", "a==b", ","};
}

void read_label_selector(std::string_view text) {
  const auto read = api::label_selector::parse(text);
  if (!read) return require(read.error().code == 400, "a bad selector is a bad request");
  const auto again = api::label_selector::parse(read->str());
  require(again.has_value() && *again == *read, "the canonical text means the same selector");
  require(again->str() == read->str(), "the canonical text is its own");
}

std::vector<std::string> field_selectors() {
  return {"metadata.name=a,status.phase!=Running", "spec.nodeName=", "metadata.namespace==x\\,y"};
}

void read_field_selector(std::string_view text) {
  const auto& pod = *api::scheme::instance().find("v1", "Pod");
  const auto read = api::field_selector::parse(pod, text);
  if (!read) return require(read.error().code == 400, "a bad selector is a bad request");
  static_cast<void>(read->matches(*pod.make()));
}

void read_old_selector(std::string_view text) {
  const auto read = server::legacy::legacy_selector::parse(text);
  if (read) static_cast<void>(read->matches([](const std::string& key) { return key; }));
}

std::vector<std::string> amounts() {
  return {"100m", "1.5",  "2Gi",   "1e3",         "-0.000000001",   "9223372036854775807Ei",
          "+.5k", "1E-9", "1.3Ki", "1e999999999", "-1e-2147483648", "1e2147483648"};
}

void read_quantity(std::string_view text) {
  const auto read = api::quantity::parse(text);
  if (!read) return;
  const auto again = api::quantity::parse(read->str());
  require(again.has_value() && *again == *read, "the canonical text is the same amount");
  require(again->str() == read->str(), "the canonical text is its own");
}

std::vector<std::string> web_tokens() {
  actors::token_claims claims;
  claims.ns = "shop";
  claims.account = {"robot", "u1"};
  claims.pod = actors::named_uid{"web", "u2"};
  claims.audiences = {"https://kubernetes.default.svc"};
  claims.id = "id";
  claims.issued = 1'700'000'000;
  claims.expires = 1'700'003'600;
  auto legacy = claims;
  legacy.legacy = true;
  legacy.secret = actors::named_uid{"robot-token-abcde", {}};
  return {server::print_claims(claims, "https://issuer"), server::print_claims(legacy, {}),
          R"({"sub":"system:serviceaccount:a:b","aud":"x","exp":1.5})",
          "eyJhbGciOiJFUzI1NiJ9.e30.AA"};
}

void read_web_token(std::string_view text) {
  if (const auto parts = server::split_token(text))
    require(text.starts_with(parts->signed_text), "what is signed is the beginning of the token");
  const auto read = server::parse_claims(std::string{text});
  // An escape can name half of a surrogate pair, which does not survive a second reading.
  if (!read || text.find("\\u") != text.npos) return;
  const auto again = server::parse_claims(server::print_claims(read->claims, read->issuer));
  require(again.has_value() && again->claims.account == read->claims.account &&
              again->claims.ns == read->claims.ns && again->claims.legacy == read->claims.legacy,
          "claims that are written again are of the same account");
}

std::vector<std::string> times() {
  return {"2026-11-21T23:50:00Z", "2014-09-09T00:00:00.123456789+02:00", "0001-01-01T00:00:00Z"};
}

void read_time(std::string_view text) {
  const auto read = api::parse_time(text);
  if (!read) return;
  const auto again = api::parse_time(api::format_time(read->seconds));
  require(again.has_value() && again->seconds == read->seconds, "a time survives its text");
}

std::vector<std::string> configurations() {
  return {
      "apiVersion: config.troupe.dev/v1\nkind: NodeConfiguration\nserver:\n  listen: 127.0.0.1:0\n"
      "  max_body: 3Mi\n  idle_timeout: 1m30s\nscheduler:\n  weights: {node_resources_fit: 2}\n"
      "  enabled: [a, b]\n"};
}

void read_configuration(std::string_view text) {
  const auto read = config::read_yaml(std::string(text), "x.yaml", config::table());
  for (const auto& problem : read.problems)
    require(problem.find('\n') == std::string::npos, "a problem is one line");
  for (const auto& each : read.assignments)
    require(each.row != nullptr, "an assignment names its setting");
}

std::vector<std::string> unit_texts() {
  return {"1h30m", "1m0s", "10ms", "3Mi", "1T", "[::1]:80", "localhost:6443", "-7"};
}

void read_units(std::string_view text) {
  if (const auto read = config::parse_duration(text))
    require(config::parse_duration(config::print(*read)) == read, "a duration survives its text");
  if (const auto read = config::parse_size(text))
    require(config::parse_size(config::print(*read)) == read, "a size survives its text");
  if (const auto read = config::parse_address(text))
    require(config::parse_address(config::print(*read)) == read, "an address survives its text");
  static_cast<void>(config::parse_count(text));
}

std::vector<std::string> join_bodies() {
  return {R"({"nodeName": "worker-1", "certificateRequest": "-----BEGIN"})", "{}",
          R"({"a":"\u00e9\n","a":"b"})"};
}

void read_join_body(std::string_view text) {
  const auto read = server::read_flat_json(text);
  if (!read) return require(read.error().find('\n') == std::string::npos, "a reason is one line");
  const auto again = server::read_flat_json(server::write_flat_json(*read));
  require(again.has_value() && *again == *read, "what a machine says survives its text");
}

std::vector<std::string> control_planes() {
  return {"a/10.0.0.1:6443/10.0.0.1:6444/sha256:0,b/[::1]:1//", "a/b/c,,/x//"};
}

void read_control_planes(std::string_view text) {
  const auto read = actors::read_api_servers(text);
  require(read.size() <= actors::api_server_defaults::api_servers, "a list has a bound");
  require(actors::read_api_servers(actors::write_api_servers(read)) == read,
          "a list of control planes survives its text");
}

std::vector<std::string> certificate_requests() {
  static const auto made = server::x509::make_request(*server::x509::make_key(), "system:node:n");
  return {*made, "-----BEGIN CERTIFICATE REQUEST-----\nMAA=\n-----END CERTIFICATE REQUEST-----\n"};
}

void read_certificate_request(std::string_view text) {
  const auto read = server::x509::read_request(std::string{text});
  if (!read) return;
  require(read->key_hash.starts_with("sha256:"), "a key has a hash");
  require(read->public_key.starts_with("-----BEGIN PUBLIC KEY-----"), "a key is written as PEM");
}

}  // namespace

void add_texts(std::vector<entry>& to) {
  to.push_back({"label_selector", &selectors, &read_label_selector});
  to.push_back({"field_selector", &field_selectors, &read_field_selector});
  to.push_back({"old_selector", &selectors, &read_old_selector});
  to.push_back({"quantity", &amounts, &read_quantity});
  to.push_back({"time", &times, &read_time});
  to.push_back({"web_token", &web_tokens, &read_web_token});
  to.push_back({"configuration", &configurations, &read_configuration});
  to.push_back({"units", &unit_texts, &read_units});
  to.push_back({"join_body", &join_bodies, &read_join_body});
  to.push_back({"control_planes", &control_planes, &read_control_planes});
  to.push_back({"certificate_request", &certificate_requests, &read_certificate_request});
}

}  // namespace troupe::fuzz
