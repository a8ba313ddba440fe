// Values as kube-apiserver stores them in etcd, and as this program does (`to_storage`).
//
// Objects of built-in kinds: protobuf with all zeros, in the version that the release stores;
// CustomResourceDefinitions, APIServices and objects of custom kinds: JSON on a line of its own.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "api/error.hpp"
#include "api/kind.hpp"

namespace troupe::api {

// `stored` is what to_storage made of an object of the kind; null for one that is not known: then
// it stays as it is. For release 1.`minor`.
std::string to_upstream(const kind_info* kind, std::string_view stored, int minor);

// The error says what about the value cannot be read.
expected<std::string> from_upstream(const kind_info* kind, std::string_view value);

// Of a value that kube-apiserver has encrypted (`k8s:enc:aescbc:v1:key1:` and bytes).
struct encryption {
  std::string_view provider, key;
};
std::optional<encryption> find_encryption(std::string_view value);

}  // namespace troupe::api
