#include "support/http_client.hpp"

#include <algorithm>
#include <cctype>
#include <utility>

namespace troupe::test {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

std::string http_answer::header(const std::string& name) const {
  const auto found = headers.find(name);
  return found == headers.end() ? std::string() : found->second;
}

http_answer http_client::get(const std::string& path, const fields& headers) {
  return request("GET", path, {}, headers);
}

http_answer http_client::request(const std::string& method, const std::string& path,
                                 const std::string& body, const fields& headers) {
  send_request(method, path, body, headers);
  return receive_answer(method != "HEAD");
}

void http_client::send_request(const std::string& method, const std::string& path,
                               const std::string& body, const fields& headers) {
  std::string text = method + " " + path + " HTTP/1.1\r\nHost: test\r\n";
  for (const auto& [name, value] : headers)
    text += name + ": " + value + "\r\n";
  if (!body.empty() && headers.count("Transfer-Encoding") == 0)
    text += "Content-Length: " + std::to_string(body.size()) + "\r\n";
  // A server that refuses early may close before it has read everything: its response counts.
  static_cast<void>(wire_.send(text + "\r\n" + body));
}

bool http_client::read_more() {
  auto more = wire_.receive();
  unread_ += more;
  return !more.empty();
}

std::optional<std::string> http_client::read_line() {
  std::size_t end = 0;
  while ((end = unread_.find("\r\n")) == std::string::npos) {
    if (!read_more()) return std::nullopt;
  }
  auto line = unread_.substr(0, end);
  unread_.erase(0, end + 2);
  return line;
}

std::string http_client::receive_exactly(std::size_t size) {
  while (unread_.size() < size && read_more()) {
  }
  auto bytes = unread_.substr(0, size);
  unread_.erase(0, bytes.size());
  return bytes;
}

std::string http_client::receive_some() {
  if (unread_.empty()) read_more();
  return std::exchange(unread_, {});
}

http_answer http_client::receive_head() {
  http_answer answer;
  const auto start = read_line();
  if (!start || !start->starts_with("HTTP/1.")) return answer;
  answer.status = std::atoi(start->c_str() + 9);
  while (const auto line = read_line()) {
    if (line->empty()) return answer;
    const auto colon = line->find(": ");
    if (colon == std::string::npos) continue;
    auto& value = answer.headers[lower(line->substr(0, colon))];
    value += (value.empty() ? "" : ", ") + line->substr(colon + 2);
  }
  answer.status = 0;
  return answer;
}

http_answer http_client::receive_answer(bool has_body) {
  auto answer = receive_head();
  while (answer.status == 100)
    answer = receive_head();
  if (answer.status == 0 || !has_body || answer.status == 204 || answer.status == 304)
    return answer;
  if (answer.header("transfer-encoding") == "chunked") {
    while (const auto chunk = next_chunk())
      answer.body += *chunk;
  } else if (const auto length = answer.header("content-length"); !length.empty()) {
    answer.body = receive_exactly(static_cast<std::size_t>(std::stoull(length)));
  } else {
    while (read_more()) {
    }
    answer.body.swap(unread_);
  }
  return answer;
}

std::optional<std::string> http_client::next_chunk() {
  const auto line = read_line();
  if (!line) return std::nullopt;
  const auto size = std::stoull(*line, nullptr, 16);
  auto chunk = receive_exactly(static_cast<std::size_t>(size));
  if (!read_line() || size == 0) return std::nullopt;
  return chunk;
}

}  // namespace troupe::test
