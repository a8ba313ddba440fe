// The credentials that a machine got when it joined a cluster: DATA-DIR/join/ (0700, files 0600).
//
//   node.key      created here before the first request; never leaves the machine
//   node.crt      its certificate, CN=system:node:NAME, O=system:nodes
//   ca.crt        the authority of the cluster
//   cluster.json  the node's name, the cluster's id, the addresses, the token's id, the control
//                 planes; written last: once it exists, the machine has joined
//   root-dir      where its kubelet keeps pods, which `leave` cleans up
//
// The holder of the data dir's lock owns the folder. Errors are one line that names the file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tl/expected.hpp>

#include "tools/node/node_folder.hpp"

namespace troupe::tools {

struct joined_credentials {
  std::string node_name;
  std::string cluster_id;
  std::string api_address;    // HOST:PORT by which the API was called
  std::string link_address;   // HOST:PORT
  std::string token_id = {};  // of the token that it joined with; not secret
  // The last known ones (actors/api_servers/api_server_record.hpp); empty: never received.
  std::string control_planes = {};
  // PEM.
  std::string certificate;
  std::string private_key;
  std::string authority;
};

class join_folder {
 public:
  explicit join_folder(const std::filesystem::path& data_dir) : path_{join_dir(data_dir)} {}

  const std::filesystem::path& path() const noexcept { return path_; }

  // Nullopt: the machine has not joined.
  tl::expected<std::optional<joined_credentials>, std::string> load() const;
  // The existing key, from an interrupted attempt, or a new one.
  tl::expected<std::string, std::string> private_key() const;
  tl::expected<void, std::string> save(const joined_credentials& credentials) const;
  // Of the kubelet that runs here; nullopt if never saved.
  tl::expected<void, std::string> save_root(const std::filesystem::path& root_dir) const;
  std::optional<std::filesystem::path> root() const;
  // Removes the folder; no error if there is none.
  tl::expected<void, std::string> remove() const;

 private:
  const std::filesystem::path path_;
};

}  // namespace troupe::tools
