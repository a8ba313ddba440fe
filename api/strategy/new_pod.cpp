#include "api/strategy/new_pod.hpp"

#include "api/values/quantity.hpp"

namespace troupe::api {
namespace {

using namespace core::v1;

std::optional<quantity> amount(const google::protobuf::Map<std::string, resource::Quantity>& of,
                               const char* name) {
  const auto found = of.find(name);
  if (found == of.end()) return std::nullopt;
  const auto parsed = quantity::parse(found->second.string());
  return parsed && parsed->sign() > 0 ? parsed : std::nullopt;
}

struct totals {
  bool any = false;      // some container asks for something
  bool complete = true;  // every container has both limits, and requests equal to them
};

void add(totals& sum, const Container& container) {
  for (const char* name : {"cpu", "memory"}) {
    const auto request = amount(container.resources().requests(), name);
    const auto limit = amount(container.resources().limits(), name);
    if (request || limit) sum.any = true;
    // A request that is absent is the limit: defaulting has not always run before.
    if (!limit || (request && *request != *limit)) sum.complete = false;
  }
}

}  // namespace

std::string_view qos_class(const PodSpec& spec) {
  totals sum;
  for (const auto& container : spec.init_containers())
    add(sum, container);
  for (const auto& container : spec.containers())
    add(sum, container);
  if (!sum.any) return "BestEffort";
  return sum.complete ? "Guaranteed" : "Burstable";
}

void initialize_pod(Pod& pod) {
  const auto& spec = *pod.mutable_spec();
  pod.clear_status();
  auto& status = *pod.mutable_status();
  status.set_phase("Pending");
  status.set_qos_class(std::string(qos_class(spec)));
  if (spec.scheduling_gates().empty()) return;
  auto& condition = *status.add_conditions();
  condition.set_type("PodScheduled");
  condition.set_status("False");
  condition.set_reason("SchedulingGated");
  condition.set_message("Scheduling is blocked due to non-empty scheduling gates");
}

}  // namespace troupe::api
