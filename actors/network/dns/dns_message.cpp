#include "actors/network/dns/dns_message.hpp"

#include <algorithm>

#include "actors/network/defaults.hpp"
#include "actors/network/dns/dns_name.hpp"

namespace troupe::actors::dns {
namespace {

constexpr std::size_t head_bytes = 12;
constexpr std::uint16_t internet = 1;
constexpr std::uint16_t is_response = 0x8000, is_authoritative = 0x0400, is_truncated = 0x0200,
                        recursion_desired = 0x0100, recursion_available = 0x0080;
constexpr std::uint16_t opcode_mask = 0x7800;
// Maximum number of other records in a query: OPT, a signature.
constexpr int most_extra = 4;
// Maximum number of compression pointers in one name.
constexpr int most_pointers = 32;

void put16(std::string& to, std::uint16_t value) {
  to += static_cast<char>(value >> 8);
  to += static_cast<char>(value);
}

void put32(std::string& to, std::uint32_t value) {
  put16(to, static_cast<std::uint16_t>(value >> 16));
  put16(to, static_cast<std::uint16_t>(value));
}

void put_name(std::string& to, std::string_view name) {
  to += name;
  to += '\0';
}

// Reads within the bytes; after a failure all results are empty.
class reader {
 public:
  explicit reader(std::string_view bytes) : bytes_{bytes} {}

  bool failed() const noexcept { return failed_; }
  std::size_t at() const noexcept { return at_; }

  std::string_view take(std::size_t size) {
    if (failed_ || bytes_.size() - at_ < size) {
      failed_ = true;
      return {};
    }
    at_ += size;
    return bytes_.substr(at_ - size, size);
  }
  std::uint16_t take16() {
    const auto part = take(2);
    if (failed_) return 0;
    return static_cast<std::uint16_t>(static_cast<unsigned char>(part[0]) << 8 |
                                      static_cast<unsigned char>(part[1]));
  }
  std::uint32_t take32() {
    const std::uint32_t high = take16();
    return high << 16 | take16();
  }
  // Follows compression pointers only if `pointers`. Returns lower case.
  std::string take_name(bool pointers) {
    std::string name;
    std::size_t at = at_;
    bool jumped = false;
    for (int jumps = 0; !failed_;) {
      const std::size_t length = at < bytes_.size() ? static_cast<unsigned char>(bytes_[at]) : 0xff;
      if (length == 0) {
        if (!jumped) at_ = at + 1;
        return lower(std::move(name));
      }
      if (length <= most_label_bytes && at + 1 + length < bytes_.size() &&
          name.size() + length + 2 <= most_name_bytes) {
        name += bytes_.substr(at, 1 + length);
        at += 1 + length;
      } else if (pointers && length >= 0xc0 && at + 1 < bytes_.size() && ++jumps <= most_pointers) {
        if (!jumped) at_ = at + 2;
        jumped = true;
        at = (length & 0x3f) << 8 | static_cast<unsigned char>(bytes_[at + 1]);
      } else {
        failed_ = true;
      }
    }
    return {};
  }

