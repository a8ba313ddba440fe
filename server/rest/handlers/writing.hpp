// POST, PUT and PATCH of stored objects.
#pragma once

#include <memory>
#include <string_view>

#include "api/error.hpp"
#include "server/rest/handlers/change.hpp"

namespace troupe::server {

void create_object(const call_ptr& call);
// PUT of an object, or of a part of it by a subresource: status, finalize, ephemeralcontainers,
// resize.
void update_object(const call_ptr& call);
void patch_object(const call_ptr& call);

// -- shared functions ----------------------------------------------------------------------------

// Special rules for the body of some requests.
struct body_rules {
  // Another version accepted in the body.
  std::string_view also_version = {};
  // The error if the name in the body differs from that in the URL; empty: the default.
  std::string_view other_name = {};
};

// Decodes the request's body as an object of the kind; problems found by fieldValidation become
// warnings of the call.
api::expected<std::unique_ptr<api::body>> read_body(const call_ptr& call,
                                                    const api::kind_info& kind,
                                                    api::field_validation fields,
                                                    const body_rules& rules = {});

// Checks that the object's name is that of the URL, and sets an empty one. `other_name`: the error
// for another name; empty: the default.
api::expected<void> check_name(const call_ptr& call, api::body& content,
                               std::string_view other_name = {});

// Whether the client, which writes an absent object, may also create it.
api::expected<void> may_create(const call& call);

// For a custom kind: removes fields that are not in the version's schema, and sets its defaults.
api::expected<void> complete_custom(const call_ptr& call, const api::kind_info& kind,
                                    api::body& content, api::field_validation fields);

// Proposes the object as a new one.
api::expected<proposal> propose_creation(const call_ptr& call, std::unique_ptr<api::body> content);

// Proposes replacing `was` by `now` under the rules of the subresource that the call writes.
api::expected<proposal> propose_replacement(const call_ptr& call, const api::object_ptr& was,
                                            std::unique_ptr<api::body> now);

}  // namespace troupe::server
