// How a machine becomes a member: it gets the keys with a token, then asks the members themselves.
#pragma once

#include <string>
#include <tl/expected.hpp>

#include "tools/etcd/member_process.hpp"

namespace troupe::tools {

// What of the flags of a first machine, or of one that joins, is wrong; else what was not given is
// filled in. A machine that joins listens where the others see it.
tl::expected<member_settings, std::string> complete_settings(const member_order& order);

// The keys are in the data dir and member.json says what to start etcd with. On failure nothing is
// left. At the other members nothing has changed either, or the machine stands among them as a
// learner without a vote: the same line again goes on there.
tl::expected<member_settings, std::string> join_members(const member_order& order);

// A member whose data are gone becomes a new one in the place of the old: with its old vote and no
// memory of what it has acknowledged, it could make the others forget that as well.
tl::expected<member_settings, std::string> join_again(const std::filesystem::path& data_dir,
                                                      member_settings settings);

}  // namespace troupe::tools
