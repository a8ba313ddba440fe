// The environment, command and arguments of a container, from its spec and what the spec refers to.
// Pure but for `read`.
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

// The newest state of an object, by its key; null when there is none. Does not block.
using object_reader = std::function<api::object_ptr(const std::string& key)>;

// "NAME=value" in the order of upstream: `services` first, envFrom, then env, later ones win;
// $(NAME) refers to what stands before, $$ is a dollar sign. An error names the reference that
// leads nowhere (CreateContainerConfigError).
tl::expected<std::vector<std::string>, std::string> container_environment(
    const api::core::v1::Pod& pod, const api::core::v1::Container& container,
    const object_reader& read, const variables& services = {});

// command or args with their $(NAME) replaced.
std::vector<std::string> expand_words(const google::protobuf::RepeatedPtrField<std::string>& words,
                                      const std::vector<std::string>& environment);

// $(NAME) replaced by what the environment says; for subPathExpr.
std::string expand_variables(const std::string& text, const std::vector<std::string>& environment);

// A container without a limit may have all that the machine has, and is told so: writes that into
// the pod (kubernetes: MergeContainerResourceLimits).
void limit_to_machine(api::core::v1::Pod& pod, const api::core::v1::NodeStatus& machine);

// What a container of the pod, an init container too, may have of a resource ("limits.cpu",
// "requests.memory"), in units of the divisor, rounded up. An error where there is no such
// container.
tl::expected<std::string, std::string> resource_value(
    const api::core::v1::Pod& pod, const std::string& container,
    const api::core::v1::ResourceFieldSelector& wanted);

// The value of a field reference (metadata.labels['app'], status.podIP …).
tl::expected<std::string, std::string> field_value(const api::core::v1::Pod& pod,
                                                   const std::string& path);

// The name of a node or pod as far as a label, or one part of a host's name, can hold it.
std::string as_label(std::string name);

}  // namespace troupe::actors
