// DNS questions as a client encodes them, and a parser of answers.
#pragma once

#include <string>
#include <vector>

#include "actors/network/dns/dns_message.hpp"
#include "actors/network/dns/dns_name.hpp"

namespace troupe::test {

// With id 0x1234. `edns_bytes` 0: without EDNS.
inline std::string ask(const std::string& name, actors::dns::record_type type,
                       std::uint16_t edns_bytes = 0) {
  std::string out("\x12\x34\x01\x00\x00\x01\x00\x00\x00\x00\x00\x00", 12);
  for (std::size_t at = 0; at < name.size();) {
    const auto dot = std::min(name.find('.', at), name.size());
    out += static_cast<char>(dot - at);
    out += name.substr(at, dot - at);
    at = dot + 1;
  }
  out += '\0';
  out += '\0';
  out += static_cast<char>(type);
  out += std::string("\0\1", 2);
  if (edns_bytes == 0) return out;
  out[11] = 1;
  out += std::string("\0\0\x29", 3);
  out += static_cast<char>(edns_bytes >> 8);
  out += static_cast<char>(edns_bytes);
  return out + std::string(6, '\0');
}

inline actors::dns::response_code code_of(const std::string& bytes) {
  return static_cast<actors::dns::response_code>(bytes.at(3) & 0xf);
}

struct heard_answer {
  actors::dns::response_code code{};
  bool truncated = false, authoritative = false, edns = false;
  int extended_code = 0;
  // "NAME TYPE DATA" of each section.
  std::vector<std::string> answers, authority, additional;
};

// Parses the program's messages: names without pointers, or with a pointer to the question.
heard_answer heard_in(const std::string& bytes);

}  // namespace troupe::test
