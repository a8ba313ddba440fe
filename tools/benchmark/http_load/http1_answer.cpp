#include "benchmark/http_load/http1_answer.hpp"

#include <strings.h>

#include <algorithm>
#include <charconv>
#include <stdexcept>

namespace troupe::bench {
namespace {

constexpr std::string_view end_of_head = "\r\n\r\n";
constexpr std::size_t longest_head = 64 << 10;

bool equal_fold(std::string_view one, std::string_view other) {
  return one.size() == other.size() && ::strncasecmp(one.data(), other.data(), one.size()) == 0;
}

// The value of a field; a null view if there is none. Each line of the head has its end.
std::string_view field(std::string_view head, std::string_view name) {
  for (auto at = head.find('\n') + 1; at < head.size(); at = head.find('\n', at) + 1) {
    auto line = head.substr(at, head.find('\n', at) - at);
    if (line.size() <= name.size() || line[name.size()] != ':') continue;
    if (!equal_fold(line.substr(0, name.size()), name)) continue;
    line.remove_prefix(name.size() + 1);
    const auto first = line.find_first_not_of(" \t\r");
    return first == line.npos ? line.substr(0, 0)
                              : line.substr(first, line.find_last_not_of(" \t\r") - first + 1);
  }
  return {};
}

// The number at the start of the text, and the number of its digits.
std::size_t parse(std::string_view text, std::size_t& digits, int base) {
  std::size_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  digits = error == std::errc{} ? static_cast<std::size_t>(end - text.data()) : 0;
  return number;
}

}  // namespace

bool http1_answer::read(std::string_view bytes) {
  if (part_ == part::body) return read_body(bytes);
  if (part_ != part::head) return read_chunks(bytes);
  const auto before = line_.size();
  if (before != 0) line_ += bytes;
  const auto all = before != 0 ? std::string_view{line_} : bytes;
  const auto end = all.find(end_of_head);
  if (end == all.npos) {
    if (before == 0) line_ = bytes;
    if (line_.size() > longest_head) throw std::runtime_error("an answer with a head without end");
    return false;
  }
  const auto after = end + end_of_head.size();
  const bool chunks = read_head(all.substr(0, end + 2));
  bytes.remove_prefix(after - before);
  line_.clear();
  return chunks ? read_chunks(bytes) : read_body(bytes);
}

// True if the body comes in chunks.
bool http1_answer::read_head(std::string_view head) {
  if (!head.starts_with("HTTP/1.1 ") || head.size() < 12)
    throw std::runtime_error("no answer of HTTP/1.1");
  std::from_chars(head.data() + 9, head.data() + 12, status_);
  size_ = rest_ = 0;
  if (const auto length = field(head, "content-length"); length.data() != nullptr) {
    std::size_t digits = 0;
    size_ = rest_ = parse(length, digits, 10);
    if (digits == 0 || digits != length.size())
      throw std::runtime_error("an answer whose content-length is no number");
    part_ = part::body;
    return false;
  }
  if (!equal_fold(field(head, "transfer-encoding"), "chunked"))
    throw std::runtime_error("an answer without content-length and not in chunks");
  part_ = part::chunks;
  return true;
}

bool http1_answer::read_body(std::string_view bytes) {
  if (bytes.size() > rest_) throw std::runtime_error("bytes after an answer");
  rest_ -= bytes.size();
  if (rest_ == 0) part_ = part::head;
  return rest_ == 0;
}

bool http1_answer::read_chunks(std::string_view bytes) {
  while (!bytes.empty()) {
    const auto taken = std::min(rest_, bytes.size());
    bytes.remove_prefix(taken);
    rest_ -= taken;
    if (bytes.empty()) break;
    const auto end = bytes.find('\n');
    line_ += bytes.substr(0, end);
    if (line_.size() > longest_head) throw std::runtime_error("a chunk without size");
    if (end == bytes.npos) break;
    bytes.remove_prefix(end + 1);
    if (line_.ends_with('\r')) line_.pop_back();
    const bool complete = read_line(line_);
    line_.clear();
    if (!complete) continue;
    if (!bytes.empty()) throw std::runtime_error("bytes after an answer");
    part_ = part::head;
    return true;
  }
  return false;
}

// The head of a chunk, or a trailer. True if it ends the answer.
bool http1_answer::read_line(std::string_view line) {
  if (part_ == part::trailers) return line.empty();
  std::size_t digits = 0;
  const auto chunk = parse(line, digits, 16);
  if (digits == 0 || (digits < line.size() && line[digits] != ';' && line[digits] != ' '))
    throw std::runtime_error("a chunk without size");
  size_ += chunk;
  rest_ = chunk + 2;  // and the end of its line
  if (chunk != 0) return false;
  rest_ = 0;
  part_ = part::trailers;
  return false;
}

}  // namespace troupe::bench
