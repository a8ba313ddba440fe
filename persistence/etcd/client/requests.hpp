// Converts between the types of shared_log and the messages of etcd. Pure.
#pragma once

#include "persistence/etcd/client/etcd.grpc.pb.h"
#include "persistence/replica/shared_log.hpp"

namespace troupe::persistence::etcd {

// If the compares fail, etcd returns the revision of each compared key: the first one that differs
// is the conflict.
etcdserverpb::TxnRequest message_of(const log_transaction& request);
log_answer answer_of(const log_transaction& request, const grpc::Status& status,
                     const etcdserverpb::TxnResponse& response);

// A linearizable read, of which only the header's revision is used.
etcdserverpb::RangeRequest probe();
// `at`: the requested revision, 0 for the newest.
log_page page_of(revision at, etcdserverpb::RangeResponse& found);

// As upstream's list. A page of the largest objects would be 750 MB: `page_bytes` can be read
// within the limit of a request.
inline constexpr std::int64_t page_limit = 500;
inline constexpr std::size_t page_bytes = 8u << 20;
// The number of items of the next page, if they are as large as those of this one.
std::int64_t next_page_items(const etcdserverpb::RangeResponse& page);

// True if etcd rejected the request: it is not executed, and other members would reject
// it.
bool is_refusal(const grpc::Status& status);
// Returns `unknown` if etcd may have executed the request.
error error_of(const grpc::Status& status);

}  // namespace troupe::persistence::etcd
