#include "actors/api_servers/api_server_writes.hpp"

#include <google/protobuf/util/message_differencer.h>

#include <algorithm>
#include <memory>
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

template <class T>
write_proposal remove_object(std::string ns, std::string name) {
  return [ns = std::move(ns),
          name = std::move(name)](const snapshot& state) -> api::expected<proposal> {
    const auto& kind = api::kind_of<T>();
    auto before = state.find(kind.key(ns, name));
    const bool gone = before == nullptr;
    return proposal{.kind = &kind,
                    .op = operation::remove,
                    .rules = write_rules::as_is,
                    .before = std::move(before),
                    .settled = gone};
  };
}

// True if `change` leaves the stored object unchanged.
template <class T, class Change>
bool is_settled(const snapshot& state, const std::string& name, const Change& change) {
  const auto before = state.find(api::kind_of<T>().key(api_service_namespace, name));
  if (!before) return false;
  const auto after = before->template copy_as<T>();
  change(*after);
  return google::protobuf::util::MessageDifferencer::Equals(before->template as<T>(), *after);
}

template <class T, class Change>
void put_where_needed(const snapshot& state, const std::string& name, Change change,
                      std::vector<write_proposal>& into) {
  if (!is_settled<T>(state, name, change))
    into.push_back(put<T>(api_service_namespace, name, std::move(change)));
}

void remove_other_slices(const snapshot& state, const std::vector<api_slice>& wanted,
                         std::vector<write_proposal>& into) {
  const std::string service = api_service_name;
  const auto prefix = api::kind_of<EndpointSlice>().prefix(api_service_namespace);
  state.scan(prefix, {}, [&](std::string_view, const api::object_ptr& object) {
    const auto& name = object->meta().name();
    const bool ours = name == service || name.starts_with(service + "-ipv");
    const bool stays = std::any_of(wanted.begin(), wanted.end(),
                                   [&](const api_slice& each) { return each.name == name; });
    if (ours && !stays) into.push_back(remove_object<EndpointSlice>(api_service_namespace, name));
    return true;
  });
}

}  // namespace

write_proposal renew_api_server(const api_server_record& record, runtime::wall_time now) {
  return put<Lease>(api_server_namespace, api_server_lease(record.name),
                    [record, now](Lease& lease) { complete(lease, record, now); });
}

write_proposal remove_api_server(const std::string& name) {
  return remove_object<Lease>(api_server_namespace, api_server_lease(name));
}

std::vector<write_proposal> publish_api_servers(const snapshot& state,
                                                const api_endpoints& endpoints,
                                                const std::optional<std::string>& records) {
  std::vector<write_proposal> writes;
  put_where_needed<Endpoints>(
      state, api_service_name,
      [=](Endpoints& object) {
        complete(object, endpoints);
        auto& annotations = *object.mutable_metadata()->mutable_annotations();
        annotations.erase(std::string{api_servers_annotation});
        if (records) annotations[std::string{api_servers_annotation}] = *records;
      },
      writes);
  const auto slices = slices_of(endpoints);
  for (const auto& slice : slices)
    put_where_needed<EndpointSlice>(
        state, slice.name, [slice](EndpointSlice& object) { complete(object, slice); }, writes);
  remove_other_slices(state, slices, writes);
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
