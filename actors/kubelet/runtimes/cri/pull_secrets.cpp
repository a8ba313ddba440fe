#include "actors/kubelet/runtimes/cri/pull_secrets.hpp"

#include <fmt/format.h>
#include <fnmatch.h>
#include <google/protobuf/struct.pb.h>
#include <google/protobuf/util/json_util.h>

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string_view>

#include "api/schema/core_config.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/values/base64.hpp"

namespace troupe::actors {

namespace {

using api::core::v1::Secret;
using google::protobuf::Struct;

// HOST[:PORT][/PATH]
struct location {
  std::string host, port, path;
};

location parse_location(const std::string& text) {
  const auto slash = std::min(text.find('/'), text.size());
  auto host = text.substr(0, slash);
  const auto colon = std::min(host.rfind(':'), host.size());
  return {host.substr(0, colon), host.substr(colon), text.substr(slash)};
}

// The repository of an image; names without a registry get Docker's.
std::string repository_of(const std::string& image) {
  auto name = image.substr(0, image.find('@'));
  const auto last = name.rfind('/');
  name.resize(std::min(name.find(':', last == name.npos ? 0 : last), name.size()));
  const auto first = name.substr(0, name.find('/'));
  if (first.size() == name.size()) return "docker.io/library/" + name;
  if (first == "localhost" || first.find_first_of(".:") != first.npos) return name;
  return "docker.io/" + name;
}

// Normalizes a key of `auths`: without scheme; /v1/ and /v2/ mean the host.
std::string place_of(std::string key) {
  for (const std::string_view scheme : {"https://", "http://"})
    if (key.starts_with(scheme)) key.erase(0, scheme.size());
  auto at = parse_location(key);
  if (at.path.starts_with("/v1/") || at.path.starts_with("/v2/")) at.path.erase(0, 3);
  return at.host + at.port + (at.path == "/" ? "" : at.path);
}

// Each label of the host may be a pattern.
bool matches(const std::string& place, const std::string& repository) {
  const auto wanted = parse_location(place), is = parse_location(repository);
  return wanted.port == is.port && is.path.starts_with(wanted.path) &&
         std::count(wanted.host.begin(), wanted.host.end(), '.') ==
             std::count(is.host.begin(), is.host.end(), '.') &&
         ::fnmatch(wanted.host.c_str(), is.host.c_str(), 0) == 0;
}

std::string text_of(const Struct& entry, const char* field) {
  const auto found = entry.fields().find(field);
  return found == entry.fields().end() ? std::string{} : found->second.string_value();
}

// `auth` is base64 of USER:PASSWORD and overrides username and password.
std::optional<cri::AuthConfig> read_entry(const Struct& entry) {
  cri::AuthConfig out;
  out.set_username(text_of(entry, "username"));
  out.set_password(text_of(entry, "password"));
  const auto auth = text_of(entry, "auth");
  if (auth.empty()) return out;
  std::string both;
  const auto bad = api::append_from_base64(both, auth);
  const auto colon = both.find(':');
  if (bad || colon == both.npos) return std::nullopt;
  out.set_username(both.substr(0, colon));
  out.set_password(both.substr(colon + 1));
  return out;
}

// By location, in descending order: of two matches the longer one is first.
using keyring = std::map<std::string, std::vector<cri::AuthConfig>, std::greater<>>;

bool add(const Struct& entries, keyring& to) {
  for (const auto& [key, value] : entries.fields()) {
    const auto read = read_entry(value.struct_value());
    if (!read) return false;
    to[place_of(key)].push_back(*read);
  }
  return true;
}

bool add(const Secret& secret, keyring& to) {
  const bool old = secret.type() == "kubernetes.io/dockercfg";
  const auto found = secret.data().find(old ? ".dockercfg" : ".dockerconfigjson");
  if ((!old && secret.type() != "kubernetes.io/dockerconfigjson") || found == secret.data().end())
    return true;
  Struct document;
  if (!google::protobuf::util::JsonStringToMessage(found->second, &document).ok()) return false;
  if (old) return add(document, to);
  const auto entries = document.fields().find("auths");
  return entries == document.fields().end() || add(entries->second.struct_value(), to);
}

}  // namespace

tl::expected<std::vector<cri::AuthConfig>, std::string> pull_credentials(
    const std::string& image, const std::vector<api::object_ptr>& secrets) {
  keyring all;
  for (const auto& secret : secrets)
    if (!add(secret->as<Secret>(), all))
      return tl::make_unexpected(fmt::format("the credentials in secret {}/{} cannot be read",
                                             secret->meta().namespace_(), secret->meta().name()));
  std::vector<cri::AuthConfig> out;
  const auto repository = repository_of(image);
  for (const auto& [place, credentials] : all)
    if (matches(place, repository)) out.insert(out.end(), credentials.begin(), credentials.end());
  // Docker stores the credentials of its own registry under this key.
  if (const auto usual = all.find("index.docker.io");
      out.empty() && usual != all.end() && repository.starts_with("docker.io/"))
    out = usual->second;
  return out;
}

}  // namespace troupe::actors
