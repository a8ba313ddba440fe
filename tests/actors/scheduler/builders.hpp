// Nodes and pods for the tests of the scheduler, from YAML.
#pragma once

#include <string>

#include "actors/scheduler/framework/pod_info.hpp"
#include "api/codec/codec.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::scheduler {

template <class T>
api::object_ptr parse(const std::string& yaml, std::uint64_t revision = 1) {
  auto decoded = api::decode(yaml, api::media::yaml, &api::kind_of<T>());
  if (!decoded) throw std::invalid_argument{decoded.error().message};
  return std::make_shared<api::object>(*decoded->kind, std::move(decoded->content), revision);
}

inline api::object_ptr make_node(const std::string& name, const std::string& labels = "{}",
                                 const std::string& spec = "{}", const std::string& cpu = "4",
                                 const std::string& memory = "8Gi",
                                 const std::string& pods = "110") {
  return parse<api::core::v1::Node>("metadata: {name: " + name + ", labels: " + labels +
                                    "}\nspec: " + spec + "\nstatus: {allocatable: {cpu: \"" + cpu +
                                    "\", memory: " + memory + ", pods: \"" + pods + "\"}}\n");
}

inline pod_info_ptr make_pod(const std::string& name, const std::string& spec = "{}",
                             const std::string& labels = "{}", std::uint64_t revision = 1) {
  return read_pod_info(
      parse<api::core::v1::Pod>("metadata: {name: " + name + ", namespace: a, uid: " + name +
                                    "-uid, labels: " + labels + "}\nspec: " + spec + "\n",
                                revision));
}

// A pod of a ReplicaSet with that uid; `more` is appended to its metadata and begins with a comma.
inline pod_info_ptr make_replica(const std::string& name, const std::string& owner,
                                 const std::string& more = {}, std::uint64_t revision = 1) {
  return read_pod_info(parse<api::core::v1::Pod>(
      "metadata: {name: " + name + ", namespace: a, uid: " + name +
          "-uid, ownerReferences: [{apiVersion: apps/v1, kind: ReplicaSet, name: " + owner +
          ", uid: " + owner + ", controller: true}]" + more +
          "}\nspec: {containers: [{name: c, resources: {requests: {cpu: 500m, memory: 500Mi}}}]}\n",
      revision));
}

// A pod with these requests.
inline pod_info_ptr make_request(const std::string& name, const std::string& cpu,
                                 const std::string& memory, int priority = 0) {
  return make_pod(name, "{priority: " + std::to_string(priority) +
                            ", containers: [{name: c, resources: {requests: {cpu: \"" + cpu +
                            "\", memory: " + memory + "}}}]}");
}

}  // namespace troupe::actors::scheduler
