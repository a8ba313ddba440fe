#include "actors/network/dns_questions.hpp"

#include <arpa/inet.h>

#include <catch2/catch.hpp>

namespace troupe::test {

using actors::dns::record_type;

namespace {

int number(const std::string& bytes, std::size_t at) {
  return static_cast<unsigned char>(bytes.at(at)) << 8 |
         static_cast<unsigned char>(bytes.at(at + 1));
}

std::string name_at(const std::string& bytes, std::size_t& at) {
  if ((bytes.at(at) & 0xc0) == 0xc0) {
    auto there = static_cast<std::size_t>(number(bytes, at) & 0x3fff);
    at += 2;
    return name_at(bytes, there);
  }
  std::string name;
  while (bytes.at(at) != 0) {
    const auto size = static_cast<std::size_t>(bytes[at]);
    name += (name.empty() ? "" : ".") + bytes.substr(at + 1, size);
    at += size + 1;
  }
  ++at;
  return name;
}

std::string data_of(const std::string& bytes, std::size_t at, int type, std::size_t size) {
  char text[INET6_ADDRSTRLEN] = "";
  switch (static_cast<record_type>(type)) {
    case record_type::a:
      return ::inet_ntop(AF_INET, bytes.data() + at, text, sizeof text);
    case record_type::aaaa:
      return ::inet_ntop(AF_INET6, bytes.data() + at, text, sizeof text);
    case record_type::txt:
      return bytes.substr(at + 1, size - 1);
    case record_type::srv: {
      auto port = std::to_string(number(bytes, at + 4));
      at += 6;
      return port + " " + name_at(bytes, at);
    }
    default:
      return name_at(bytes, at);
  }
}

const char* type_name(int type) {
  switch (static_cast<record_type>(type)) {
    case record_type::a:
      return "A";
    case record_type::aaaa:
      return "AAAA";
    case record_type::txt:
      return "TXT";
    case record_type::srv:
      return "SRV";
    case record_type::cname:
      return "CNAME";
    case record_type::ptr:
      return "PTR";
    case record_type::soa:
      return "SOA";
    case record_type::ns:
      return "NS";
    default:
      return "?";
  }
}

}  // namespace

heard_answer heard_in(const std::string& bytes) {
  heard_answer out;
  out.code = code_of(bytes);
  out.authoritative = (bytes.at(2) & 4) != 0;
  out.truncated = (bytes.at(2) & 2) != 0;
  std::size_t at = 12;
  if (number(bytes, 4) == 1) {
    name_at(bytes, at);
    at += 4;
  }
  int section = 0;
  for (auto* to : {&out.answers, &out.authority, &out.additional}) {
    for (int left = number(bytes, 6 + 2 * static_cast<std::size_t>(section)); left > 0; --left) {
      const auto owner = name_at(bytes, at);
      const auto type = number(bytes, at);
      const auto size = static_cast<std::size_t>(number(bytes, at + 8));
      if (static_cast<record_type>(type) == record_type::opt) {
        out.edns = true;
        out.extended_code = bytes.at(at + 4);
      } else {
        to->push_back(owner + " " + type_name(type) + " " + data_of(bytes, at + 10, type, size));
      }
      at += 10 + size;
    }
    ++section;
  }
  CHECK(at == bytes.size());
  return out;
}

}  // namespace troupe::test
