// Makes a machine a member: it gets the keys with a token, then calls the members themselves.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "tools/etcd/member_process.hpp"

namespace troupe::tools {

// Checks the flags of a first or joining machine, and fills in the defaults. The error names the
// wrong flag. A joining machine listens on the address that the others see.
tl::expected<member_settings, std::string> complete_settings(const member_options& options);

// Writes the keys to the data dir and etcd's start settings to member.json. On failure nothing is
// left here. The other members are unchanged too, or have the machine as a learner without a vote:
// the same command continues from there.
tl::expected<member_settings, std::string> join_members(const member_options& options);

// A member that has lost its data becomes a new member in its own place. With its old vote but
// without the log that it acknowledged, it could make the others lose acknowledged writes as well.
tl::expected<member_settings, std::string> join_again(const std::filesystem::path& data_dir,
                                                      member_settings settings);

}  // namespace troupe::tools
