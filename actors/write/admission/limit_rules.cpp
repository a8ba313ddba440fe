#include "actors/write/admission/limit_rules.hpp"

#include <spdlog/fmt/fmt.h>

#include <algorithm>
#include <limits>
#include <set>

#include "api/schema/meta_object.pb.h"

namespace troupe::actors::admission {
namespace {

using api::quantity;
using api::quantity_messages;
using api::resource_list;
using api::core::v1::Container;
using api::core::v1::LimitRange;
using api::core::v1::LimitRangeItem;
using api::core::v1::Pod;

constexpr const char* note = "kubernetes.io/limit-ranger";

// Returns the names of the added resources, sorted.
std::set<std::string> add_missing(const resource_list& from, quantity_messages& into) {
  std::set<std::string> added;
  for (const auto& [name, amount] : from) {
    if (into.contains(name)) continue;
    into[name].set_string(amount.str());
    added.insert(name);
  }
  return added;
}

void default_container(const resource_list& requests, const resource_list& limits,
                       std::string_view role, Container& container,
                       std::vector<std::string>& notes) {
  if (requests.empty() && limits.empty()) return;
  auto& of = *container.mutable_resources();
  const auto limited = add_missing(limits, *of.mutable_limits());
  const auto requested = add_missing(requests, *of.mutable_requests());
  if (!requested.empty())
    notes.push_back(
        fmt::format("{} request for {} {}", fmt::join(requested, ", "), role, container.name()));
  if (!limited.empty())
    notes.push_back(
        fmt::format("{} limit for {} {}", fmt::join(limited, ", "), role, container.name()));
}

// -- one bound ------------------------------------------------------------------------------------

const quantity* find(const resource_list& in, const std::string& name) {
  const auto found = in.find(name);
  return found == in.end() ? nullptr : &found->second;
}

using texts = std::vector<std::string>;

void check_least(const std::string& type, const std::string& name, const quantity& least,
                 const quantity* request, const quantity* limit, texts& out) {
  const auto text = fmt::format("minimum {} usage per {} is {}", name, type, least.str());
  if (request == nullptr)
    out.push_back(text + ".  No request is specified");
  else if (*request < least)
    out.push_back(fmt::format("{}, but request is {}", text, request->str()));
  else if (limit != nullptr && *limit < least)
    out.push_back(fmt::format("{}, but limit is {}", text, limit->str()));
}

void check_most(const std::string& type, const std::string& name, const quantity& most,
                const quantity* request, const quantity* limit, texts& out) {
  const auto text = fmt::format("maximum {} usage per {} is {}", name, type, most.str());
  if (limit == nullptr)
    out.push_back(text + ".  No limit is specified");
  else if (*limit > most)
    out.push_back(fmt::format("{}, but limit is {}", text, limit->str()));
  else if (request != nullptr && *request > most)
    out.push_back(fmt::format("{}, but request is {}", text, request->str()));
}

void check_ratio(const std::string& type, const std::string& name, const quantity& ratio,
                 const quantity* request, const quantity* limit, texts& out) {
  const auto text =
      fmt::format("{} max limit to request ratio per {} is {}", name, type, ratio.str());
  if (request == nullptr || request->is_zero())
    return out.push_back(text + ", but no request is specified or request is 0");
  if (limit == nullptr || limit->is_zero())
    return out.push_back(text + ", but no limit is specified or limit is 0");
  // In thousandths if they fit, so that 500m of cpu is not rounded to 1.
  const bool fits = limit->value() < std::numeric_limits<std::int64_t>::max() / 1000;
  const auto amount = [fits](const quantity& of) {
    return static_cast<double>(fits ? of.milli_value() : of.value());
  };
  const double given = amount(*limit) / amount(*request);
  if (given * 1000 > static_cast<double>(ratio.milli_value()))
    out.push_back(fmt::format("{}, but provided ratio is {:f}", text, given));
}

void check_item(const LimitRangeItem& item, const resource_list& requests,
                const resource_list& limits, texts& out) {
  for (const auto& [name, least] : api::read_resource_list(item.min()))
    check_least(item.type(), name, least, find(requests, name), find(limits, name), out);
  for (const auto& [name, most] : api::read_resource_list(item.max()))
    check_most(item.type(), name, most, find(requests, name), find(limits, name), out);
  for (const auto& [name, ratio] : api::read_resource_list(item.max_limit_request_ratio()))
    check_ratio(item.type(), name, ratio, find(requests, name), find(limits, name), out);
}

void check_container(const LimitRangeItem& item, const Container& container, texts& out) {
  check_item(item, api::read_resource_list(container.resources().requests()),
             api::read_resource_list(container.resources().limits()), out);
}

}  // namespace

void default_resources(const LimitRange& range, Pod& pod) {
  resource_list requests, limits;
  for (const auto& item : range.spec().limits()) {
    if (item.type() != "Container") continue;
    requests.merge(api::read_resource_list(item.default_request()));
    limits.merge(api::read_resource_list(item.default_()));
  }
  texts notes;
  auto& spec = *pod.mutable_spec();
  for (auto& container : *spec.mutable_containers())
    default_container(requests, limits, "container", container, notes);
  for (auto& container : *spec.mutable_init_containers())
    default_container(requests, limits, "init container", container, notes);
  if (!notes.empty())
    (*pod.mutable_metadata()->mutable_annotations())[note] =
        fmt::format("LimitRanger plugin set: {}", fmt::join(notes, "; "));
}

std::vector<std::string> limit_violations(const LimitRange& range, const Pod& pod) {
  texts out;
  for (const auto& item : range.spec().limits()) {
    if (item.type() == "Container") {
      for (const auto& container : pod.spec().containers())
        check_container(item, container, out);
      for (const auto& container : pod.spec().init_containers())
        check_container(item, container, out);
    } else if (item.type() == "Pod") {
      check_item(item, api::pod_requests(pod.spec()), api::pod_limits(pod.spec()), out);
    }
  }
  return out;
}

std::vector<std::string> claim_violations(const LimitRange& range, const resource_list& requests) {
  texts out;
  for (const auto& item : range.spec().limits()) {
    if (item.type() != "PersistentVolumeClaim") continue;
    for (const auto& [name, least] : api::read_resource_list(item.min()))
      check_least(item.type(), name, least, find(requests, name), nullptr, out);
    for (const auto& [name, most] : api::read_resource_list(item.max())) {
      const auto text = fmt::format("maximum {} usage per {} is {}", name, item.type(), most.str());
      const auto* request = find(requests, name);
      if (request == nullptr)
        out.push_back(text + ".  No request is specified");
      else if (*request > most)
        out.push_back(fmt::format("{}, but request is {}", text, request->str()));
    }
  }
  return out;
}

}  // namespace troupe::actors::admission
