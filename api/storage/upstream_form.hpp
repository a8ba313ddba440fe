// Converts values between kube-apiserver's form in etcd and this program's (`to_storage`).
//
// Built-in kinds: protobuf with all zeros, in the storage version of the release;
// CustomResourceDefinitions, APIServices and custom kinds: JSON followed by a line feed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/error.hpp"
#include "api/kind.hpp"

namespace troupe::api {

// For release 1.`minor`. `stored` is output of to_storage for the kind; with a null (unknown) kind
// it is returned unchanged.
std::string to_upstream(const kind_info* kind, std::string_view stored, int minor);

// The error describes the part that cannot be read.
expected<std::string> from_upstream(const kind_info* kind, std::string_view value);

// The prefix of a value encrypted by kube-apiserver (`k8s:enc:aescbc:v1:key1:` and bytes).
struct encryption {
  std::string_view provider, key;
};
std::optional<encryption> find_encryption(std::string_view value);

}  // namespace troupe::api
