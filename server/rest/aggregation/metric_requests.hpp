// Converts metric queries to requests of the metrics APIs, and parses their responses. Pure.
//
// kubernetes: k8s.io/metrics, pkg/client and pkg/apis, for the paths and formats.
#pragma once

#include <string>
#include <string_view>

#include "actors/core/metric_questions.hpp"
#include "server/rest/aggregation/aggregated_apis.hpp"
#include "server/rest/proxy/backend_fetch.hpp"

namespace troupe::server {

// The request target, with its query.
std::string metric_target(const aggregated_api& api, const actors::metric_query& query);

actors::metric_values read_metrics(const actors::metric_query& query, const fetch_result& answer);

}  // namespace troupe::server
