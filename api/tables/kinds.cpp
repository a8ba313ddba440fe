// Columns and cells of the kinds with few columns.
#include <google/protobuf/message.h>

#include <array>
#include <map>

#include "api/schema/apps_v1.pb.h"
#include "api/schema/autoscaling_v1.pb.h"
#include "api/schema/coordination_v1.pb.h"
#include "api/schema/core_account.pb.h"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_event.pb.h"
#include "api/schema/core_namespace.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/schema/scheduling_v1.pb.h"
#include "api/selectors/selector.hpp"
#include "api/tables/row_cells.hpp"

namespace troupe::api {

using namespace core::v1;

namespace {

constexpr table_column name = {"Name", "string",
                               "Name of the object, unique within its namespace."};
constexpr table_column age = {"Age", "string", "Time since the object was created."};
constexpr table_column containers = {"Containers", "string", "Names of the containers.", 1};
constexpr table_column images = {"Images", "string", "Images of the containers.", 1};
constexpr table_column selector = {"Selector", "string", "The pods that belong to it.", 1};

constexpr std::array<table_column, 8> of_controllers = {
    name,
    table_column{"Desired", "integer", "How many pods there should be."},
    table_column{"Current", "integer", "How many pods there are."},
    table_column{"Ready", "integer", "How many of them are ready."},
    age,
    containers,
    images,
    selector};
constexpr std::array<table_column, 8> of_deployments = {
    name,
    table_column{"Ready", "string", "Pods that are ready, of those that should be there."},
    table_column{"Up-to-date", "integer", "How many pods are of the newest revision."},
    table_column{"Available", "integer", "How many pods can be relied on."},
    age,
    containers,
    images,
    selector};
constexpr std::array<table_column, 3> of_namespaces = {
    name, table_column{"Status", "string", "Active, or Terminating."}, age};
constexpr std::array<table_column, 3> of_config_maps = {
    name, table_column{"Data", "string", "How many keys it has."}, age};
constexpr std::array<table_column, 4> of_secrets = {
    name, table_column{"Type", "string", "What it is for."},
    table_column{"Data", "string", "How many keys it has."}, age};
constexpr std::array<table_column, 3> of_accounts = {
    name, table_column{"Secrets", "string", "How many secrets it may use."}, age};
constexpr std::array<table_column, 3> of_leases = {
    name, table_column{"Holder", "string", "Who holds it."}, age};
constexpr std::array<table_column, 5> of_priorities = {
    name, table_column{"Value", "integer", "The priority; higher goes first."},
    table_column{"Global-Default", "boolean", "Whether pods without a class get it."}, age,
    table_column{"PreemptionPolicy", "string", "Whether its pods may push others out."}};
constexpr std::array<table_column, 4> of_scales = {
    name, table_column{"Desired", "integer", "How many pods there should be."},
    table_column{"Available", "integer", "How many pods there are."}, age};
constexpr std::array<table_column, 4> of_templates = {
    name, table_column{"Containers", "string", "Names of the containers."},
    table_column{"Images", "string", "Images of the containers."},
    table_column{"Pod Labels", "string", "Labels of the pods."}};

std::string shown(const google::protobuf::Map<std::string, std::string>& labels) {
  return shown_labels(labels);
}
std::string shown(const meta::v1::LabelSelector& labels) {
  const auto compiled = label_selector::from(labels);
  const auto text = compiled ? compiled->str() : std::string();
  return text.empty() ? std::string(none_text) : text;
}

}  // namespace

const std::span<const table_column> controller_columns = of_controllers;
const std::span<const table_column> deployment_columns = of_deployments;
const std::span<const table_column> namespace_columns = of_namespaces;
const std::span<const table_column> config_map_columns = of_config_maps;
const std::span<const table_column> secret_columns = of_secrets;
const std::span<const table_column> account_columns = of_accounts;
const std::span<const table_column> lease_columns = of_leases;
const std::span<const table_column> priority_columns = of_priorities;
const std::span<const table_column> scale_columns = of_scales;
const std::span<const table_column> template_columns = of_templates;

template <class Object>
void controller_cells(row_cells& into, const body& content) {
  const auto& object = static_cast<const Object&>(content);
  const auto& pods = object.spec().template_().spec();
  into.text(object.metadata().name())
      .number(object.spec().replicas())
      .number(object.status().replicas())
      .number(object.status().ready_replicas())
      .age(object.metadata())
      .text(container_names(pods))
      .text(container_images(pods))
      .text(shown(object.spec().selector()));
}

template void controller_cells<ReplicationController>(row_cells&, const body&);
template void controller_cells<apps::v1::ReplicaSet>(row_cells&, const body&);

void deployment_cells(row_cells& into, const body& content) {
  const auto& object = static_cast<const apps::v1::Deployment&>(content);
  const auto& status = object.status();
  const auto& pods = object.spec().template_().spec();
  into.text(object.metadata().name())
      .text(std::to_string(status.ready_replicas()) + "/" +
            std::to_string(object.spec().replicas()))
      .number(status.updated_replicas())
      .number(status.available_replicas())
      .age(object.metadata())
      .text(container_names(pods))
      .text(container_images(pods))
      .text(shown(object.spec().selector()));
}

void namespace_cells(row_cells& into, const body& content) {
  const auto& object = static_cast<const Namespace&>(content);
  into.text(object.metadata().name()).text(object.status().phase()).age(object.metadata());
}

void config_map_cells(row_cells& into, const body& content) {
  const auto& object = static_cast<const ConfigMap&>(content);
  into.text(object.metadata().name())
      .number(object.data().size() + object.binary_data().size())
      .age(object.metadata());
}

void secret_cells(row_cells& into, const body& content) {
  const auto& object = static_cast<const Secret&>(content);
  into.text(object.metadata().name())
      .text(object.type())
      .number(object.data().size())
      .age(object.metadata());
}

void account_cells(row_cells& into, const body& content) {
  const auto& object = static_cast<const ServiceAccount&>(content);
  into.text(object.metadata().name()).number(object.secrets_size()).age(object.metadata());
}

void lease_cells(row_cells& into, const body& content) {
  const auto& object = static_cast<const coordination::v1::Lease&>(content);
  into.text(object.metadata().name()).text(object.spec().holder_identity()).age(object.metadata());
}

void priority_cells(row_cells& into, const body& content) {
  const auto& object = static_cast<const scheduling::v1::PriorityClass&>(content);
  into.text(object.metadata().name())
      .number(object.value())
      .boolean(object.global_default())
      .age(object.metadata())
      .text(object.preemption_policy());
}

void scale_cells(row_cells& into, const body& content) {
  const auto& object = static_cast<const autoscaling::v1::Scale&>(content);
  into.text(object.metadata().name())
      .number(object.spec().replicas())
      .number(object.status().replicas())
      .age(object.metadata());
}

void template_cells(row_cells& into, const body& content) {
  const auto& object = static_cast<const PodTemplate&>(content);
  into.text(object.metadata().name())
      .text(container_names(object.template_().spec()))
      .text(container_images(object.template_().spec()))
      .text(shown_labels(object.template_().metadata().labels()));
}

namespace {

template <class Part>
std::string joined(const PodSpec& spec, Part part) {
  std::string text;
  for (const auto& container : spec.containers()) {
    if (!text.empty()) text += ',';
    text += part(container);
  }
  return text;
}

}  // namespace

std::string shown_labels(const google::protobuf::Map<std::string, std::string>& labels) {
  std::string text;
  for (const auto& [key, value] :
       std::map<std::string_view, std::string_view>(labels.begin(), labels.end())) {
    if (!text.empty()) text += ',';
    text.append(key).append("=").append(value);
  }
  return text.empty() ? std::string(none_text) : text;
}

std::string container_names(const PodSpec& spec) {
  return joined(spec, [](const Container& one) { return one.name(); });
}

std::string container_images(const PodSpec& spec) {
  return joined(spec, [](const Container& one) { return one.image(); });
}

}  // namespace troupe::api
