#include "actors/kubelet/health/http_check.hpp"

#include <fmt/format.h>
#include <strings.h>

#include <algorithm>
#include <string_view>

#include "actors/kubelet/defaults.hpp"
#include "actors/kubelet/os/timed_socket.hpp"

namespace troupe::actors {

namespace {

constexpr int most_redirects = 10;  // kubernetes: net/http's own limit
// kubernetes: net/http's error for it.
constexpr const char* late_answer =
    "context deadline exceeded (Client.Timeout exceeded while awaiting headers)";

bool same_word(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

bool one_line(std::string_view text) {
  return std::none_of(text.begin(), text.end(), [](char c) { return c == '\r' || c == '\n'; });
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t'))
    text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r'))
    text.remove_suffix(1);
  return text;
}

std::string authority(const http_get_action& q) {
  const bool six = q.host.find(':') != std::string::npos;
  return fmt::format("{}{}{}:{}", six ? "[" : "", q.host, six ? "]" : "", q.port);
}

tl::expected<http_reply, std::string> fetch(const http_get_action& q,
                                            timed_socket::clock::time_point deadline, int cancel) {
  auto socket = timed_socket::connect(q.host, q.port, deadline, cancel);
  if (!socket) return tl::make_unexpected(socket.error());
  if (q.tls)
    if (const auto begun = socket->start_tls(q.host); !begun)
      return tl::make_unexpected(begun.error());
  if (const auto sent = socket->write(request_text(q)); !sent)
    return tl::make_unexpected(sent.error());
  const auto text = socket->read_all(kubelet_defaults::check_output_bytes);
  if (!text) return tl::make_unexpected(text.error());
  return parse_reply(*text);
}

// Returns true if the redirect leads to the same host; `q` is then its target.
bool follow(http_get_action& q, std::string_view location) {
  const auto prefix = fmt::format("{}://{}", q.tls ? "https" : "http", authority(q));
  if (location.starts_with(prefix)) location.remove_prefix(prefix.size());
  if (location.empty()) location = "/";
  if (location.front() != '/' || location.starts_with("//")) return false;
  q.path = location;
  return true;
}

}  // namespace

tl::expected<http_reply, std::string> parse_reply(const std::string& text) {
  const std::string_view all{text};
  const auto line = all.substr(0, all.find('\n'));
  http_reply reply;
  const auto blank = line.find(' ');
  if (!line.starts_with("HTTP/") || blank == line.npos || line.size() < blank + 4)
    return tl::make_unexpected(fmt::format("malformed HTTP response \"{}\"", trimmed(line)));
  for (const char digit : line.substr(blank + 1, 3)) {
    if (digit < '0' || digit > '9')
      return tl::make_unexpected(fmt::format("malformed HTTP status code \"{}\"", trimmed(line)));
    reply.status = reply.status * 10 + (digit - '0');
  }
  auto rest = all.substr(std::min(line.size() + 1, all.size()));
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    const auto header = trimmed(rest.substr(0, end));
    rest.remove_prefix(end == rest.npos ? rest.size() : end + 1);
    if (header.empty()) break;
    const auto colon = header.find(':');
    if (colon != header.npos && same_word(header.substr(0, colon), "Location"))
      reply.location = trimmed(header.substr(colon + 1));
  }
  reply.body = rest;
  return reply;
}

std::string request_text(const http_get_action& q) {
  std::string path;
  for (const char c : q.path)
    if (static_cast<unsigned char>(c) <= ' ' || c == 0x7f)
      path += fmt::format("%{:02X}", static_cast<unsigned char>(c));
    else
      path += c;
  std::string host = authority(q), agent = q.hook ? "kube-lifecycle/troupe" : "kube-probe/troupe",
              accept = "*/*", others;
  for (const auto& [name, value] : q.headers) {
    if (!one_line(name) || !one_line(value)) continue;
    if (same_word(name, "Host"))
      host = value;
    else if (same_word(name, "User-Agent"))
      agent = value;
    else if (same_word(name, "Accept"))
      accept = value;
    else
      others += name + ": " + value + "\r\n";
  }
  return fmt::format(
      "GET {} HTTP/1.1\r\nHost: {}\r\nUser-Agent: {}\r\nAccept: {}\r\n{}Connection: close\r\n\r\n",
      path, host, agent, accept, others);
}

health_result http_check(const http_get_action& check, runtime::duration timeout, int cancel) {
  const auto deadline = timed_socket::clock::now() + timeout;
  auto q = check;
  for (int redirects = 0;; ++redirects) {
    auto reply = fetch(q, deadline, cancel);
    if (!reply && q.hook && reply.error() == plain_answer) {
      auto plain = q;
      plain.tls = false;
      if (auto second = fetch(plain, deadline, cancel)) reply = std::move(second);
    }
    if (!reply)
      return {check_status::failure,
              fmt::format(
                  "Get \"{}://{}{}\": {}", q.tls ? "https" : "http", authority(q), q.path,
                  reply.error() == timed_socket::late ? std::string{late_answer} : reply.error())};
    const bool redirect = reply->status >= 300 && reply->status < 400 && !reply->location.empty();
    if (redirect && redirects == most_redirects)
      return {check_status::failure, fmt::format("stopped after {} redirects", most_redirects)};
    if (redirect && follow(q, reply->location)) continue;
    if (!q.hook && reply->status >= 300 && reply->status < 400)
      return {check_status::success, "Probe terminated redirects, Response body: " + reply->body,
              true};
    if (q.hook || (reply->status >= 200 && reply->status < 300))
      return {check_status::success, reply->body};
    return {check_status::failure,
            fmt::format("HTTP probe failed with statuscode: {}", reply->status)};
  }
}

health_result tcp_check(const tcp_socket_action& check, runtime::duration timeout, int cancel) {
  const auto deadline = timed_socket::clock::now() + timeout;
  const auto opened = timed_socket::connect(check.host, check.port, deadline, cancel);
  if (!opened) return {check_status::failure, opened.error()};
  return {check_status::success, {}};
}

}  // namespace troupe::actors
