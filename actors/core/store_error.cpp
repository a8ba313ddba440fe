#include "actors/core/store_error.hpp"

#include <spdlog/fmt/fmt.h>

#include "api/schema/core_pod.pb.h"
#include "api/schema/core_quota.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

namespace {

// kubernetes: apiserver/pkg/admission/plugin/resourcequota, "exceeded quota", plus a remedy.
std::string exceeded_quota(const persistence::error& e) {
  const bool pods = e.key == api::kind_of<api::core::v1::Pod>().prefix();
  const auto* measure = pods ? "pods" : e.key.empty() ? "bytes" : "objects";
  const auto* setting = pods ? "maxPods" : e.key.empty() ? "maxBytes" : "maxObjects";
  return fmt::format(
      "exceeded quota: cluster, used: {0}={1}, limited: {0}={2}: delete what is not needed, {3}"
      "raise the setting cluster.{4}",
      measure, e.actual, e.limit, pods ? "add nodes, or " : "or ", setting);
}

}  // namespace

api::error to_api_error(const persistence::error& e, const api::kind_info& kind,
                        std::string_view name) {
  using persistence::errc;
  switch (e.code) {
    case errc::conflict:
      return api::conflict(kind, name,
                           "the object has been modified; please apply your changes to the latest "
                           "version and try again");
    case errc::overloaded:
      return api::too_many_requests(e.message, 1);
    case errc::compacted:
      return api::expired(e.message);
    case errc::future_revision:
      return api::timed_out(e.message, 1);
    case errc::unknown:
      // The write may have happened: with a Retry-After header clients would repeat it.
      return api::timed_out(e.message, 0);
    case errc::too_large: {
      // etcd returns this; the body of the request was within the limit.
      auto refused = api::bad_request(e.message);
      refused.code = 413;
      refused.reason = "RequestEntityTooLarge";
      return refused;
    }
    case errc::no_space: {
      // Upstream answers 500 with etcd's "database space exceeded"; kubectl shows this reason, and
      // clients do not retry at once, because only freeing space helps.
      auto refused = api::service_unavailable(e.message);
      refused.code = 507;
      refused.reason = "InsufficientStorage";
      return refused;
    }
    case errc::read_only:
    case errc::closed:
    case errc::leadership_lost:
    case errc::restored:
      return api::service_unavailable(e.message);
    case errc::exceeded:
      if (e.key.starts_with(api::kind_of<api::core::v1::ResourceQuota>().prefix()))
        return api::forbidden(kind, name, e.message);
      return api::forbidden(kind, name, exceeded_quota(e));
    case errc::locked:
    case errc::incompatible:
    case errc::corrupt:
    case errc::io:
    case errc::invalid:
    case errc::no_memory:
      break;
  }
  return api::internal(e.message);
}

}  // namespace troupe::actors
