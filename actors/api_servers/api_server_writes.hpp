// The writes by which control planes tell of themselves, each proposed from the state that it is
// committed over. Pure.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "actors/api_servers/api_endpoints.hpp"
#include "actors/write/write_service.hpp"

namespace troupe::actors {

using write_proposal = std::function<api::expected<proposal>(const persistence::snapshot& state)>;

// Makes the record, or renews it.
write_proposal renew_api_server(const api_server_record& record, runtime::wall_time now);
write_proposal remove_api_server(const std::string& name);

// What has to change in `state` for the Endpoints and the slices of default/kubernetes to be so.
// `records`: what machines are told in the annotation; nothing: it is left out.
std::vector<write_proposal> publish_api_servers(const persistence::snapshot& state,
                                                const api_endpoints& endpoints,
                                                const std::optional<std::string>& records);

// As a write of the control plane itself; `done` as that of write_request.
write_request api_server_write(write_proposal propose,
                               std::function<void(write_outcome outcome)> done);

}  // namespace troupe::actors
