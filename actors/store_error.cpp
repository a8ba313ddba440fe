#include "actors/store_error.hpp"

namespace troupe::actors {

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
    case errc::too_large: {
      // etcd answers so; the body as it came in was within the limit.
      auto refused = api::bad_request(e.message);
      refused.code = 413;
      refused.reason = "RequestEntityTooLarge";
      return refused;
    }
    case errc::no_space: {
      // Upstream answers 500 with etcd's "database space exceeded"; kubectl shows this reason, and
      // nobody repeats the request at once, since only somebody who frees space can help.
      auto refused = api::service_unavailable(e.message);
      refused.code = 507;
      refused.reason = "InsufficientStorage";
      return refused;
    }
    case errc::read_only:
    case errc::closed:
      return api::service_unavailable(e.message);
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
