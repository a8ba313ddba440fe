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
  // Where nothing is named, the node whose data is in `fallback`; empty: that is an error.
  explicit access_flags(CLI::App& to, std::string fallback = {});
  access_flags(const access_flags&) = delete;
  access_flags& operator=(const access_flags&) = delete;

  // --data-dir before --kubeconfig before $KUBECONFIG; --server and the token change parts of it.
  // The error is one line: what is missing, or which file is wrong.
  tl::expected<server::cluster_access, std::string> access() const;

  // A client of the API there. Connects with the first request.
  tl::expected<std::unique_ptr<cluster_client>, std::string> connect() const;

  // The folder of --data-dir where that alone says which node is meant; empty otherwise.
  std::filesystem::path local_dir() const {
    if (!server_.empty() || !token_file_.empty()) return {};
    return data_dir_;
  }
  // The server that --server names; empty where it is not given.
  const std::string& server() const noexcept { return server_; }

 private:
  const std::string fallback_;
  std::string data_dir_, server_, kubeconfig_, token_file_, authority_file_;
};

}  // namespace troupe::tools
