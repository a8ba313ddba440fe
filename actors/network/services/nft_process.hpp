// Runs the program nft as a child process with a script, which is applied completely or not at all.
// No nftables library is linked (docs/decisions/0049-nft-as-a-child-process.md). Blocks: for a
// worker thread.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <optional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace troupe::actors::services {

// The path of nft; nothing: not installed.
std::optional<std::string> find_nft();

// Whether this process has CAP_NET_ADMIN and so may change the network.
bool may_change_network();

// Why the kernel cannot have rules for IPv6; empty: it can. `interfaces`: the kernel's list of the
// IPv6 addresses of interfaces, which exists if it has IPv6.
std::string missing_for_ipv6(std::vector<std::string> command,
                             const std::string& interfaces = "/proc/net/if_inet6");

// `command`: nft and its prefix; `-f -` is added. The error is the first line of nft's output, or
// says that nft was killed after `limit`. `started` receives the id of nft's process.
tl::expected<void, std::string> run_nft(std::vector<std::string> command, const std::string& script,
                                        std::chrono::milliseconds limit, pid_t* started = nullptr);

// Removes a table, such as "ip troupe", if there is one. Without nft there is none.
tl::expected<void, std::string> remove_table(const std::string& table);

}  // namespace troupe::actors::services
