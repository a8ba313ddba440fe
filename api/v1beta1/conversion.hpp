// Converts between v1beta1 and the hub, by kind, and the parts that several kinds share.
#pragma once

#include "api/schema/core_pod.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/schema/meta_object.pb.h"
#include "api/v1beta1/objects.pb.h"
#include "api/v1beta1/pod.pb.h"

namespace troupe::api {
class conversions;
}

namespace troupe::api::v1beta1 {

using label_map = google::protobuf::Map<std::string, std::string>;

// -- parts ----------------------------------------------------------------------------------------

void to_meta(const TypeMeta& from, meta::v1::ObjectMeta& to);
void from_meta(const meta::v1::ObjectMeta& from, TypeMeta& to);

void to_container(const Container& from, core::v1::Container& to);
void from_container(const core::v1::Container& from, Container& to);
void fill_container(Container& content);

void to_volume(const Volume& from, core::v1::Volume& to);
void from_volume(const core::v1::Volume& from, Volume& to);

// For labels and for label selectors.
void to_labels(const label_map& from, label_map& to);

// The desired state of a pod.
void to_spec(const PodState& from, const label_map& node_selector, core::v1::PodSpec& to);
void from_spec(const core::v1::PodSpec& from, PodState& to, label_map& node_selector);
void fill_state(PodState& content);

// v1beta1 shows the first of several ports, which are identified by their numbers. Changes that
// number in `before` as in `now`, so that the port keeps its other fields.
void follow_port(const core::v1::Service& now, core::v1::Service& before);

// -- kinds ----------------------------------------------------------------------------------------

void register_pods(conversions& to);
void register_workloads(conversions& to);  // replication controllers and services
void register_minions(conversions& to);    // minions, bindings, endpoints
void register_events(conversions& to);     // events, operations

}  // namespace troupe::api::v1beta1
