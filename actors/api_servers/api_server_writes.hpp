// The writes that publish a control plane's record, each proposed from the state that it is
// committed on. Pure functions.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/api_servers/api_endpoints.hpp"
#include "actors/write/write_service.hpp"

namespace troupe::actors {

using write_proposal = std::function<api::expected<proposal>(const persistence::snapshot& state)>;

// Creates the record, or renews it.
write_proposal renew_api_server(const api_server_record& record, runtime::wall_time now);
// `judged`: removes it only while this is its revision; 0: in any.
write_proposal remove_api_server(const std::string& name, persistence::revision judged = 0);

// The content of default/kubernetes. `records`: the annotation for nodes; nothing: it is left out.
struct api_listing {
  api_endpoints endpoints;
  std::optional<std::string> records = std::nullopt;
};
using listing_rule = std::function<api_listing(const persistence::snapshot& state)>;

// The writes that bring the Endpoints and slices of default/kubernetes up to date. They take the
// listing from the state that they are committed on, so that none undoes a newer one.
std::vector<write_proposal> publish_api_servers(const persistence::snapshot& state,
                                                const listing_rule& listing);

// A write by the control plane itself; `done` is as in write_request.
write_request api_server_write(write_proposal propose,
                               std::function<void(write_outcome outcome)> done);

}  // namespace troupe::actors
