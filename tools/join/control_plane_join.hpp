// Makes a machine a control plane of a cluster whose state is in an etcd. With a token it gets the
// sealed keys of the cluster, opens them with the key of the printed command, and stores them as a
// control plane that created them itself would:
//
//   pki/                the authority and the keys of service account tokens; the node makes its
//                       own certificates with them when it starts
//   etcd/               ca.crt, client.crt, client.key, to call etcd; may be missing
//   control-plane.json  the addresses of etcd
//
// Atomic: the files are prepared in joining/, and pki/ is moved last. The holder of the data dir's
// lock owns the folder. Errors are one line with the reason and the remedy.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "config/node_config.hpp"
#include "tools/join/enrolment.hpp"

namespace troupe::tools {

struct control_plane_join_options {
  // Empty if the machine has already joined.
  join_line line;
  std::string certificate_key;  // sealed_text.hpp
};

// Whether the data dir belongs to a control plane that has joined.
bool has_joined_as_control_plane(const std::filesystem::path& data_dir);

// Joins if that was not done before, and completes `config` with the received settings: the store,
// and the addresses of etcd and the files for it unless `config` sets them. Ends within
// `join_defaults::total_limit`.
tl::expected<void, std::string> join_as_control_plane(config::node_config& config,
                                                      const control_plane_join_options& options);

}  // namespace troupe::tools
