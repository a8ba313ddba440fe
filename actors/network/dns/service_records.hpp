// The records of one service: specification 1.1.0 of DNS-based service discovery (kubernetes/dns,
// docs/specification.md). Pure.
#pragma once

#include <string>
#include <vector>

#include "actors/network/dns/dns_table.hpp"
#include "api/object/object.hpp"

namespace troupe::actors::dns {

// `slices`: the service's EndpointSlices, used if it is headless. `domain`: the cluster's, in wire
// format.
std::vector<named_record> records_of(const api::object& service,
                                     const std::vector<api::object_ptr>& slices,
                                     const std::string& domain);

// The records of the domain itself: the version of the specification, and the name and address of
// the server.
std::vector<named_record> domain_records(const std::string& domain, const std::string& address);

// "ns.dns" below the domain, and the SOA record of its negative answers.
std::string server_name(const std::string& domain);
record domain_authority(const std::string& domain);

}  // namespace troupe::actors::dns
