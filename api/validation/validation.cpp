#include "api/validation/validation.hpp"

#include <google/protobuf/message.h>

#include "api/equality.hpp"
#include "api/kind_row.hpp"
#include "api/object/custom_body.hpp"
#include "api/object/object.hpp"
#include "api/validation/checks.hpp"
#include "api/version_rules.hpp"

namespace troupe::api {

using namespace validation;

namespace {

// Checks the schema of a custom kind.
void check_schema(field_errors& out, const kind_info& kind, const body& now, const body* was,
                  version_rules::part of) {
  if (kind.rules() == nullptr) return;
  kind.rules()->check(out, as_custom(now), was == nullptr ? nullptr : &as_custom(*was), of);
}

}  // namespace

std::vector<error_cause> validate_create(const kind_info& kind, const body& content) {
  field_errors out;
  check_meta(out, kind, meta_of(content));
  check_new_finalizers(out, kind, meta_of(content), nullptr);
  check_rules(out, content, true);
  if (const auto check = kind.row().check) check(out, content);
  if (const auto check = kind.row().check_create) check(out, content);
  check_schema(out, kind, content, nullptr, version_rules::part::object);
  return out.take();
}

std::vector<error_cause> validate_update(const kind_info& kind, const body& now, const body& was) {
  field_errors out;
  check_meta(out, kind, meta_of(now));
  check_meta_update(out, meta_of(now), meta_of(was));
  check_new_finalizers(out, kind, meta_of(now), &meta_of(was));
  check_rules(out, now, true);
  check_immutable(out, now, was);
  if (const auto check = kind.row().check) check(out, now);
  if (const auto check = kind.row().check_update) check(out, now, was);
  check_schema(out, kind, now, &was, version_rules::part::object);
  return out.take();
}

std::vector<error_cause> validate_status_update(const kind_info& kind, const body& now,
                                                const body& was) {
  field_errors out;
  check_meta(out, kind, meta_of(now));
  check_meta_update(out, meta_of(now), meta_of(was));
  check_new_finalizers(out, kind, meta_of(now), &meta_of(was));
  const auto* status = kind.type().FindFieldByName("status");
  if (status) {
    const auto step = out.at.field("status");
    check_rules(out, now.GetReflection()->GetMessage(now, status), false);
  }
  if (const auto check = kind.row().check_status) check(out, now, was);
  check_schema(out, kind, now, &was, version_rules::part::status);
  return out.take();
}

std::vector<error_cause> validate_ephemeral_containers(const body& now, const body& was) {
  field_errors out;
  const auto& spec = static_cast<const core::v1::Pod&>(now).spec();
  const auto& before = static_cast<const core::v1::Pod&>(was).spec();
  check_rules(out, now, true);
  const auto step = out.at.field("spec");
  check_ephemeral_containers(out, spec);
  for (const auto& old : before.ephemeral_containers()) {
    const auto& name = old.ephemeral_container_common().name();
    const core::v1::EphemeralContainer* successor = nullptr;
    for (const auto& one : spec.ephemeral_containers())
      if (one.ephemeral_container_common().name() == name) successor = &one;
    if (!successor)
      out.forbidden("ephemeralContainers",
                    "existing ephemeral containers " + quoted(name) + " may not be removed\n");
    else if (!same_meaning(*successor, old))
      out.forbidden("ephemeralContainers",
                    "existing ephemeral containers " + quoted(name) + " may not be changed\n");
  }
  return out.take();
}

std::vector<error_cause> validate_pod_resize(const body& now, const body& was) {
  field_errors out;
  const auto& pod = static_cast<const core::v1::Pod&>(now);
  check_rules(out, now, true);
  check(out, pod);
  check_pod_resize(out, pod, static_cast<const core::v1::Pod&>(was));
  return out.take();
}

std::vector<error_cause> validate_message(const google::protobuf::Message& message) {
  field_errors out;
  check_rules(out, message, false);
  return out.take();
}

}  // namespace troupe::api
