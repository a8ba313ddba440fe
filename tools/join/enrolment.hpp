// How a machine becomes a node of a cluster: it makes a key, asks for a certificate with a token,
// keeps both. And how a node gets its next certificate.
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

// What a join line says.
struct join_line {
  std::string address;         // HOST:PORT, or several with commas between them
  std::string token;           // ID.SECRET
  std::string authority_hash;  // "sha256:…"
};

std::vector<std::string> addresses_of(const join_line& line);
// What of the line has not its form, and what to do.
tl::expected<void, std::string> check_join_line(const join_line& line);

// Calls the addresses of the line in turn until one is a control plane of that authority; `work`
// is given that one, as a line of its own, and its answer is the answer. Ends within
// `join_defaults::total_limit`, of which each address has its part.
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

// What the refusal of a machine that joins means for its user.
std::string join_refusal(const join_line& line, const client_answer& answer);

// Ends within `join_defaults::total_limit`. The key is in the folder before anything is asked, so
// that an attempt which was cut short is found again by the control plane; all else is there when
// this returns. Errors are one line with the reason and the remedy.
tl::expected<joined_credentials, std::string> enrol(const join_line& line, const std::string& node,
                                                    const join_folder& into);

// Of all control planes that the machine knows: first the one that it joined by.
std::vector<std::string> api_addresses(const joined_credentials& held);

// With the certificate that is held, for the same key; at the first control plane that answers.
tl::expected<joined_credentials, std::string> renew(const joined_credentials& held);

// The control plane that a node has joined, with the node's certificate.
tl::expected<std::unique_ptr<cluster_client>, std::string> connect_as_node(
    const joined_credentials& held);

}  // namespace troupe::tools
