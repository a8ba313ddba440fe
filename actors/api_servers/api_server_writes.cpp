#include "actors/api_servers/api_server_writes.hpp"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <memory>
#include <set>
#include <utility>

#include "api/schema/meta_object.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors {

using api::coordination::v1::Lease;
using api::core::v1::Endpoints;
using api::discovery::v1::EndpointSlice;
using persistence::snapshot;

namespace {

using admission::operation;

template <class T>
std::unique_ptr<T> copy_or_new(const api::object_ptr& before, const std::string& ns,
                               const std::string& name) {
  if (before) return before->copy_as<T>();
  auto made = std::make_unique<T>();
  made->mutable_metadata()->set_name(name);
  made->mutable_metadata()->set_namespace_(ns);
  return made;
}

// Writes the result of `change` on the named object, or on a new one.
template <class T, class Change>
write_proposal put(std::string ns, std::string name, Change change) {
  return [ns = std::move(ns), name = std::move(name),
          change = std::move(change)](const snapshot& state) -> api::expected<proposal> {
    const auto& kind = api::kind_of<T>();
    auto before = state.find(kind.key(ns, name));
    auto after = copy_or_new<T>(before, ns, name);
    change(*after);
    const auto op = before ? operation::update : operation::create;
    return proposal{
        .kind = &kind, .op = op, .before = std::move(before), .after = std::move(after)};
  };
}

// `judged`: as for remove_api_server().
template <class T>
write_proposal remove_object(std::string ns, std::string name, persistence::revision judged = 0) {
  return [ns = std::move(ns), name = std::move(name),
          judged](const snapshot& state) -> api::expected<proposal> {
    const auto& kind = api::kind_of<T>();
    auto before = state.find(kind.key(ns, name));
    const bool settled = before == nullptr || (judged != 0 && before->revision() != judged);
    return proposal{.kind = &kind,
                    .op = operation::remove,
                    .rules = write_rules::as_is,
                    .before = std::move(before),
                    .settled = settled};
  };
}

write_proposal put_endpoints(listing_rule listing) {
  return [listing = std::move(listing)](const snapshot& state) {
    const auto complete_all = [shown = listing(state)](Endpoints& object) {
      complete(object, shown.endpoints);
      auto& annotations = *object.mutable_metadata()->mutable_annotations();
      annotations.erase(std::string{api_servers_annotation});
      if (shown.records) annotations[std::string{api_servers_annotation}] = *shown.records;
    };
    return put<Endpoints>(api_service_namespace, api_service_name, complete_all)(state);
  };
}

// Removes the slice if the listing has none of this name.
write_proposal put_slice(std::string name, listing_rule listing) {
  return [name = std::move(name), listing = std::move(listing)](const snapshot& state) {
    for (const auto& each : slices_of(listing(state).endpoints))
      if (each.name == name)
        return put<EndpointSlice>(api_service_namespace, name,
                                  [&](EndpointSlice& object) { complete(object, each); })(state);
    return remove_object<EndpointSlice>(api_service_namespace, name)(state);
  };
}

// The slices that exist or must exist.
std::set<std::string> slice_names(const snapshot& state, const api_listing& listing) {
  std::set<std::string> names;
  for (const auto& each : slices_of(listing.endpoints))
    names.insert(each.name);
  const std::string service = api_service_name;
  const auto prefix = api::kind_of<EndpointSlice>().prefix(api_service_namespace);
  state.scan(prefix, {}, [&](std::string_view, const api::object_ptr& object) {
    const auto& name = object->meta().name();
    if (name == service || name.starts_with(service + "-ipv")) names.insert(name);
    return true;
  });
  return names;
}

// True if the proposal leaves the state as it is.
bool is_settled(const proposal& of) {
  using google::protobuf::util::MessageDifferencer;
  return of.settled ||
         (of.before && of.after && MessageDifferencer::Equals(of.before->content(), *of.after));
}

}  // namespace

write_proposal renew_api_server(const api_server_record& record, runtime::wall_time now) {
  return put<Lease>(api_server_namespace, api_server_lease(record.name),
                    [record, now](Lease& lease) { complete(lease, record, now); });
}

write_proposal remove_api_server(const std::string& name, persistence::revision judged) {
  return remove_object<Lease>(api_server_namespace, api_server_lease(name), judged);
}

std::vector<write_proposal> publish_api_servers(const snapshot& state,
                                                const listing_rule& listing) {
  std::vector<write_proposal> writes{put_endpoints(listing)};
  for (const auto& name : slice_names(state, listing(state)))
    writes.push_back(put_slice(name, listing));
  std::erase_if(writes, [&](const write_proposal& each) {
    const auto now = each(state);
    return now && is_settled(*now);
  });
  return writes;
}

write_request api_server_write(write_proposal propose,
                               std::function<void(write_outcome outcome)> done) {
  return {.propose = std::move(propose),
          .done = std::move(done),
          .cause = {.author = "system:apiserver"},
          .by = admission::controllers()};
}

}  // namespace troupe::actors
