// Parser and writer of DNS messages: parses queries, writes answers, and extracts records from
// another server's answer. Pure. Input is untrusted: parsing always ends and stays within the
// bytes. RFC 1035, RFC 6891 (EDNS).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

namespace troupe::actors::dns {

enum class record_type : std::uint16_t {
  a = 1,
  ns = 2,
  cname = 5,
  soa = 6,
  ptr = 12,
  txt = 16,
  aaaa = 28,
  srv = 33,
  opt = 41,
  any = 255
};

enum class response_code : std::uint8_t {
  no_error = 0,
  format_error = 1,
  server_failure = 2,
  no_such_name = 3,
  not_implemented = 4,
  refused = 5,
  bad_version = 16  // of EDNS
};

struct record {
  record_type type{};
  std::string data;  // in wire format, names not compressed

  friend bool operator==(const record&, const record&) = default;
};
using record_list = std::vector<record>;

// The single question of a message.
struct question {
  std::uint16_t id = 0;
  bool recursion_desired = false;
  bool edns = false;
  bool wants_dnssec = false;
  std::uint16_t udp_bytes = 0;  // size of UDP answers that the client accepts, by EDNS
  record_type type{};
  std::uint16_t class_code = 0;
  std::string name;  // in wire format, in lower case
  std::string text;  // the original question: its letter case is returned in the answer

  // Maximum size of a UDP answer.
  std::size_t udp_limit() const;
};

// The error answer for an invalid query; empty if there must be no answer: answering an answer or a
// malformed message would allow amplification attacks.
using refusal = std::string;
tl::expected<question, refusal> read_question(std::string_view bytes);

// The query for a resolver, with this id.
std::string write_question(const question& asked, std::uint16_t id);

// Builds an answer. Records that do not fit into a message are left out.
class reply {
 public:
  reply(const question& asked, bool authoritative, response_code code = response_code::no_error);

  void code(response_code now) { code_ = now; }
  // Call in this order: answers, authority, additional records.
  void answer(std::string_view owner, const record& of, std::uint32_t ttl_s);
  void authority(std::string_view owner, const record& of, std::uint32_t ttl_s);
  void additional(std::string_view owner, const record& of, std::uint32_t ttl_s);
  std::size_t answers() const noexcept { return counts_[0]; }

  // Over `limit_bytes`: only the question, marked as truncated; the client retries by TCP.
  std::string take(std::size_t limit_bytes) &&;

 private:
  void add(std::string_view owner, const record& of, std::uint32_t ttl_s, int section);

  const question& asked_;
  const bool authoritative_;
  response_code code_;
  std::uint16_t counts_[3] = {0, 0, 0};
  std::string records_;
};

struct owned_record {
  std::string owner;
  record value;
  std::uint32_t ttl_s = 0;
};
struct resolved {
  response_code code{};
  bool truncated = false;
  std::vector<owned_record> answers;  // addresses and aliases only
};
// Parses a resolver's answer to `asked` with this id; the error says why it is invalid.
tl::expected<resolved, std::string> read_answer(std::string_view bytes, const question& asked,
                                                std::uint16_t id);

// Forwards a resolver's answer with the client's id; if larger than `limit_bytes` it is marked as
// truncated and cut.
std::string forward_answer(std::string bytes, const question& asked, std::size_t limit_bytes);

// -- record data ----------------------------------------------------------------------------------

// A or AAAA; `address` must be valid.
record address_record(const std::string& address);
// CNAME, PTR, NS.
record name_record(record_type type, std::string_view name);
record service_record(std::uint16_t priority, std::uint16_t weight, std::uint16_t port,
                      std::string_view target);
record text_record(std::string_view text);
record authority_record(std::string_view server, std::string_view mailbox, std::uint32_t serial,
                        std::uint32_t negative_ttl_s);
// The target name of a CNAME or SRV, in wire format.
std::string_view target_of(const record& of);

}  // namespace troupe::actors::dns
