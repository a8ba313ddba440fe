// Between the terms of shared_log and the messages of etcd. Pure.
#pragma once

#include "persistence/etcd/client/etcd.grpc.pb.h"
#include "persistence/replica/shared_log.hpp"

namespace troupe::persistence::etcd {

// Its answer says of every key that it compares which revision it has: the first that differs is
// the one in conflict.
etcdserverpb::TxnRequest message_of(const log_transaction& request);
log_answer answer_of(const log_transaction& request, const grpc::Status& status,
                     const etcdserverpb::TxnResponse& response);

// A read that every member answers after the leader was asked, for its revision alone.
etcdserverpb::RangeRequest probe();
// `at`: the revision that was asked for, 0 for the newest.
log_page page_of(revision at, etcdserverpb::RangeResponse& found);

// It was judged, and will not happen; another member would say the same.
bool is_refusal(const grpc::Status& status);
error error_of(const grpc::Status& status);

}  // namespace troupe::persistence::etcd
