#include "tools/join/bootstrap_client.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <ctime>
#include <optional>

#include "actors/kubelet/os/timed_socket.hpp"
#include "config/units.hpp"
#include "server/credentials/x509.hpp"
#include "tools/join/defaults.hpp"

namespace troupe::tools {

namespace {

using actors::timed_socket;
using time_point = bootstrap_client::time_point;

struct http_answer {
  int status = 0;
  std::string date;
  std::string body;
};

std::string shown(const host_and_port& to) {
  const bool v6 = to.host.find(':') != std::string::npos;
  return fmt::format("{}:{}", v6 ? "[" + to.host + "]" : to.host, to.port);
}

bool has(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// The remedy for a connection that could not be established.
tl::unexpected<std::string> unreachable(const host_and_port& to, const std::string& reason,
                                        const server_words& words) {
  const auto address = shown(to);
  if (has(reason, "lookup ") && has(reason, "timeout"))
    return tl::make_unexpected(
        fmt::format("{}: the name server does not resolve this name ({}); use the address itself",
                    address, reason));
  if (has(reason, "lookup "))
    return tl::make_unexpected(
        fmt::format("{}: this name has no address ({}); use the address itself", address, reason));
  if (has(reason, "refused"))
    return tl::make_unexpected(fmt::format(
        "{}: nobody listens there; is it running, and does it listen on that address ({})?",
        address, words.listens));
  if (has(reason, "timeout"))
    return tl::make_unexpected(fmt::format(
        "{}: no answer; is the address right, and does a firewall let it through?", address));
  return tl::make_unexpected(
      fmt::format("{}: cannot be reached ({}); is the address right?", address, reason));
}

time_point connect_deadline(time_point deadline) {
  return std::min(deadline, timed_socket::clock::now() + join_defaults::connect_limit);
}

bool speaks_plain_http(const host_and_port& to, time_point deadline) {
  auto socket = timed_socket::connect(to.host, to.port, connect_deadline(deadline));
  if (!socket || !socket->write("GET /version HTTP/1.0\r\n\r\n")) return false;
  const auto answer = socket->read_all(8);
  return answer && answer->starts_with("HTTP/");
}

tl::unexpected<std::string> no_tls(const host_and_port& to, const std::string& reason,
                                   time_point deadline, const server_words& words) {
  if (speaks_plain_http(to, deadline))
    return tl::make_unexpected(
        fmt::format("{}: speaks plain HTTP; give {}", shown(to), words.port));
  return tl::make_unexpected(
      fmt::format("{}: is not a Troupe server, it does not speak TLS ({}); give {}", shown(to),
                  reason, words.port));
}

tl::unexpected<std::string> trust_failure(const host_and_port& to, trust_error reason,
                                          const std::vector<std::string>& chain,
                                          const server_words& words) {
  switch (reason) {
    case trust_error::no_certificate:
    case trust_error::other_authority:
      return tl::make_unexpected(
          fmt::format("{}: its certificate authority does not match --ca-hash: it is another "
                      "cluster, not a Troupe server, or the connection is intercepted; use the "
                      "whole command that `{}` prints there",
                      shown(to), words.line));
    case trust_error::not_signed:
      return tl::make_unexpected(
          fmt::format("{}: presents the authority of --ca-hash, but its own certificate is not "
                      "signed by it: the connection may be intercepted",
                      shown(to)));
    case trust_error::other_name:
      break;
  }
  return tl::make_unexpected(fmt::format(
      "{}: its certificate is not for {} but for {}; use one of these, or start it with {} {}",
      shown(to), to.host, names_in(chain.front()), words.names_flag, to.host));
}

struct trusted_connection {
  timed_socket socket;
  std::string authority;
  std::string certificate;
};

tl::expected<trusted_connection, std::string> open(const host_and_port& to, const std::string& hash,
                                                   time_point deadline, const server_words& words) {
  auto connected = timed_socket::connect(to.host, to.port, connect_deadline(deadline));
  if (!connected) return unreachable(to, connected.error(), words);
  if (const auto done = connected->start_tls(to.host); !done) {
    if (has(done.error(), "timeout"))
      return tl::make_unexpected(fmt::format(
          "{}: accepts the connection, but says nothing; is it a Troupe server?", shown(to)));
    return no_tls(to, done.error(), deadline, words);
  }
  const auto chain = connected->shown_certificates();
  auto trusted = check_server(chain, hash, to.host);
  if (!trusted) return trust_failure(to, trusted.error(), chain, words);
  return trusted_connection{std::move(*connected), std::move(trusted->authority), chain.front()};
}

// The value of a field of the head; empty if missing.
std::string field(std::string_view head, std::string_view name) {
  const auto found = std::search(
      head.begin(), head.end(), name.begin(), name.end(),
      [](unsigned char a, unsigned char b) { return std::tolower(a) == std::tolower(b); });
  if (found == head.end()) return {};
  auto value = head.substr(static_cast<std::size_t>(found - head.begin()) + name.size());
  value = value.substr(0, value.find("\r\n"));
  return std::string{value};
}

tl::expected<http_answer, std::string> exchange(timed_socket& socket, const host_and_port& to,
                                                const std::string& request) {
  const auto broken = [&](const std::string& reason) {
    return tl::make_unexpected(
        fmt::format("{}: is not a Troupe server, or the connection was lost ({}); try again",
                    shown(to), reason));
  };
  if (const auto sent = socket.write(request); !sent) return broken(sent.error());
  const auto text = socket.read_all(join_defaults::answer_limit_bytes);
  if (!text) return broken(text.error());
  const auto end = text->find("\r\n\r\n");
  http_answer answer;
  const bool http = text->starts_with("HTTP/1.1 ") && end != text->npos;
  if (!http ||
      std::from_chars(text->data() + 9, text->data() + 12, answer.status).ec != std::errc{})
    return broken("it does not speak HTTP");
  answer.date = field(std::string_view{*text}.substr(0, end), "\r\ndate: ");
  answer.body = text->substr(end + 4);
  return answer;
}

std::string head_of(const char* method, const std::string& path, const host_and_port& to) {
  return fmt::format("{} {} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n", method, path,
                     shown(to));
}

// How far the server's clock is ahead of ours, in seconds.
std::optional<long long> seconds_ahead(const std::string& date) {
  std::tm parts{};
  const char* end = ::strptime(date.c_str(), "%a, %d %b %Y %H:%M:%S GMT", &parts);
  if (end == nullptr) return std::nullopt;
  return ::timegm(&parts) - std::time(nullptr);
}

tl::expected<void, std::string> check_clocks(const host_and_port& to, const std::string& date,
                                             const std::string& certificate) {
  const auto difference = seconds_ahead(date);
  if (difference && std::chrono::seconds{std::abs(*difference)} > join_defaults::clock_skew_limit)
    return tl::make_unexpected(fmt::format(
        "{}: the clocks differ by {}, this machine is {}; set them (NTP) and join again", shown(to),
        config::print(std::chrono::seconds{std::abs(*difference)}),
        *difference > 0 ? "behind" : "ahead"));
  const auto valid = server::x509::read_validity(certificate);
  const auto now = std::chrono::system_clock::now();
  if (valid && (now < valid->from || now >= valid->until))
    return tl::make_unexpected(
        fmt::format("{}: its certificate is {}; restart the node there, it makes a new one",
                    shown(to), now < valid->from ? "not valid yet" : "no longer valid"));
  return {};
}

}  // namespace

tl::expected<bootstrap_client, std::string> bootstrap_client::make(
    const std::string& address, const std::string& authority_hash, time_point deadline,
    const server_words& words) {
  const auto to = parse_host_and_port(address);
  if (!to) return tl::make_unexpected(to.error());
  bootstrap_client made{*to, authority_hash, deadline, words};
  auto opened = open(*to, authority_hash, deadline, words);
  if (!opened) return tl::make_unexpected(opened.error());
  const auto answer = exchange(opened->socket, *to, head_of("GET", "/version", *to) + "\r\n");
  if (!answer) return tl::make_unexpected(answer.error());
  if (answer->status != 200 || !has(answer->body, "+troupe"))
    return tl::make_unexpected(
        fmt::format("{}: is not a Troupe server; only one of those can be joined", shown(*to)));
  if (auto same = check_clocks(*to, answer->date, opened->certificate); !same)
    return tl::make_unexpected(same.error());
  made.authority_ = std::move(opened->authority);
  return made;
}

tl::expected<client_answer, std::string> bootstrap_client::post(const std::string& path,
                                                                const std::string& token,
                                                                const std::string& body) const {
  auto opened = open(to_, hash_, deadline_, words_);
  if (!opened) return tl::make_unexpected(opened.error());
  const auto request = head_of("POST", path, to_) +
                       fmt::format(
                           "authorization: Bearer {}\r\ncontent-type: application/json\r\n"
                           "content-length: {}\r\n\r\n",
                           token, body.size()) +
                       body;
  auto answer = exchange(opened->socket, to_, request);
  if (!answer) return tl::make_unexpected(answer.error());
  return client_answer{answer->status, std::move(answer->body)};
}

}  // namespace troupe::tools
