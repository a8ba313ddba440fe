// What the server does to an object between decoding and storing: identity, generation, what a
// write may not touch, what a deletion means. Pure: time, randomness and uids are handed in.
//
// The order for a write: decode, set_defaults, prepare_*, validate_*, store.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/error.hpp"
#include "api/fwd.hpp"
#include "api/kind.hpp"

namespace troupe::api {

namespace meta::v1 {
class DeleteOptions;
}

using random_bits = std::function<std::uint64_t()>;

// `base` cut so that five random characters of "bcdfghjklmnpqrstvwxz2456789" fit within 63.
std::string generate_name(std::string_view base, const random_bits& random);

// The namespace of the request, where the object names none; 400 where it names another. Kinds of
// the whole cluster lose theirs.
expected<void> settle_namespace(const kind_info& kind, body& content, std::string_view ns);

struct creation {
  std::string_view uid;
  std::int64_t now_seconds = 0;  // since the epoch
  const random_bits& random;
};

// Gives a new object its identity: uid, creationTimestamp, generation, a name where it only had
// generateName. Removes fields that no client may set (status, deletion, resourceVersion) and gives
// pods, namespaces and services the state that they begin with.
void prepare_create(const kind_info& kind, body& content, const creation& by);

// Preconditions of an update or a deletion on the stored object. 0 and "": none.
struct precondition {
  std::uint64_t revision = 0;
  std::string uid;
};

// From metadata.resourceVersion and metadata.uid of a PUT or a patched object. 400 for a version
// that is no number.
expected<precondition> precondition_of(const body& content);
// 409 where the stored object is another one, or at another revision.
expected<void> check_precondition(const kind_info& kind, const precondition& demanded,
                                  const body& stored, std::uint64_t stored_revision);

// Makes `now` the successor of `was`: identity and status are kept, generation counts a change of
// the spec. A write of the object itself.
void prepare_update(const kind_info& kind, body& now, const body& was);
// A write of PLURAL/status: all but status, labels, annotations and finalizers is kept.
void prepare_status_update(const kind_info& kind, body& now, const body& was);
// A write of pods/ephemeralcontainers: only these are taken from `now`.
void prepare_ephemeral_containers(body& now, const body& was);
// A write of pods/resize: only the resources of containers are taken from `now`.
void prepare_pod_resize(body& now, const body& was);
// A write of namespaces/finalize: only spec.finalizers is taken from `now`.
void prepare_finalize(body& now, const body& was);

// Whether a write that leaves `now` ends a deletion that only waited for finalizers: the object is
// to be removed instead of stored.
bool ends_deletion(const kind_info& kind, const body& now, const body& was);

enum class deletion_step { remove, update, unchanged };

struct deletion_plan {
  deletion_step step = deletion_step::unchanged;
  std::unique_ptr<body> updated;  // for `update`: deletionTimestamp, finalizers ... set
};

// What a DELETE does: pods get their grace, finalizers hold back, the propagation policy becomes a
// finalizer, namespaces begin to end. 409 where a precondition of the options fails, 422 for
// options that make no sense.
expected<deletion_plan> plan_delete(const kind_info& kind, const body& stored,
                                    std::uint64_t stored_revision,
                                    const meta::v1::DeleteOptions& options,
                                    std::int64_t now_seconds);

}  // namespace troupe::api
