// The life of a member as a process: its data dir, etcd as a child that is started again when it
// dies, the vote for a learner that has caught up, renewal of certificates, the end.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

#include "tools/etcd/member_settings.hpp"

namespace troupe::tools {

class process_setup;

// Of a machine that joins.
struct member_join_line {
  std::string address, token, authority_hash, certificate_key;
};

struct member_order {
  std::filesystem::path data_dir;
  // What is empty, or port 0, has not been given.
  member_settings settings;
  member_tuning tuning;
  // Its data are lost, and it is to be added again as a new member.
  bool rejoin = false;
  // Empty address: the first machine, or one that has joined.
  member_join_line line;
};

// Runs until a signal ends it, or the others have taken the member out. To be called before the
// process has other threads. An error is one line.
tl::expected<void, std::string> run_member(const member_order& order);

}  // namespace troupe::tools
