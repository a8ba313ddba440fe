// The v1beta1 API of 2014, as Kubernetes v0.2 to v0.6 served it, beside the hub: its shapes
// (pod.proto, objects.proto), their conversion to the hub's kinds and back, and what is kept where
// one form cannot say what the other can.
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

// The annotation of a hub's object that holds its v1beta1 form, as JSON, where the hub's form alone
// would not give it back.
inline constexpr std::string_view kept_annotation = "troupe.dev/v1beta1";

class TypeMeta;

// The kind of that name in v1beta1; null where there is none.
const kind_info* kind_named(std::string_view kind);

// What every object of v1beta1 has; it is an error of the program if `external` is of no kind.
const TypeMeta& type_meta(const body& external);
TypeMeta& type_meta(body& external);

// The hub's name for an id. An id that is a name is its own; any other (2014 allowed capitals)
// becomes a name by its lower case and a hash, always the same.
std::string name_of(std::string_view id);
// The same of a label's value, which could be any text in 2014 ("redisslave,redis-master").
std::string label_value_of(std::string_view value);

// The hub's object for a v1beta1 object of a kind that has one. With `stored`, which the client has
// seen and changed: what v1beta1 cannot say comes from there.
std::unique_ptr<body> to_hub(const body& external, const body* stored = nullptr);

// Clients of 2014, by what they know: namespaces, privileged and pull policies came with v0.4, uids
// and node selectors after it.
enum class client_version : std::uint8_t { v0_2, v0_4, v0_6 };

// Completes what a client of that version sends to update an object from what it would be shown of
// it: members that it does not know, that the server alone decides, or that need not be repeated.
// Both are of the same kind.
void fill_from(body& content, const body& shown, client_version by);

// The v1beta1 form of a hub's object, in the shape of `external`.
std::unique_ptr<body> from_hub(const body& content, const kind_info& external);

}  // namespace troupe::api::v1beta1
