// The v1beta1 API of 2014, as served by Kubernetes v0.2 to v0.6, on top of the hub: its shapes
// (pod.proto, objects.proto), their conversion to the hub's kinds and back, and the fields kept
// because the other form cannot express them.
//
// All functions are pure and total. Where the versions of 2014 differ both forms are read and both
// are written (restart policies, names of variables, paths of mounts, lists of minions).
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "api/error.hpp"
#include "api/fwd.hpp"
#include "api/kind.hpp"

namespace troupe::api::v1beta1 {

// The annotation of a hub's object with its v1beta1 form as JSON, if the hub's form alone cannot
// restore it.
inline constexpr std::string_view kept_annotation = "troupe.dev/v1beta1";

class TypeMeta;

// The kind of that name in v1beta1; null if there is none.
const kind_info* kind_named(std::string_view kind);

// The metadata of a v1beta1 object; `external` must be of a kind.
const TypeMeta& type_meta(const body& external);
TypeMeta& type_meta(body& external);

// The hub's name for an id. A valid name is used as it is; any other id (2014 allowed capitals)
// becomes its lower case and a hash, always the same.
std::string name_of(std::string_view id);
// The same for a label value, which could be any text in 2014 ("redisslave,redis-master").
std::string label_value_of(std::string_view value);

// The hub's object for a v1beta1 object. `stored` is the object that the client has read and
// changed: fields that v1beta1 cannot express are taken from it.
std::unique_ptr<body> to_hub(const body& external, const body* stored = nullptr);

// Clients of 2014 by their features: namespaces, privileged and pull policies came with v0.4, uids
// and node selectors later.
enum class client_version : std::uint8_t { v0_2, v0_4, v0_6 };

// Completes an update by a client of that version from `shown`, its view of the object: adds
// members that the client does not know, that only the server sets, or that may be omitted. Both
// are of the same kind.
void fill_from(body& content, const body& shown, client_version by);

// The v1beta1 form of a hub's object, in the shape of `external`.
std::unique_ptr<body> from_hub(const body& content, const kind_info& external);

}  // namespace troupe::api::v1beta1
