// Messages of DNS: reads a question, writes an answer, and takes records out of another server's
// answer. Pure. Bytes come from anybody: whatever they are, reading ends, within the bytes.
// RFC 1035, RFC 6891 (EDNS).
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
  std::string data;  // in the form of the wire, names not compressed

  friend bool operator==(const record&, const record&) = default;
};
using record_list = std::vector<record>;

// The only question of a message.
struct question {
  std::uint16_t id = 0;
  bool recursion_desired = false;
  bool edns = false;
  bool wants_dnssec = false;
  std::uint16_t udp_bytes = 0;  // what the asker takes, by EDNS
  record_type type{};
  std::uint16_t class_code = 0;
  std::string name;  // in the form of the wire, in lower case
  std::string text;  // the question as it came: its letters are given back as they were

  // The largest answer by UDP.
  std::size_t udp_limit() const;
};

// What is answered in place of a question; empty where silence is right: an answer to an answer, or
// to what is no message, would let others be flooded.
using refusal = std::string;
tl::expected<question, refusal> read_question(std::string_view bytes);

// The message for a resolver, with that id.
std::string write_question(const question& asked, std::uint16_t id);

// An answer under way. What does not fit into a message is left out.
class reply {
 public:
  reply(const question& asked, bool authoritative, response_code code = response_code::no_error);

  void code(response_code now) { code_ = now; }
  // Answers come first, then authority, then additional records.
  void answer(std::string_view owner, const record& of, std::uint32_t ttl_s);
  void authority(std::string_view owner, const record& of, std::uint32_t ttl_s);
  void additional(std::string_view owner, const record& of, std::uint32_t ttl_s);
  std::size_t answers() const noexcept { return counts_[0]; }

  // Over `limit_bytes` the question alone, marked as truncated: the asker comes again by TCP.
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
// The answer of a resolver to `asked` with that id; the error says why it is none.
tl::expected<resolved, std::string> read_answer(std::string_view bytes, const question& asked,
                                                std::uint16_t id);

// Gives an answer of a resolver on, with the asker's id; over `limit_bytes` it is marked as
// truncated and cut.
std::string pass_on(std::string bytes, const question& asked, std::size_t limit_bytes);

// -- data of records ------------------------------------------------------------------------------

// A or AAAA; the address is one.
record address_record(const std::string& address);
// CNAME, PTR, NS.
record name_record(record_type type, std::string_view name);
record service_record(std::uint16_t priority, std::uint16_t weight, std::uint16_t port,
                      std::string_view target);
record text_record(std::string_view text);
record authority_record(std::string_view server, std::string_view mailbox, std::uint32_t serial,
                        std::uint32_t negative_ttl_s);
// The name that a CNAME or SRV leads to, in the form of the wire.
std::string_view target_of(const record& of);

}  // namespace troupe::actors::dns
