#include "tools/join/credentials.hpp"

#include <system_error>

#include "server/credentials/private_file.hpp"
#include "server/credentials/x509.hpp"
#include "server/join/flat_json.hpp"

namespace troupe::tools {

namespace {

using text_result = tl::expected<std::string, std::string>;

// Empty if there is no such file.
text_result text_of(const std::filesystem::path& file) {
  auto text = server::read_private_file(file);
  if (!text) return tl::make_unexpected(text.error());
  return text->value_or("");
}

tl::unexpected<std::string> damaged(const std::filesystem::path& file, const std::string& reason) {
  return tl::make_unexpected(file.string() + ": " + reason +
                             "; remove the folder and join again with a new token");
}

}  // namespace

tl::expected<std::optional<joined_credentials>, std::string> join_folder::load() const {
  const auto text = server::read_private_file(path_ / "cluster.json");
  if (!text) return tl::make_unexpected(text.error());
  if (!text->has_value()) return std::optional<joined_credentials>{};
  const auto read = server::read_flat_json(**text);
  if (!read) return damaged(path_ / "cluster.json", read.error());
  joined_credentials found;
  for (const auto& [into, name] : {std::pair{&found.node_name, "nodeName"},
                                   {&found.cluster_id, "clusterId"},
                                   {&found.api_address, "apiAddress"},
                                   {&found.link_address, "linkAddress"}}) {
    *into = server::member(*read, name);
    if (into->empty()) return damaged(path_ / "cluster.json", std::string{name} + " is missing");
  }
  found.token_id = server::member(*read, "tokenId");
  found.control_planes = server::member(*read, "controlPlanes");
  for (const auto& [into, name] : {std::pair{&found.certificate, "node.crt"},
                                   {&found.private_key, "node.key"},
                                   {&found.authority, "ca.crt"}}) {
    auto pem = text_of(path_ / name);
    if (!pem) return tl::make_unexpected(pem.error());
    *into = std::move(*pem);
  }
  if (!server::x509::belongs({found.certificate, found.private_key}, found.authority))
    return damaged(path_ / "node.crt", "does not match node.key and ca.crt");
  return found;
}

tl::expected<std::string, std::string> join_folder::private_key() const {
  if (auto made = server::make_private_directory(path_); !made)
    return tl::make_unexpected(made.error());
  auto key = text_of(path_ / "node.key");
  if (!key || server::x509::make_request(*key, "probe")) return key;
  key = server::x509::make_key();
  if (!key) return key;
  if (auto written = server::write_private_file(path_ / "node.key", *key); !written)
    return tl::make_unexpected(written.error());
  return key;
}

// Writes the certificate before the authority: a renewed authority has the same key, so in either
// order the files match.
tl::expected<void, std::string> join_folder::save(const joined_credentials& credentials) const {
  if (auto made = server::make_private_directory(path_); !made) return made;
  const auto text = server::write_flat_json({{"nodeName", credentials.node_name},
                                             {"clusterId", credentials.cluster_id},
                                             {"apiAddress", credentials.api_address},
                                             {"linkAddress", credentials.link_address},
                                             {"tokenId", credentials.token_id},
                                             {"controlPlanes", credentials.control_planes}});
  for (const auto& [name, content] : {std::pair{"node.key", &credentials.private_key},
                                      {"node.crt", &credentials.certificate},
                                      {"ca.crt", &credentials.authority},
                                      {"cluster.json", &text}})
    if (auto written = server::write_private_file(path_ / name, *content); !written) return written;
  return {};
}

tl::expected<void, std::string> join_folder::save_root(
    const std::filesystem::path& root_dir) const {
  return server::write_private_file(path_ / "root-dir",
                                    std::filesystem::absolute(root_dir).string());
}

std::optional<std::filesystem::path> join_folder::root() const {
  const auto text = server::read_private_file(path_ / "root-dir");
  if (!text || !text->has_value() || (*text)->empty()) return std::nullopt;
  return std::filesystem::path{**text};
}

tl::expected<void, std::string> join_folder::remove() const {
  std::error_code problem;
  // Removes the membership first, in case the rest fails.
  std::filesystem::remove(path_ / "cluster.json", problem);
  if (!problem) std::filesystem::remove_all(path_, problem);
  if (problem)
    return tl::make_unexpected(path_.string() + ": cannot be removed: " + problem.message());
  return {};
}

}  // namespace troupe::tools
