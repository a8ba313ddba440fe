#include "persistence/etcd/client/watch_call.hpp"

#include <utility>

namespace troupe::persistence::etcd {

namespace {

using etcdserverpb::Event;

void add(std::vector<log_step>& steps, Event& from) {
  const auto at = static_cast<revision>(from.kv().mod_revision());
  if (steps.empty() || steps.back().at != at) steps.push_back({at, {}});
  auto& kv = *from.mutable_kv();
  log_change next{std::move(*kv.mutable_key()), std::nullopt, 0};
  if (from.type() == Event::PUT) {
    next.value = std::move(*kv.mutable_value());
    next.created = static_cast<revision>(kv.create_revision());
  }
  steps.back().changes.push_back(std::move(next));
}

}  // namespace

void watch_call::start(etcdserverpb::Watch::Stub& service, revision after,
                       grpc::CompletionQueue& queue) {
  // A member that loses its leader then ends the stream instead of staying silent.
  context_.AddMetadata("hasleader", "true");
  auto& create = *request_.mutable_create_request();
  create.set_key(std::string(1, '\0'));
  create.set_range_end(std::string(1, '\0'));
  create.set_start_revision(static_cast<std::int64_t>(after) + 1);
  create.set_fragment(true);
  stream_ = service.PrepareAsyncWatch(&context_, &queue);
  stream_->StartCall(static_cast<tag*>(this));
}

bool watch_call::happened(bool ok) {
  switch (stage_) {
    case stage::starting:
      if (!ok) return finish();
      stage_ = stage::asking;
      stream_->Write(request_, static_cast<tag*>(this));
      return false;
    case stage::asking:
      if (!ok) return finish();
      stage_ = stage::reading;
      stream_->Read(&response_, static_cast<tag*>(this));
      return false;
    case stage::reading:
      if (!ok || queue_.closing() || !take()) return finish();
      stream_->Read(&response_, static_cast<tag*>(this));
      return false;
    case stage::finishing:
      break;
  }
  if (!queue_.closing() && !silent_)
    to_.ended(reason_.value_or(error{errc::io, "etcd's watch ended: " + status_.error_message()}));
  return true;
}

// A response ends with a complete revision; a fragmented one does in its last fragment.
bool watch_call::take() {
  if (response_.canceled()) {
    reason_ = response_.compact_revision() != 0
                  ? error{errc::compacted,
                          "etcd does not have the changes any more that are "
                          "missing here"}
                  : error{errc::io, "etcd cancelled the watch: " + response_.cancel_reason()};
    return false;
  }
  for (auto& each : *response_.mutable_events())
    add(steps_, each);
  if (response_.fragment() || steps_.empty()) return true;
  silent_ = !to_.steps(std::exchange(steps_, {}));
  return !silent_;
}

bool watch_call::finish() {
  stage_ = stage::finishing;
  context_.TryCancel();
  stream_->Finish(&status_, static_cast<tag*>(this));
  return false;
}

}  // namespace troupe::persistence::etcd
