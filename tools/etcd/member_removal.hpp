// Implements `troupe etcd members`, `remove` and `leave`, from the data dir of a member.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

namespace troupe::tools {

// The table of members.
tl::expected<std::string, std::string> list_members(const std::filesystem::path& data_dir);
// Returns the tolerance of the remaining members, as tolerance_text().
tl::expected<std::string, std::string> remove_member(const std::filesystem::path& data_dir,
                                                     const std::string& name);
// Removes this machine's member, waits until its process has ended, and removes data and keys. The
// same command continues after an interruption.
tl::expected<std::string, std::string> leave_members(const std::filesystem::path& data_dir);

}  // namespace troupe::tools
