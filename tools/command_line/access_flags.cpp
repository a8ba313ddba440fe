#include "tools/command_line/access_flags.hpp"

#include <cstdlib>
#include <filesystem>
#include <utility>

#include "tools/client/node_client.hpp"

namespace troupe::tools {

namespace {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

tl::expected<std::string, std::string> text_of_file(const std::string& path) {
  auto text = server::read_file(path);
  if (!text) return text;
  while (!text->empty() && (text->back() == '\n' || text->back() == '\r'))
    text->pop_back();
  return text;
}

}  // namespace

access_flags::access_flags(CLI::App& to, std::string fallback) : fallback_{std::move(fallback)} {
  const auto text = [&](const char* name, std::string& into, const char* about, const char* type) {
    to.add_option(name, into, about)->type_name(type);
  };
  text("--data-dir", data_dir_, "Uses the node with this data dir, as its administrator.", "DIR");
  text("--kubeconfig", kubeconfig_, "Address and credentials. Default: $KUBECONFIG.", "FILE");
  text("--server", server_, "The node's address, https://HOST:PORT.", "URL");
  text("--token-file", token_file_, "Contains a bearer token.", "FILE");
  text("--ca-file", authority_file_, "The cluster's authority, as PEM.", "FILE");
}

tl::expected<server::cluster_access, std::string> access_flags::access() const {
  server::cluster_access access;
  auto file = kubeconfig_;
  if (!data_dir_.empty()) file = std::filesystem::path{data_dir_} / "admin.kubeconfig";
  if (file.empty()) file = environment("KUBECONFIG");
  if (file.empty() && server_.empty() && !fallback_.empty())
    file = std::filesystem::path{fallback_} / "admin.kubeconfig";
  if (!file.empty()) {
    auto read = server::read_kubeconfig(file);
    if (!read) return read;
    access = std::move(*read);
  } else if (server_.empty()) {
    return tl::make_unexpected(
        std::string{"no node is given: set --data-dir, --kubeconfig, --server or KUBECONFIG"});
  }
  if (!server_.empty()) access.server = server_;
  for (const auto& [into, path] :
       {std::pair{&access.token, &token_file_}, std::pair{&access.authority, &authority_file_}}) {
    if (path->empty()) continue;
    auto text = text_of_file(*path);
    if (!text) return tl::make_unexpected(text.error());
    *into = std::move(*text);
  }
  return access;
}

tl::expected<std::unique_ptr<cluster_client>, std::string> access_flags::connect() const {
  const auto found = access();
  if (!found) return tl::make_unexpected(found.error());
  auto made = node_client::make(*found);
  if (!made) return tl::make_unexpected(made.error());
  return std::move(*made);
}

}  // namespace troupe::tools
