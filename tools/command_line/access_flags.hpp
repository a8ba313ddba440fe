// Flags of the commands that call a running node: its address and the user's credentials.
#pragma once

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <tl/expected.hpp>

#include "server/credentials/kubeconfig.hpp"
#include "tools/client/cluster_client.hpp"

namespace troupe::tools {

class access_flags {
 public:
  // If no node is named, uses the node whose data is in `fallback`; an error if that is empty.
  explicit access_flags(CLI::App& to, std::string fallback = {});
  access_flags(const access_flags&) = delete;
  access_flags& operator=(const access_flags&) = delete;

  // --data-dir overrides --kubeconfig, which overrides $KUBECONFIG; --server and the token replace
  // parts of it. The error is one line: the missing setting or the wrong file.
  tl::expected<server::cluster_access, std::string> access() const;

  // A client of that API. Connects with the first request.
  tl::expected<std::unique_ptr<cluster_client>, std::string> connect() const;

  // The folder of --data-dir if only that flag names the node; empty otherwise.
  std::filesystem::path local_dir() const {
    if (!server_.empty() || !token_file_.empty()) return {};
    return data_dir_;
  }
  // The value of --server; empty if not given.
  const std::string& server() const noexcept { return server_; }

 private:
  const std::string fallback_;
  std::string data_dir_, server_, kubeconfig_, token_file_, authority_file_;
};

}  // namespace troupe::tools
