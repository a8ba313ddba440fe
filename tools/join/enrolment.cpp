#include "tools/join/enrolment.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "actors/api_servers/api_server_record.hpp"
#include "actors/api_servers/defaults.hpp"
#include "actors/tokens/bootstrap_token.hpp"
#include "server/credentials/x509.hpp"
#include "server/join/flat_json.hpp"
#include "server/join/join_authorizer.hpp"
#include "tools/client/node_client.hpp"
#include "tools/join/bootstrap_client.hpp"
#include "tools/join/defaults.hpp"

namespace troupe::tools {

namespace {

constexpr std::string_view hash_prefix = "sha256:";
constexpr std::size_t hash_digits = 64;

using time_point = bootstrap_client::time_point;

tl::expected<std::string, std::string> request_body(const std::string& node,
                                                    const std::string& private_key) {
  auto csr = server::x509::make_request(private_key, "system:node:" + node);
  if (!csr) return csr;
  return server::write_flat_json({{"nodeName", node}, {"certificateRequest", *csr}});
}

// Merges the server's response into the held credentials; the error is our own text.
tl::expected<joined_credentials, std::string> apply_answer(joined_credentials held,
                                                           const client_answer& answer) {
  const auto fields = server::read_flat_json(answer.body);
  if (!fields) return tl::make_unexpected("the server's response: " + fields.error());
  held.certificate = server::member(*fields, "certificate");
  held.authority = server::member(*fields, "certificateAuthority");
  held.cluster_id = server::member(*fields, "clusterId");
  held.link_address = server::member(*fields, "linkAddress");
  if (!server::x509::belongs({held.certificate, held.private_key}, held.authority) ||
      held.cluster_id.empty() || !parse_host_and_port(held.link_address))
    return tl::make_unexpected(
        std::string("the server's response is invalid; do both run the same version of Troupe?"));
  return held;
}

// Retries while time is left if the server is just starting, or busy.
tl::expected<client_answer, std::string> ask(const bootstrap_client& contact, const join_line& line,
                                             const std::string& body, time_point deadline) {
  for (;;) {
    auto answer = contact.post(std::string{server::certificates_path}, line.token, body);
    const bool later = answer && (answer->status == 503 || answer->status == 429);
    const auto next = std::chrono::steady_clock::now() + join_defaults::ask_again;
    if (!later || next >= deadline) return answer;
    std::this_thread::sleep_until(next);
  }
}

tl::expected<joined_credentials, std::string> enrol_at(const bootstrap_client& contact,
                                                       const join_line& line,
                                                       const std::string& node,
                                                       const join_folder& into,
                                                       time_point deadline) {
  joined_credentials held;
  held.node_name = node;
  held.api_address = line.address;
  if (const auto token = actors::split_token(line.token)) held.token_id = token->id;
  auto key = into.private_key();
  if (!key) return tl::make_unexpected(key.error());
  held.private_key = std::move(*key);
  const auto body = request_body(node, held.private_key);
  if (!body) return tl::make_unexpected(body.error());
  const auto answer = ask(contact, line, *body, deadline);
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->status != 201) return tl::make_unexpected(join_refusal(line, *answer));
  auto joined = apply_answer(std::move(held), *answer);
  if (!joined) return tl::make_unexpected(line.address + ": " + joined.error());
  if (server::x509::key_hash(joined->authority) != line.authority_hash)
    return tl::make_unexpected(line.address + ": its response contains another authority");
  if (auto saved = into.save(*joined); !saved) return tl::make_unexpected(saved.error());
  return joined;
}

}  // namespace

std::vector<std::string> addresses_of(const join_line& line) {
  std::vector<std::string> all;
  for (std::size_t from = 0; from <= line.address.size();) {
    const auto end = std::min(line.address.find(',', from), line.address.size());
    all.push_back(line.address.substr(from, end - from));
    from = end + 1;
  }
  return all;
}

tl::expected<void, std::string> check_join_line(const join_line& line) {
  const auto addresses = addresses_of(line);
  if (addresses.size() > actors::api_server_defaults::api_servers)
    return tl::make_unexpected(fmt::format("{} addresses: give {} at most", addresses.size(),
                                           actors::api_server_defaults::api_servers));
  for (const auto& address : addresses)
    if (const auto to = parse_host_and_port(address); !to) return tl::make_unexpected(to.error());
  if (!actors::split_token(line.token))
    return tl::make_unexpected(
        std::string("--token: expected ID.SECRET, six and sixteen lower-case letters and digits, "
                    "as `troupe token create` prints it"));
  const auto& hash = line.authority_hash;
  const bool good = hash.starts_with(hash_prefix) &&
                    hash.size() == hash_prefix.size() + hash_digits &&
                    hash.find_first_not_of("0123456789abcdef", hash_prefix.size()) == hash.npos;
  if (!good)
    return tl::make_unexpected(
        std::string("--ca-hash: expected sha256: and 64 hexadecimal digits, as `troupe token "
                    "create` prints it"));
  return {};
}

std::string join_refusal(const join_line& line, const client_answer& answer) {
  if (answer.status == 401)
    return fmt::format(
        "{}: the token is unknown or expired; make a new one with `troupe token create` on the "
        "control plane",
        line.address);
  return line.address + ": " + refusal(answer);
}

tl::expected<joined_credentials, std::string> enrol(const join_line& line, const std::string& node,
                                                    const join_folder& into) {
  return at_first_server<joined_credentials>(
      line, [&](const join_line& one, const bootstrap_client& contact, time_point deadline) {
        return enrol_at(contact, one, node, into, deadline);
      });
}

tl::expected<std::unique_ptr<cluster_client>, std::string> connect_as_node(
    const joined_credentials& held) {
  auto made = node_client::make(
      {"https://" + held.api_address, held.authority, held.certificate, held.private_key, {}});
  if (!made) return tl::make_unexpected(made.error());
  return std::move(*made);
}

std::vector<std::string> api_addresses(const joined_credentials& held) {
  std::vector<std::string> all{held.api_address};
  for (const auto& each : actors::read_api_servers(held.control_planes))
    if (std::find(all.begin(), all.end(), each.api) == all.end()) all.push_back(each.api);
  return all;
}

tl::expected<joined_credentials, std::string> renew(const joined_credentials& held) {
  auto body = request_body(held.node_name, held.private_key);
  if (!body) return tl::make_unexpected(body.error());
  std::string reason;
  for (const auto& address : api_addresses(held)) {
    auto through = held;
    through.api_address = address;
    const auto to = connect_as_node(through);
    if (!to) return tl::make_unexpected(to.error());
    const auto answer = (*to)->call(
        {.method = "POST", .path = std::string{server::certificates_path}, .body = *body});
    if (!answer) {
      reason = answer.error();
      continue;
    }
    if (answer->status >= 500) {
      reason = address + ": " + refusal(*answer);
      continue;
    }
    if (answer->status != 201) return tl::make_unexpected(refusal(*answer));
    auto next = apply_answer(held, *answer);
    // Names and addresses stay those of the first join.
    if (next) next->link_address = held.link_address;
    return next;
  }
  return tl::make_unexpected(reason);
}

}  // namespace troupe::tools
