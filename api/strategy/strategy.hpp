// The server's changes to an object between decoding and storing: identity, generation, protected
// fields, deletion. Pure: time, randomness and uids are parameters.
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
class Preconditions;
}  // namespace meta::v1

using random_bits = std::function<std::uint64_t()>;

// Truncates `base` so that five random characters of "bcdfghjklmnpqrstvwxz2456789" fit within 63.
std::string generate_name(std::string_view base, const random_bits& random);

// Sets the namespace of the request if the object has none; 400 if it has another. Removes it from
// cluster-scoped kinds.
expected<void> settle_namespace(const kind_info& kind, body& content, std::string_view ns);

struct creation {
  std::string_view uid;
  std::int64_t now_seconds = 0;  // since the epoch
  const random_bits& random;
};

// Sets the identity of a new object: uid, creationTimestamp, generation, and a name made from
// generateName. Removes fields that clients must not set (status, deletion, resourceVersion) and
// sets the initial state of pods, namespaces and services.
void prepare_create(const kind_info& kind, body& content, const creation& by);

// Preconditions of an update on the stored object. 0 and "": none.
struct precondition {
  std::uint64_t revision = 0;
  std::string uid;
};

// From metadata.resourceVersion and metadata.uid of a PUT or a patched object. 400 if the version
// is not a number.
expected<precondition> precondition_of(const body& content);
// 409 if the stored object has another uid or revision.
expected<void> check_precondition(const kind_info& kind, const precondition& demanded,
                                  const body& stored, std::uint64_t stored_revision);

// For a write of the object itself: keeps identity and status of `was`, and raises the generation
// if the spec changed.
void prepare_update(const kind_info& kind, body& now, const body& was);
// For a write of PLURAL/status: keeps all except status, labels, annotations and finalizers.
void prepare_status_update(const kind_info& kind, body& now, const body& was);
// For a write of pods/ephemeralcontainers: takes only these from `now`.
void prepare_ephemeral_containers(body& now, const body& was);
// For a write of pods/resize: takes only the resources of containers from `now`.
void prepare_pod_resize(body& now, const body& was);
// For a write of namespaces/finalize: takes only spec.finalizers from `now`.
void prepare_finalize(body& now, const body& was);

// Whether a write with the result `now` completes a deletion that waited only for finalizers: the
// object must be removed instead of stored.
bool ends_deletion(const kind_info& kind, const body& now, const body& was);

enum class deletion_step { remove, update, unchanged };

struct deletion_plan {
  deletion_step step = deletion_step::unchanged;
  std::unique_ptr<body> updated;  // for `update`: deletionTimestamp, finalizers ... set
};

// 409 if the object is not the one, or not in the version, that a deletion demands.
//
// kubernetes: apiserver/pkg/registry/rest/delete.go, BeforeDelete.
expected<void> check_preconditions(const kind_info& kind, const body& stored,
                                   std::uint64_t stored_revision,
                                   const meta::v1::Preconditions& demanded);

// Plans a DELETE: pods get a grace period, finalizers delay the removal, the propagation policy
// becomes a finalizer, namespaces start to terminate. 409 if a precondition of the options fails,
// 422 for invalid options.
expected<deletion_plan> plan_delete(const kind_info& kind, const body& stored,
                                    std::uint64_t stored_revision,
                                    const meta::v1::DeleteOptions& options,
                                    std::int64_t now_seconds);

}  // namespace troupe::api
