// POST, PUT and PATCH of stored objects.
#pragma once

#include <memory>
#include <string_view>

#include "api/error.hpp"
#include "server/rest/handlers/change.hpp"

namespace troupe::server {

void create_object(const call_ptr& call);
// PUT of an object, or of one of its parts by a subresource: status, finalize, ephemeralcontainers,
// resize.
void update_object(const call_ptr& call);
void patch_object(const call_ptr& call);

// -- shared by them ------------------------------------------------------------------------------

// The special rules for the body of some requests.
struct body_rules {
  // Another version that the body may name.
  std::string_view also_version = {};
  // The message for a name in the body that is not the one in the URL; empty: the usual.
  std::string_view other_name = {};
};

// The body of the request as an object of that kind; what fieldValidation says of it becomes
// warnings of the call.
api::expected<std::unique_ptr<api::body>> read_body(const call_ptr& call,
                                                    const api::kind_info& kind,
                                                    api::field_validation fields,
                                                    const body_rules& rules = {});

// The object is the one in the URL, also where it has no name. `other_name`: what is said where it
// is another one; empty: the usual.
api::expected<void> check_name(const call_ptr& call, api::body& content,
                               std::string_view other_name = {});

// Whether the client, which writes an object that is not there, may create it, too.
api::expected<void> may_create(const call& call);

// Of a custom kind: what the version's schema does not know goes, what it has a default for comes.
api::expected<void> complete_custom(const call_ptr& call, const api::kind_info& kind,
                                    api::body& content, api::field_validation fields);

// The object as a new one.
api::expected<proposal> propose_creation(const call_ptr& call, std::unique_ptr<api::body> content);

// Makes `now` the successor of `was` under the rules of the part that the call writes.
api::expected<proposal> propose_replacement(const call_ptr& call, const api::object_ptr& was,
                                            std::unique_ptr<api::body> now);

}  // namespace troupe::server
