// Messages on the sockets of the cluster's DNS: questions from any client, answers of resolvers.
#include "actors/network/defaults.hpp"
#include "actors/network/dns/dns_answer.hpp"
#include "actors/network/dns/dns_name.hpp"
#include "actors/network/dns/service_records.hpp"
#include "tools/fuzz/entries.hpp"

namespace troupe::fuzz {
namespace {

namespace dns = actors::dns;
namespace defaults = actors::network_defaults;

// "web.default.svc.cluster.local" A, with EDNS; an alias; a pointer in a name.
std::vector<std::string> messages() {
  const std::string name("\3web\7default\3svc\7cluster\5local\0", 31);
  const std::string head("\x12\x34\1\0\0\1\0\0\0\0\0\1", 12);
  const std::string opt("\0\0\x29\4\xd0\0\0\0\0\0\0", 11);
  return {head + name + std::string("\0\1\0\1", 4) + opt,
          std::string("\x12\x34\1\0\0\1\0\0\0\0\0\0\3far", 16) +
              std::string("\7default\3svc\7cluster\5local\0\0\1\0\1", 32),
          std::string(
              "\x12\x34\x81\x80\0\1\0\1\0\0\0\0\1a\0\0\1\0\1\xc0\x0c\0\1\0\1\0\0\0\5\0\4abcd", 35)};
}

const dns::table_ptr& table() {
  static const auto made = [] {
    const auto domain = *dns::to_wire(defaults::cluster_domain);
    dns::table_maker maker;
    maker.replace("/", dns::domain_records(domain, defaults::dns_address));
    const auto name = *dns::to_wire("web.default.svc") + domain;
    maker.replace("web", {{name, dns::address_record("10.96.0.20")}});
    maker.replace("far",
                  {{*dns::to_wire("far.default.svc") + domain,
                    dns::name_record(dns::record_type::cname, *dns::to_wire("example.com"))}});
    return maker.table();
  }();
  return made;
}

void read_answer(std::string_view bytes) {
  dns::question asked;
  asked.id = 0x1234;
  asked.type = dns::record_type::a;
  asked.class_code = 1;
  asked.name = std::string("\1a", 2);
  asked.text = std::string("\1a\0\0\1\0\1", 7);
  const auto read = dns::read_answer(bytes, asked, asked.id);
  if (!read) return;
  const auto whole = dns::complete(asked, {}, *read, defaults::dns_most_tcp_bytes);
  require(whole.size() <= defaults::dns_most_tcp_bytes, "an answer fits into a message");
  const auto again = dns::read_answer(whole, asked, asked.id);
  require(again.has_value(), "an answer that is given on is one");
}

void read_message(std::string_view bytes) {
  read_answer(bytes);
  const auto asked = dns::read_question(bytes);
  if (!asked) {
    require(asked.error().empty() || asked.error().size() >= 12, "a refusal is a message");
    require(asked.error().size() <= bytes.size() + 11,
            "a refusal is no larger than what it is for");
    return;
  }
  require(asked->name.size() < dns::most_name_bytes, "a name has a bound");
  std::minstd_rand random{1};
  const auto domain = *dns::to_wire(defaults::cluster_domain);
  const auto known = dns::answer_from(*table(), domain, *asked, random, asked->udp_limit());
  require(known.forward || known.bytes.size() <= asked->udp_limit(), "an answer keeps the limit");
  const auto again = dns::read_question(dns::write_question(*asked, asked->id));
  require(again.has_value() && again->name == asked->name && again->type == asked->type,
          "a question that is given on is the same");
}

}  // namespace

void add_dns_messages(std::vector<entry>& to) {
  to.push_back({"dns", &messages, &read_message});
}

}  // namespace troupe::fuzz
