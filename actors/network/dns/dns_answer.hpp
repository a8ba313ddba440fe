// What a question is answered with, from the table alone, or what must be asked elsewhere. Pure.
//
// A name of the cluster that exists without the type that is asked for is answered with nothing and
// no error, never "no such name": some clients (musl) give up on all types then.
#pragma once

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "actors/network/dns/dns_message.hpp"
#include "actors/network/dns/dns_table.hpp"

namespace troupe::actors::dns {

struct answer {
  // The message, unless somebody else knows it.
  std::string bytes;
  // What a resolver of the node is to be asked; empty: nothing.
  std::string elsewhere = {};
  // The aliases that lead to `elsewhere`, where the question was for another name.
  std::vector<named_record> aliases = {};
  bool forward = false;
};

// `domain`: of the cluster, in the form of the wire. `random` orders the addresses of a name.
answer answer_from(const dns_table& table, const std::string& domain, const question& asked,
                   std::minstd_rand& random, std::size_t limit_bytes);

// The answer to `asked` once the resolver has answered for the end of the aliases.
std::string complete(const question& asked, const std::vector<named_record>& aliases,
                     const resolved& rest, std::size_t limit_bytes);

std::string failure(const question& asked, response_code code);

}  // namespace troupe::actors::dns
