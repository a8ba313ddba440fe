// Services and EndpointSlices of the namespace default, as objects.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "api/object/object.hpp"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"

namespace troupe::test {

using port_list = std::vector<std::pair<std::string, int>>;

struct endpoint_example {
  std::string address;
  std::string hostname = {};
  std::string node = {};
  std::string zone = {};
  bool ready = true;
  bool serving = true;
  bool terminating = false;
};

api::core::v1::Service service_body(const std::string& name, const std::string& address,
                                    const port_list& ports);
api::discovery::v1::EndpointSlice slice_body(const std::string& service, const port_list& ports,
                                             const std::vector<endpoint_example>& endpoints);

api::object_ptr object_of(const api::core::v1::Service& body);
api::object_ptr object_of(const api::discovery::v1::EndpointSlice& body);

inline api::object_ptr service_object(const std::string& name, const std::string& address,
                                      const port_list& ports) {
  return object_of(service_body(name, address, ports));
}
inline api::object_ptr slice_object(const std::string& service, const port_list& ports,
                                    const std::vector<endpoint_example>& endpoints) {
  return object_of(slice_body(service, ports, endpoints));
}
api::object_ptr external_service(const std::string& name, const std::string& target);

}  // namespace troupe::test
