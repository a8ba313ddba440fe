// The verbs of the API of 2014. Each responds to its call once.
#pragma once

#include "server/legacy/legacy_call.hpp"
#include "server/legacy/legacy_selector.hpp"

namespace troupe::server::legacy {

void get_object(const legacy_call_ptr& call);
void list_objects(const legacy_call_ptr& call);
// As HTTP chunks, or as WebSocket messages if the client requests that.
void watch_objects(const legacy_call_ptr& call);
// 307 to one of the service's endpoints.
void redirect(const legacy_call_ptr& call);

void create_object(const legacy_call_ptr& call);
void update_object(const legacy_call_ptr& call);
void delete_object(const legacy_call_ptr& call);
// POST of a binding.
void create_binding(const legacy_call_ptr& call);

// -- shared functions ----------------------------------------------------------------------------

// The selectors `labels` and `fields` of a request.
struct choice {
  legacy_selector labels;
  legacy_selector fields;

  bool everything() const noexcept { return labels.everything() && fields.everything(); }
  bool matches(const api::object& content, const api::kind_info& shape) const;
};
// 500 for an invalid selector; a watch treats invalid labels as none (upstream: watch.go,
// getWatchParams).
api::expected<choice> parse_choice(const legacy_call& call, bool watching);

}  // namespace troupe::server::legacy
