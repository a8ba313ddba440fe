// Config maps and secrets: required keys of each secret type, size limits, immutability.
#include "api/codec/json_dom.hpp"
#include "api/equality.hpp"
#include "api/limits.hpp"
#include "api/validation/checks.hpp"

namespace troupe::api::validation {
namespace {

using namespace core::v1;

template <class Map>
std::size_t size_bytes(const Map& map) {
  std::size_t bytes = 0;
  for (const auto& [key, value] : map)
    bytes += value.size();
  return bytes;
}

void need(field_errors& out, const Secret& secret, const char* key) {
  if (secret.data().contains(key)) return;
  const auto step = out.at.field("data");
  const auto inner = out.at.key(key);
  out.required({});
}

// For a key whose value is a JSON object; errors do not repeat what it contains.
void need_json(field_errors& out, const Secret& secret, const char* key) {
  need(out, secret, key);
  const auto found = secret.data().find(key);
  if (found == secret.data().end()) return;
  local_document content;
  const auto read = content.read(found->second, "the value");
  if (read && ((*content).IsObject() || (*content).IsNull())) return;
  const auto step = out.at.field("data");
  const auto inner = out.at.key(key);
  out.invalid({}, "<secret contents redacted>",
              read ? "json: cannot unmarshal the value into an object" : read.error().message);
}

void check_type(field_errors& out, const Secret& secret) {
  const auto& type = secret.type();
  if (type == "kubernetes.io/service-account-token") {
    constexpr auto account = "kubernetes.io/service-account.name";
    const auto found = secret.metadata().annotations().find(account);
    if (found != secret.metadata().annotations().end() && !found->second.empty()) return;
    const auto step = out.at.field("metadata");
    const auto inner = out.at.field("annotations");
    const auto place = out.at.key(account);
    out.required({});
  } else if (type == "kubernetes.io/dockercfg") {
    need_json(out, secret, ".dockercfg");
  } else if (type == "kubernetes.io/dockerconfigjson") {
    need_json(out, secret, ".dockerconfigjson");
  } else if (type == "kubernetes.io/tls") {
    need(out, secret, "tls.crt");
    need(out, secret, "tls.key");
  } else if (type == "kubernetes.io/ssh-auth") {
    need(out, secret, "ssh-privatekey");
  } else if (type == "kubernetes.io/basic-auth" && !secret.data().contains("username") &&
             !secret.data().contains("password")) {
    need(out, secret, "username");
    need(out, secret, "password");
  }
}

constexpr std::string_view sealed = "field is immutable when `immutable` is set";

template <class Object>
void check_seal(field_errors& out, const Object& now, const Object& was) {
  if (!was.immutable()) return;
  if (!now.immutable()) out.forbidden("immutable", sealed);
  if (!same_field(now, was, *Object::descriptor()->FindFieldByName("data")))
    out.forbidden("data", sealed);
}

}  // namespace

void check_config(field_errors& out, const ConfigMap& config) {
  for (const auto& [key, value] : config.binary_data()) {
    if (!config.data().contains(key)) continue;
    const auto step = out.at.field("data");
    const auto inner = out.at.key(key);
    out.invalid({}, key, "duplicate of key present in binaryData");
  }
  if (size_bytes(config.data()) + size_bytes(config.binary_data()) > limits::config_data_bytes)
    out.too_long({}, limits::config_data_bytes);
}

void check_config(field_errors& out, const Secret& secret) {
  if (size_bytes(secret.data()) > limits::config_data_bytes)
    out.too_long("data", limits::config_data_bytes);
  check_type(out, secret);
}

void check_config_update(field_errors& out, const ConfigMap& now, const ConfigMap& was) {
  check_seal(out, now, was);
  if (was.immutable() &&
      !same_field(now, was, *ConfigMap::descriptor()->FindFieldByName("binary_data")))
    out.forbidden("binaryData", sealed);
}

void check_config_update(field_errors& out, const Secret& now, const Secret& was) {
  check_seal(out, now, was);
}

}  // namespace troupe::api::validation
