// The life of a member as a process: its data dir, etcd as a child process that is restarted when
// it dies, the promotion of a learner that has caught up, renewal of certificates, the end.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "tools/etcd/member_settings.hpp"

namespace troupe::tools {

class process_setup;

// The arguments of a joining machine.
struct member_join_line {
  std::string address, token, authority_hash, certificate_key;
};

struct member_options {
  std::filesystem::path data_dir;
  // An empty field, or port 0, was not given.
  member_settings settings;
  member_tuning tuning;
  // Its data are lost, and it is to be added again as a new member.
  bool rejoin = false;
  // Empty address: the first machine, or one that has joined.
  member_join_line line;
};

// Runs until a signal ends it, or the other members have removed it. Call it before the process has
// other threads. An error is one line.
tl::expected<void, std::string> run_member(const member_options& options);

}  // namespace troupe::tools
