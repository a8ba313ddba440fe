#include "persistence/etcd/client/requests.hpp"

#include <algorithm>
#include <utility>

namespace troupe::persistence::etcd {

using etcdserverpb::Compare;

namespace {

constexpr const char* space_remedy =
    ": delete what is not needed, compact etcd, run etcdctl defrag for each member, then etcdctl "
    "alarm disarm";

}  // namespace

etcdserverpb::TxnRequest message_of(const log_transaction& request) {
  etcdserverpb::TxnRequest made;
  for (const auto& each : request.compares) {
    auto& compare = *made.add_compare();
    compare.set_key(each.key);
    compare.set_result(Compare::EQUAL);
    if (!each.end.empty()) {
      // etcd compares each key of the range; an empty range is compared as revision 0.
      compare.set_range_end(each.end);
      compare.set_result(Compare::LESS);
      compare.set_target(Compare::MOD);
      compare.set_mod_revision(static_cast<std::int64_t>(each.at) + 1);
    } else if (each.at == 0 || each.created) {
      compare.set_target(Compare::CREATE);
      compare.set_create_revision(static_cast<std::int64_t>(each.at));
    } else {
      compare.set_target(Compare::MOD);
      compare.set_mod_revision(static_cast<std::int64_t>(each.at));
    }
    auto& look = *made.add_failure()->mutable_request_range();
    look.set_key(each.key);
    if (!each.end.empty()) look.set_range_end(each.end);
    look.set_keys_only(true);
  }
  for (const auto& each : request.writes) {
    auto& step = *made.add_success();
    if (each.value) {
      step.mutable_request_put()->set_key(each.key);
      step.mutable_request_put()->set_value(*each.value);
      step.mutable_request_put()->set_lease(each.lease);
    } else {
      step.mutable_request_delete_range()->set_key(each.key);
    }
  }
  return made;
}

log_answer answer_of(const log_transaction& request, const grpc::Status& status,
                     const etcdserverpb::TxnResponse& response) {
  using outcome = log_answer::outcome;
  if (!status.ok()) {
    log_answer made{is_refusal(status) ? outcome::refused : outcome::unknown};
    made.reason = error_of(status);
    made.lease_ended = status.error_code() == grpc::StatusCode::NOT_FOUND;
    return made;
  }
  const auto newest = static_cast<revision>(response.header().revision());
  if (response.succeeded()) return {outcome::committed, newest};
  const auto known = std::min<std::size_t>(request.compares.size(),
                                           static_cast<std::size_t>(response.responses_size()));
  for (std::size_t i = 0; i < known; ++i) {
    const auto& wanted = request.compares[i];
    revision actual = 0;
    for (const auto& found : response.responses(static_cast<int>(i)).response_range().kvs())
      actual = std::max(actual, static_cast<revision>(wanted.created ? found.create_revision()
                                                                     : found.mod_revision()));
    if (!holds(wanted, actual)) return {outcome::conflict, newest, i, actual};
  }
  log_answer made{outcome::refused};
  made.reason = {errc::read_only, "etcd refused a transaction without a reason"};
  return made;
}

etcdserverpb::RangeRequest probe() {
  etcdserverpb::RangeRequest made;
  made.set_key(std::string(1, '\0'));
  made.set_keys_only(true);
  return made;
}

log_page page_of(revision at, etcdserverpb::RangeResponse& found) {
  log_page made{at != 0 ? at : static_cast<revision>(found.header().revision()), {}, found.more()};
  for (auto& each : *found.mutable_kvs())
    made.items.push_back({std::move(*each.mutable_key()), std::move(*each.mutable_value()),
                          static_cast<revision>(each.create_revision()),
                          static_cast<revision>(each.mod_revision())});
  return made;
}

std::int64_t next_page_items(const etcdserverpb::RangeResponse& page) {
  if (page.kvs().empty()) return page_limit;
  std::size_t bytes = 0;
  for (const auto& each : page.kvs())
    bytes += each.key().size() + each.value().size();
  const auto fitting = static_cast<std::size_t>(page.kvs_size()) * page_bytes / bytes;
  return std::clamp(static_cast<std::int64_t>(fitting), std::int64_t{1}, page_limit);
}

bool is_refusal(const grpc::Status& status) {
  switch (status.error_code()) {
    case grpc::StatusCode::INVALID_ARGUMENT:
    case grpc::StatusCode::OUT_OF_RANGE:        // compacted, or a future revision
    case grpc::StatusCode::RESOURCE_EXHAUSTED:  // the quota of the database
    case grpc::StatusCode::PERMISSION_DENIED:
    case grpc::StatusCode::UNAUTHENTICATED:
    case grpc::StatusCode::FAILED_PRECONDITION:
    case grpc::StatusCode::NOT_FOUND:  // a lease that has ended
      return true;
    default:
      return false;
  }
}

// etcd's rejections have no codes except these texts (etcd: api/v3rpc/rpctypes).
error error_of(const grpc::Status& status) {
  const auto text = "etcd: " + status.error_message();
  const auto says = [&](const char* words) { return text.find(words) != text.npos; };
  if (!is_refusal(status)) return {errc::unknown, text};
  if (says("compacted")) return {errc::compacted, text};
  if (says("is a future revision")) return {errc::future_revision, text};
  if (says("request is too large") || says("message larger than max"))
    return {errc::too_large, text};
  if (says("database space exceeded")) return {errc::no_space, text + space_remedy};
  if (says("too many requests")) return {errc::overloaded, text};
  return {errc::read_only, text};
}

}  // namespace troupe::persistence::etcd
