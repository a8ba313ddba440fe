#include "server/join/control_plane_bundle.hpp"

#include <algorithm>
#include <cctype>
#include <system_error>

#include "actors/tokens/bootstrap_token.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/values/text_parts.hpp"
#include "server/credentials/private_file.hpp"
#include "server/credentials/x509.hpp"
#include "server/join/defaults.hpp"
#include "server/join/flat_json.hpp"

namespace troupe::server {

using api::core::v1::Secret;

namespace {

constexpr std::string_view pki_prefix = "pki/";
constexpr const char* secret_type = "troupe.dev/control-plane";
constexpr const char* bundle_field = "bundle";

std::vector<std::string> split(std::string_view text) {
  std::vector<std::string> all;
  while (!text.empty())
    all.emplace_back(api::take_part(text, ','));
  return all;
}

std::string joined(const std::vector<std::string>& all) {
  std::string text;
  for (const auto& each : all)
    text += (text.empty() ? "" : ",") + each;
  return text;
}

}  // namespace

// sa.key, and sa-NAME.key or .pub (tokens/account_keys.hpp).
bool is_shared_pki(std::string_view file) {
  if (file == "ca.crt" || file == "ca.key" || file == "sa.key") return true;
  const bool plain = std::all_of(file.begin(), file.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '_' || c == '.';
  });
  return plain && file.starts_with("sa-") && (file.ends_with(".key") || file.ends_with(".pub"));
}

tl::expected<std::map<std::string, std::string>, std::string> read_shared_pki(
    const std::filesystem::path& directory) {
  std::map<std::string, std::string> files;
  std::error_code problem;
  for (const auto& entry : std::filesystem::directory_iterator{directory, problem}) {
    const auto name = entry.path().filename().string();
    if (!is_shared_pki(name)) continue;
    auto text = read_private_file(entry.path());
    if (!text) return tl::make_unexpected(text.error());
    files[name] = text->value_or("");
    if (files.size() > join_defaults::bundle_files)
      return tl::make_unexpected(directory.string() + ": too many keys of service accounts");
  }
  for (const auto* needed : {"ca.crt", "ca.key", "sa.key"})
    if (files[needed].empty())
      return tl::make_unexpected((directory / needed).string() +
                                 " cannot be read: run this on a control plane, as its user, with "
                                 "its --data-dir");
  return files;
}

std::string write_bundle(const control_plane_bundle& bundle) {
  flat_json fields{{"etcdEndpoints", joined(bundle.etcd_endpoints)},
                   {"etcdAuthority", bundle.etcd_authority},
                   {"etcdCertificate", bundle.etcd_certificate},
                   {"etcdKey", bundle.etcd_key}};
  for (const auto& [name, text] : bundle.pki)
    fields[std::string{pki_prefix} + name] = text;
  return write_flat_json(fields);
}

tl::expected<control_plane_bundle, std::string> read_bundle(std::string_view text,
                                                            const std::string& authority_hash) {
  const auto fields = read_flat_json(text);
  if (!fields) return tl::make_unexpected(fields.error());
  control_plane_bundle read{.pki = {},
                            .etcd_endpoints = split(member(*fields, "etcdEndpoints")),
                            .etcd_authority = member(*fields, "etcdAuthority"),
                            .etcd_certificate = member(*fields, "etcdCertificate"),
                            .etcd_key = member(*fields, "etcdKey")};
  for (const auto& [name, content] : *fields)
    if (std::string_view file = name; file.starts_with(pki_prefix)) {
      file.remove_prefix(pki_prefix.size());
      if (is_shared_pki(file)) read.pki.emplace(file, content);
    }
  const auto& certificate = read.pki["ca.crt"];
  if (x509::key_hash(certificate) != authority_hash)
    return tl::make_unexpected(std::string{"the authority in it is another than --ca-hash names"});
  if (!x509::belongs({certificate, read.pki["ca.key"]}, certificate) ||
      read.pki["sa.key"].empty() || read.etcd_endpoints.empty())
    return tl::make_unexpected(std::string{"a key, or the addresses of etcd, are missing in it"});
  return read;
}

std::string bundle_secret_name(std::string_view token_id) {
  return std::string{"control-plane-"}.append(token_id);
}

std::unique_ptr<Secret> write_bundle_secret(const std::string& token_id,
                                            const std::string& token_uid,
                                            const std::string& sealed) {
  auto secret = std::make_unique<Secret>();
  auto& meta = *secret->mutable_metadata();
  meta.set_name(bundle_secret_name(token_id));
  meta.set_namespace_(std::string{actors::bootstrap_token_namespace});
  auto& owner = *meta.add_owner_references();
  owner.set_api_version("v1");
  owner.set_kind("Secret");
  owner.set_name(actors::bootstrap_token_name(token_id));
  owner.set_uid(token_uid);
  secret->set_type(secret_type);
  (*secret->mutable_data())[bundle_field] = sealed;
  return secret;
}

std::string sealed_bundle(const Secret& secret) {
  const auto found = secret.data().find(bundle_field);
  if (secret.type() != secret_type || found == secret.data().end()) return {};
  return found->second;
}

}  // namespace troupe::server
