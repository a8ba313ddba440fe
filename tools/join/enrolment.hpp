// Makes a machine a node of a cluster: creates a key, requests a certificate with a token, stores
// both. Also requests a node's next certificate.
#pragma once

#include <chrono>
#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "tools/client/cluster_client.hpp"
#include "tools/join/bootstrap_client.hpp"
#include "tools/join/credentials.hpp"
#include "tools/join/defaults.hpp"

namespace troupe::tools {

// The arguments of a join command.
struct join_line {
  std::string address;         // HOST:PORT, or several separated by commas
  std::string token;           // ID.SECRET
  std::string authority_hash;  // "sha256:…"
};

std::vector<std::string> addresses_of(const join_line& line);
// Checks the form of the arguments; the error names the wrong one and the remedy.
tl::expected<void, std::string> check_join_line(const join_line& line);

// Calls the addresses of the line in turn until one is a control plane with that authority; passes
// that address to `work` as a line of its own, and returns its result. Ends within
// `join_defaults::total_limit`, which the addresses share.
template <class T>
tl::expected<T, std::string> at_first_server(
    const join_line& line, const std::function<tl::expected<T, std::string>(
                               const join_line& at, const bootstrap_client& contact,
                               bootstrap_client::time_point deadline)>& work) {
  const auto addresses = addresses_of(line);
  const auto end = std::chrono::steady_clock::now() + join_defaults::total_limit;
  std::string reasons;
  auto left = static_cast<int>(addresses.size());
  for (const auto& address : addresses) {
    const auto now = std::chrono::steady_clock::now();
    auto contact = bootstrap_client::make(address, line.authority_hash, now + (end - now) / left--);
    if (contact) return work({address, line.token, line.authority_hash}, *contact, end);
    reasons += (reasons.empty() ? "" : "; ") + contact.error();
  }
  return tl::make_unexpected(reasons);
}

// Explains to the user why a joining machine was refused.
std::string join_refusal(const join_line& line, const client_answer& answer);

// Ends within `join_defaults::total_limit`. Stores the key before the first request, so that the
// control plane recognises the machine after an interrupted attempt; stores the rest before it
// returns. Errors are one line with the reason and the remedy.
tl::expected<joined_credentials, std::string> enrol(const join_line& line, const std::string& node,
                                                    const join_folder& into);

// The addresses of all known control planes; the one that the machine joined by comes first.
std::vector<std::string> api_addresses(const joined_credentials& held);

// Uses the held certificate, for the same key; at the first control plane that answers and is able
// to write.
tl::expected<joined_credentials, std::string> renew(const joined_credentials& held);

// A client of the control plane that the node has joined, with the node's certificate.
tl::expected<std::unique_ptr<cluster_client>, std::string> connect_as_node(
    const joined_credentials& held);

}  // namespace troupe::tools
