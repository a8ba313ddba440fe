// How a machine becomes a control plane of a cluster whose state is in an etcd: with a token it
// gets the sealed keys of the cluster, opens them with the key of the printed line, and keeps them
// as a control plane that made them itself would:
//
//   pki/                the authority and the keys of service account tokens; the node makes its
//                       own certificates of them when it starts
//   etcd/               ca.crt, client.crt, client.key: by which etcd is called; may be missing
//   control-plane.json  the addresses of etcd
//
// All of it is there, or nothing: it is put together in joining/, and pki/ comes last. Whoever
// holds the data dir's lock owns the folder. Errors are one line with the reason and the remedy.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "config/node_config.hpp"
#include "tools/join/enrolment.hpp"

namespace troupe::tools {

struct control_plane_order {
  // Empty where the machine has joined before.
  join_line line;
  std::string certificate_key;  // sealed_text.hpp
};

// Whether the data dir is that of a control plane that has joined.
bool has_joined_as_control_plane(const std::filesystem::path& data_dir);

// Joins where that was not done before, and completes `config` with what was told: the store, and
// how etcd is reached where `config` does not say that itself. Ends within
// `join_defaults::total_limit`.
tl::expected<void, std::string> join_as_control_plane(config::node_config& config,
                                                      const control_plane_order& order);

}  // namespace troupe::tools
