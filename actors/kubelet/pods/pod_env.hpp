// The environment, command and arguments of a container, from its spec and the objects that the
// spec references. Pure except for `read`.
#pragma once

#include <functional>
#include <string>
#include <tl/expected.hpp>
#include <vector>

#include "actors/kubelet/pods/service_variables.hpp"
#include "api/object/object.hpp"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_pod.pb.h"

namespace troupe::actors {

// Returns the newest state of an object by its key; null if there is none. Does not block.
using object_reader = std::function<api::object_ptr(const std::string& key)>;

// "NAME=value" in upstream's order: `services` first, then envFrom, then env; later ones win.
// $(NAME) is replaced by an earlier variable, $$ is a dollar sign. The error names the reference
// that was not found (CreateContainerConfigError).
tl::expected<std::vector<std::string>, std::string> container_environment(
    const api::core::v1::Pod& pod, const api::core::v1::Container& container,
    const object_reader& read, const variables& services = {});

// Returns command or args with each $(NAME) replaced.
std::vector<std::string> expand_words(const google::protobuf::RepeatedPtrField<std::string>& words,
                                      const std::vector<std::string>& environment);

// Replaces $(NAME) by the variable's value; for subPathExpr.
std::string expand_variables(const std::string& text, const std::vector<std::string>& environment);

// Writes the machine's capacity as limits into containers without limits, so that resource
// references give the machine's values (kubernetes: MergeContainerResourceLimits).
void limit_to_machine(api::core::v1::Pod& pod, const api::core::v1::NodeStatus& machine);

// The value of a resource reference ("limits.cpu", "requests.memory") for a container or init
// container of the pod, in units of the divisor, rounded up. Returns an error if there is no such
// container.
tl::expected<std::string, std::string> resource_value(
    const api::core::v1::Pod& pod, const std::string& container,
    const api::core::v1::ResourceFieldSelector& wanted);

// The value of a field reference (metadata.labels['app'], status.podIP …).
tl::expected<std::string, std::string> field_value(const api::core::v1::Pod& pod,
                                                   const std::string& path);

// Truncates a node or pod name to the length of a label value or one part of a host name.
std::string as_label(std::string name);

}  // namespace troupe::actors
