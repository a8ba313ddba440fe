// Answers a query from the table alone, or says which name to forward. Pure.
//
// An existing cluster name without records of the requested type gets an empty answer without an
// error, never NXDOMAIN: some clients (musl) then give up on all types.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "actors/network/dns/dns_message.hpp"
#include "actors/network/dns/dns_table.hpp"

namespace troupe::actors::dns {

struct answer {
  // The message, unless the query must be forwarded.
  std::string bytes;
  // The name to ask the node's resolvers for; empty: none.
  std::string elsewhere = {};
  // The aliases that lead to `elsewhere`, if the query was for another name.
  std::vector<named_record> aliases = {};
  bool forward = false;
};

// `domain`: the cluster's, in wire format. `random` shuffles the addresses of a name.
answer answer_from(const dns_table& table, const std::string& domain, const question& asked,
                   std::minstd_rand& random, std::size_t limit_bytes);

// The answer to `asked` after the resolver has answered for the last alias.
std::string complete(const question& asked, const std::vector<named_record>& aliases,
                     const resolved& rest, std::size_t limit_bytes);

std::string failure(const question& asked, response_code code);

}  // namespace troupe::actors::dns