 private:
  std::string_view bytes_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

std::string write_head(std::uint16_t id, std::uint16_t flags, std::uint16_t questions) {
  std::string out;
  put16(out, id);
  put16(out, flags);
  put16(out, questions);
  out.append(6, '\0');
  return out;
}

// For a message whose question cannot be repeated in the answer.
refusal refuse(std::uint16_t id, std::uint16_t flags, response_code code) {
  const auto kept = static_cast<std::uint16_t>(flags & (opcode_mask | recursion_desired));
  return write_head(
      id, static_cast<std::uint16_t>(kept | is_response | static_cast<std::uint16_t>(code)), 0);
}

void put_opt(std::string& to, std::size_t udp_bytes, std::uint8_t extended_code, bool dnssec) {
  to += '\0';
  put16(to, static_cast<std::uint16_t>(record_type::opt));
  put16(to, static_cast<std::uint16_t>(udp_bytes));
  to += static_cast<char>(extended_code);
  to += '\0';
  put16(to, dnssec ? 0x8000 : 0);
  put16(to, 0);
}

// Reads the records after the question; returns the EDNS version.
std::uint8_t read_extra(reader& from, int count, question& into) {
  std::uint8_t version = 0;
  for (int i = 0; i < count && !from.failed(); ++i) {
    const auto owner = from.take_name(true);
    const auto type = from.take16();
    const auto class_code = from.take16();
    const auto ttl = from.take32();
    from.take(from.take16());
    if (from.failed() || type != static_cast<std::uint16_t>(record_type::opt) || !owner.empty())
      continue;
    into.edns = true;
    into.udp_bytes = class_code;
    into.wants_dnssec = (ttl & 0x8000) != 0;
    version = static_cast<std::uint8_t>(ttl >> 16);
  }
  return version;
}

}  // namespace

std::size_t question::udp_limit() const {
  if (!edns) return network_defaults::dns_least_udp_bytes;
  return std::clamp<std::size_t>(udp_bytes, network_defaults::dns_least_udp_bytes,
                                 network_defaults::dns_most_udp_bytes);
}

tl::expected<question, refusal> read_question(std::string_view bytes) {
  reader from{bytes};
  question read;
  read.id = from.take16();
  const auto flags = from.take16();
  const auto questions = from.take16(), answers = from.take16(), authorities = from.take16(),
             extra = from.take16();
  if (from.failed() || (flags & is_response) != 0) return tl::make_unexpected(refusal{});
  if ((flags & opcode_mask) != 0)
    return tl::make_unexpected(refuse(read.id, flags, response_code::not_implemented));
  const auto malformed = [&] {
    return tl::make_unexpected(refuse(read.id, flags, response_code::format_error));
  };
  if (questions != 1 || answers != 0 || authorities != 0 || extra > most_extra) return malformed();
  read.recursion_desired = (flags & recursion_desired) != 0;
  read.name = from.take_name(false);
  read.type = static_cast<record_type>(from.take16());
  read.class_code = from.take16();
  if (from.failed()) return malformed();
  read.text = bytes.substr(head_bytes, from.at() - head_bytes);
  const auto version = read_extra(from, extra, read);
  if (from.failed()) return malformed();
  if (version != 0)
    return tl::make_unexpected(
        reply{read, false, response_code::bad_version}.take(read.udp_limit()));
  if (read.class_code != internet)
    return tl::make_unexpected(reply{read, false, response_code::refused}.take(read.udp_limit()));
  return read;
}

std::string write_question(const question& asked, std::uint16_t id) {
  auto out = write_head(id, recursion_desired, 1) + asked.text;
  if (!asked.edns) return out;
  put_opt(out, network_defaults::dns_most_udp_bytes, 0, asked.wants_dnssec);
  out[head_bytes - 1] = 1;
  return out;
}

reply::reply(const question& asked, bool authoritative, response_code code)
    : asked_{asked}, authoritative_{authoritative}, code_{code} {}

void reply::answer(std::string_view owner, const record& of, std::uint32_t ttl_s) {
  add(owner, of, ttl_s, 0);
}

void reply::authority(std::string_view owner, const record& of, std::uint32_t ttl_s) {
  add(owner, of, ttl_s, 1);
}

void reply::additional(std::string_view owner, const record& of, std::uint32_t ttl_s) {
  add(owner, of, ttl_s, 2);
}

void reply::add(std::string_view owner, const record& of, std::uint32_t ttl_s, int section) {
  // Space for the header, the question, this record's header and OPT.
  constexpr std::size_t reserve = head_bytes + 2 * most_name_bytes + 32;
  if (records_.size() + of.data.size() + reserve > network_defaults::dns_most_tcp_bytes) return;
  if (owner == asked_.name) {
    put16(records_, 0xc000 | head_bytes);
  } else {
    put_name(records_, owner);
  }
  put16(records_, static_cast<std::uint16_t>(of.type));
  put16(records_, internet);
  put32(records_, ttl_s);
  put16(records_, static_cast<std::uint16_t>(of.data.size()));
  records_ += of.data;
  ++counts_[section];
}

std::string reply::take(std::size_t limit_bytes) && {
  constexpr std::size_t opt_bytes = 11;
  const auto opt = asked_.edns ? opt_bytes : 0;
  const bool cut = head_bytes + asked_.text.size() + records_.size() + opt > limit_bytes;
  std::uint16_t flags = is_response | recursion_available;
  flags |= static_cast<std::uint16_t>(code_) & 0xf;
  if (authoritative_) flags |= is_authoritative;
  if (asked_.recursion_desired) flags |= recursion_desired;
  if (cut) flags |= is_truncated;
  std::string out;
  put16(out, asked_.id);
  put16(out, flags);
  put16(out, 1);
  for (int section = 0; section < 3; ++section)
    put16(out, static_cast<std::uint16_t>((cut ? 0 : counts_[section]) +
                                          (section == 2 && asked_.edns ? 1 : 0)));
  out += asked_.text;
  if (!cut) out += records_;
  if (asked_.edns)
    put_opt(out, network_defaults::dns_most_udp_bytes, static_cast<std::uint8_t>(code_) >> 4,
            asked_.wants_dnssec);
  return out;
}

tl::expected<resolved, std::string> read_answer(std::string_view bytes, const question& asked,
                                                std::uint16_t id) {
  reader from{bytes};
  const auto its_id = from.take16(), flags = from.take16();
  const auto questions = from.take16(), answers = from.take16();
  from.take(4);
  if (from.failed() || its_id != id || (flags & is_response) == 0 || questions != 1)
    return tl::make_unexpected(std::string{"it is not an answer to the query"});
  const auto name = from.take_name(false);
  const auto type = from.take16(), class_code = from.take16();
  if (from.failed() || name != asked.name || type != static_cast<std::uint16_t>(asked.type) ||
      class_code != asked.class_code)
    return tl::make_unexpected(std::string{"it answers another question"});
  resolved out;
  out.code = static_cast<response_code>(flags & 0xf);
  out.truncated = (flags & is_truncated) != 0;
  for (int i = 0; i < answers; ++i) {
    owned_record each;
    each.owner = from.take_name(true);
    each.value.type = static_cast<record_type>(from.take16());
    from.take16();
    each.ttl_s = from.take32();
    const auto size = from.take16();
    const auto begin = from.at();
    const auto data = from.take(size);
    if (from.failed()) break;  // a truncated message may end anywhere
    if (each.value.type == record_type::cname) {
      reader alias{bytes.substr(0, begin + size)};
      alias.take(begin);
      put_name(each.value.data, alias.take_name(true));
      if (alias.failed()) break;
    } else if ((each.value.type == record_type::a && size == 4) ||
               (each.value.type == record_type::aaaa && size == 16)) {
      each.value.data = data;
    } else {
      continue;
    }
    out.answers.push_back(std::move(each));
  }
  return out;
}

std::string forward_answer(std::string bytes, const question& asked, std::size_t limit_bytes) {
  if (bytes.size() > limit_bytes) return reply{asked, false}.take(0);
  bytes[0] = static_cast<char>(asked.id >> 8);
  bytes[1] = static_cast<char>(asked.id);
  return bytes;
}

record address_record(const std::string& address) {
  auto bytes = address_bytes(address).value_or(std::string{});
  return {bytes.size() == 4 ? record_type::a : record_type::aaaa, std::move(bytes)};
}

record name_record(record_type type, std::string_view name) {
  record made{type, {}};
  put_name(made.data, name);
  return made;
}

record service_record(std::uint16_t priority, std::uint16_t weight, std::uint16_t port,
                      std::string_view target) {
  record made{record_type::srv, {}};
  for (const auto each : {priority, weight, port})
    put16(made.data, each);
  put_name(made.data, target);
  return made;
}

record text_record(std::string_view text) {
  text = text.substr(0, 255);
  record made{record_type::txt, std::string(1, static_cast<char>(text.size()))};
  made.data += text;
  return made;
}

record authority_record(std::string_view server, std::string_view mailbox, std::uint32_t serial,
                        std::uint32_t negative_ttl_s) {
  record made{record_type::soa, {}};
  put_name(made.data, server);
  put_name(made.data, mailbox);
  // Refresh, retry, expire as in CoreDNS; this zone has no secondary servers.
  for (const auto each : {serial, 7'200u, 1'800u, 86'400u, negative_ttl_s})
    put32(made.data, each);
  return made;
}

std::string_view target_of(const record& of) {
  std::string_view name = of.data;
  name.remove_prefix(of.type == record_type::srv ? 6 : 0);
  name.remove_suffix(1);
  return name;
}

}  // namespace troupe::actors::dns
