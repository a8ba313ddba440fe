#include "actors/write/pod_security/pod_template.hpp"

#include <array>

#include "api/schema/apps_sets.pb.h"
#include "api/schema/apps_v1.pb.h"
#include "api/schema/batch_v1.pb.h"
#include "api/schema/core_replication.pb.h"
#include "api/scheme.hpp"

namespace troupe::actors::pod_security {
namespace {

using api::core::v1::PodTemplateSpec;

struct holder {
  const api::kind_info* kind;
  const PodTemplateSpec* (*find)(const api::body& object);
};

template <class T>
holder with_template() {
  return {&api::kind_of<T>(), [](const api::body& object) -> const PodTemplateSpec* {
            const auto& spec = static_cast<const T&>(object).spec();
            return spec.has_template_() ? &spec.template_() : nullptr;
          }};
}

const auto& holders() {
  static const std::array all{
      with_template<api::core::v1::ReplicationController>(),
      with_template<api::apps::v1::ReplicaSet>(),
      with_template<api::apps::v1::Deployment>(),
      with_template<api::apps::v1::StatefulSet>(),
      with_template<api::apps::v1::DaemonSet>(),
      with_template<api::batch::v1::Job>(),
      holder{&api::kind_of<api::batch::v1::CronJob>(),
             [](const api::body& object) -> const PodTemplateSpec* {
               const auto& job = static_cast<const api::batch::v1::CronJob&>(object).spec();
               return &job.job_template().spec().template_();
             }},
      holder{&api::kind_of<api::core::v1::PodTemplate>(),
             [](const api::body& object) -> const PodTemplateSpec* {
               return &static_cast<const api::core::v1::PodTemplate&>(object).template_();
             }},
  };
  return all;
}

const holder* find_holder(const api::kind_info& kind) {
  for (const auto& each : holders())
    if (each.kind == &kind) return &each;
  return nullptr;
}

}  // namespace

bool has_pod_template(const api::kind_info& kind) {
  return find_holder(kind) != nullptr;
}

const PodTemplateSpec* pod_template_of(const api::kind_info& kind, const api::body& object) {
  const auto* holder = find_holder(kind);
  return holder == nullptr ? nullptr : holder->find(object);
}

}  // namespace troupe::actors::pod_security
