// What `troupe etcd members`, `remove` and `leave` do, from the data dir of a member.
#pragma once

#include <filesystem>
#include <string>
#include <tl/expected.hpp>

namespace troupe::tools {

// The table.
tl::expected<std::string, std::string> list_members(const std::filesystem::path& data_dir);
// What is left, as tolerance_text().
tl::expected<std::string, std::string> remove_member(const std::filesystem::path& data_dir,
                                                     const std::string& name);
// Takes this machine's member out, waits until its process has ended, and removes data and keys.
tl::expected<std::string, std::string> leave_members(const std::filesystem::path& data_dir);

}  // namespace troupe::tools
