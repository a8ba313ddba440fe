#include "actors/network/dns/dns_answer.hpp"

#include <algorithm>

#include "actors/network/defaults.hpp"
#include "actors/network/dns/dns_name.hpp"
#include "actors/network/dns/service_records.hpp"

namespace troupe::actors::dns {
namespace {

using network_defaults::dns_ttl_s;

bool is_asked(record_type asked, record_type has) {
  return asked == has || asked == record_type::any;
}

// CoreDNS: "a-b-c-d.NS.pod.DOMAIN" resolves to a.b.c.d, even if there is no such pod. Returns null
// if the name has another form, empty if it is above such names.
const record_list* pod_records(std::string_view name, const std::string& domain,
                               record_list& into) {
  static const auto pod = *to_wire("pod");
  into.clear();
  const auto zone = pod + domain;
  if (!is_below(name, zone)) return nullptr;
  if (name == zone || parent_of(name) == zone) return &into;
  if (parent_of(parent_of(name)) != zone) return nullptr;
  const std::string written{first_label(name)};
  for (const char separator : {'.', ':'}) {
    auto address = written;
    std::replace(address.begin(), address.end(), '-', separator);
    if (!address_bytes(address)) continue;
    into.push_back(address_record(address));
    return &into;
  }
  return nullptr;
}

struct lookup {
  const dns_table& table;
  const std::string& domain;
  record_list computed = {};

  const record_list* find(std::string_view name) {
    if (const auto* found = table.find(name)) return found;
    return pod_records(name, domain, computed);
  }
};

void add_answers(reply& to, std::string_view owner, const record_list& records, record_type type,
                 std::minstd_rand& random) {
  std::vector<const record*> chosen;
  for (const auto& each : records)
    if (is_asked(type, each.type)) chosen.push_back(&each);
  if (chosen.size() > 1) std::shuffle(chosen.begin(), chosen.end(), random);
  for (const auto* each : chosen)
    to.answer(owner, *each, dns_ttl_s);
}

// Adds the addresses of the hosts in SRV records.
void add_targets(reply& to, const dns_table& table, const record_list& records, record_type type) {
  if (!is_asked(type, record_type::srv)) return;
  std::vector<std::string_view> done;
  for (const auto& each : records) {
    if (each.type != record_type::srv) continue;
    const auto target = target_of(each);
    if (std::find(done.begin(), done.end(), target) != done.end()) continue;
    // A service may have thousands of endpoints: stop at the number that fits into any message.
    if (done.size() == network_defaults::most_endpoints) return;
    done.push_back(target);
    const auto* found = table.find(target);
    if (found == nullptr) continue;
    for (const auto& address : *found)
      if (address.type == record_type::a || address.type == record_type::aaaa)
        to.additional(target, address, dns_ttl_s);
  }
}

const record* alias_in(const record_list& records) {
  const auto found = std::find_if(records.begin(), records.end(), [](const record& each) {
    return each.type == record_type::cname;
  });
  return found == records.end() ? nullptr : &*found;
}

}  // namespace

answer answer_from(const dns_table& table, const std::string& domain, const question& asked,
                   std::minstd_rand& random, std::size_t limit_bytes) {
  lookup names{table, domain};
  const auto* found = names.find(asked.name);
  if (found == nullptr && !is_below(asked.name, domain))
    return {.bytes = {}, .elsewhere = asked.name, .forward = true};
  // Names above reverse names of addresses are not authoritative here.
  if (found != nullptr && found->empty() && !is_below(asked.name, domain))
    return {.bytes = {}, .elsewhere = asked.name, .forward = true};

  reply made{asked, true};
  std::vector<named_record> aliases;
  std::string name = asked.name;
  while (found != nullptr && !is_asked(asked.type, record_type::cname)) {
    const auto* alias = alias_in(*found);
    if (alias == nullptr) break;
    if (aliases.size() == network_defaults::dns_aliases)
      return {failure(asked, response_code::server_failure)};
    aliases.emplace_back(name, *alias);
    made.answer(name, *alias, dns_ttl_s);
    name = target_of(*alias);
    found = names.find(name);
    if (found == nullptr && !is_below(name, domain))
      return {.bytes = {}, .elsewhere = name, .aliases = std::move(aliases), .forward = true};
  }
  const auto before = made.answers();
  if (found != nullptr) {
    add_answers(made, name, *found, asked.type, random);
    add_targets(made, table, *found, asked.type);
  } else {
    made.code(response_code::no_such_name);
  }
  if (made.answers() == before) made.authority(domain, domain_authority(domain), dns_ttl_s);
  return {std::move(made).take(limit_bytes)};
}

std::string complete(const question& asked, const std::vector<named_record>& aliases,
                     const resolved& rest, std::size_t limit_bytes) {
  const bool known =
      rest.code == response_code::no_error || rest.code == response_code::no_such_name;
  if (!known) return failure(asked, response_code::server_failure);
  reply made{asked, false, rest.code};
  for (const auto& [owner, alias] : aliases)
    made.answer(owner, alias, dns_ttl_s);
  // The addresses keep the resolver's TTL, independent of the alias.
  for (const auto& each : rest.answers)
    made.answer(each.owner, each.value, each.ttl_s);
  return std::move(made).take(rest.truncated ? 0 : limit_bytes);
}

std::string failure(const question& asked, response_code code) {
  return reply{asked, false, code}.take(network_defaults::dns_least_udp_bytes);
}

}  // namespace troupe::actors::dns
