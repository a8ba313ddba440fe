#include <fmt/format.h>
#include <rapidjson/document.h>

#include <array>
#include <fstream>

#include "api/codec/codec.hpp"
#include "api/values/base64.hpp"
#include "server/credentials/kubeconfig.hpp"
#include "server/defaults.hpp"

namespace troupe::server {
namespace {

using rapidjson::Value;
using text_result = tl::expected<std::string, std::string>;

std::string text_at(const Value& object, const char* name) {
  const auto found = object.FindMember(name);
  if (found == object.MemberEnd() || !found->value.IsString()) return {};
  return {found->value.GetString(), found->value.GetStringLength()};
}

// The `body` of the list entry with that name.
const Value* entry(const Value& document, const char* list, const std::string& name,
                   const char* body) {
  const auto all = document.FindMember(list);
  if (all == document.MemberEnd() || !all->value.IsArray()) return nullptr;
  for (const auto& each : all->value.GetArray()) {
    if (!each.IsObject() || text_at(each, "name") != name) continue;
    const auto found = each.FindMember(body);
    if (found != each.MemberEnd() && found->value.IsObject()) return &found->value;
  }
  return nullptr;
}

// Base64 from NAME-data, or the file in NAME, relative to the kubeconfig's directory.
text_result material(const Value& object, const std::string& name,
                     const std::filesystem::path& folder) {
  if (const auto data = text_at(object, (name + "-data").c_str()); !data.empty()) {
    std::string bytes;
    if (api::append_from_base64(bytes, data))
      return tl::make_unexpected(name + "-data: is not base64");
    return bytes;
  }
  const auto path = text_at(object, name.c_str());
  if (path.empty()) return std::string{};
  return read_file(folder / path);
}

tl::expected<cluster_access, std::string> access_in(const Value& document,
                                                    const std::filesystem::path& folder) {
  const auto current = text_at(document, "current-context");
  const auto* context = entry(document, "contexts", current, "context");
  if (context == nullptr)
    return tl::make_unexpected("the context \"" + current + "\" is not in it: kubectl config " +
                               "use-context chooses one");
  const auto* cluster = entry(document, "clusters", text_at(*context, "cluster"), "cluster");
  const auto* user = entry(document, "users", text_at(*context, "user"), "user");
  if (cluster == nullptr || user == nullptr)
    return tl::make_unexpected("the context \"" + current + "\" names a cluster or a user that " +
                               "is not in it");
  cluster_access made;
  made.server = text_at(*cluster, "server");
  made.token = text_at(*user, "token");
  for (const auto& [into, from, name] :
       {std::tuple{&made.authority, cluster, "certificate-authority"},
        std::tuple{&made.certificate, user, "client-certificate"},
        std::tuple{&made.private_key, user, "client-key"}}) {
    auto text = material(*from, name, folder);
    if (!text) return tl::make_unexpected(text.error());
    *into = std::move(*text);
  }
  return made;
}

}  // namespace

tl::expected<std::string, std::string> read_file(const std::filesystem::path& path) {
  const auto failed = [&](const std::string& reason) {
    return tl::make_unexpected(path.string() + ": " + reason);
  };
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return failed("is a directory");
  std::ifstream file{path, std::ios::binary};
  std::string text;
  std::array<char, 16 << 10> part;
  while (file) {
    file.read(part.data(), part.size());
    text.append(part.data(), static_cast<std::size_t>(file.gcount()));
    if (text.size() > defaults::named_file_bytes)
      return failed(fmt::format("larger than {} MiB", defaults::named_file_bytes >> 20));
  }
  if (!file.eof()) return failed("cannot be read");
  return text;
}

tl::expected<cluster_access, std::string> read_kubeconfig(const std::filesystem::path& path) {
  const auto text = read_file(path);
  if (!text) return tl::make_unexpected(text.error());
  const auto json = api::yaml_to_json(*text);
  if (!json) return tl::make_unexpected(path.string() + ": " + json.error().message);
  rapidjson::Document document;
  document.Parse(json->data(), json->size());
  if (document.HasParseError() || !document.IsObject())
    return tl::make_unexpected(path.string() + ": is not a kubeconfig");
  auto found = access_in(document, path.parent_path());
  if (!found) return tl::make_unexpected(path.string() + ": " + found.error());
  return found;
}

}  // namespace troupe::server
