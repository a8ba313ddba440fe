// The records of one service: specification 1.1.0 of DNS-based service discovery (kubernetes/dns,
// docs/specification.md). Pure.
#pragma once

#include <string>
#include <vector>

#include "actors/network/dns/dns_table.hpp"
#include "api/object/object.hpp"

namespace troupe::actors::dns {

// `slices`: the EndpointSlices of the service; they count where it has no address of its own.
// `domain`: of the cluster, in the form of the wire.
std::vector<named_record> records_of(const api::object& service,
                                     const std::vector<api::object_ptr>& slices,
                                     const std::string& domain);

// What the domain has besides services: the version of the specification and the server's name,
// with the address where it listens.
std::vector<named_record> domain_records(const std::string& domain, const std::string& address);

// "ns.dns" below the domain, and the SOA of all its negative answers.
std::string server_name(const std::string& domain);
record domain_authority(const std::string& domain);

}  // namespace troupe::actors::dns
