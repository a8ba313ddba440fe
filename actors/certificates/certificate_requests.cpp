#include "actors/certificates/certificate_requests.hpp"

#include <spdlog/fmt/fmt.h>

#include <utility>
#include <vector>

#include "actors/access/held_rules.hpp"
#include "actors/certificates/defaults.hpp"
#include "actors/core/condition.hpp"
#include "actors/core/log.hpp"
#include "actors/defaults.hpp"
#include "api/scheme.hpp"

namespace troupe::actors::certificates {
namespace {

constexpr const char* author = "certificate-controller";

bool has(const CertificateSigningRequest& request, std::string_view type) {
  return find_condition(request.status().conditions(), type) != nullptr;
}

}  // namespace

certificate_requests::certificate_requests(const persistence::store* store, core_actors core,
                                           std::shared_ptr<const certificate_issuer> issuer)
    : informer{core.watcher}, store_{store}, core_{std::move(core)}, issuer_{std::move(issuer)} {}

const runtime::behavior& certificate_requests::make_behavior() const {
  static const auto table = runtime::handlers(&certificate_requests::on_watch_events,
                                              &certificate_requests::on_watch_ended);
  return table;
}

void certificate_requests::started() {
  follow(api::kind_of<CertificateSigningRequest>().prefix(),
         [this](const watch_events& m) { on_requests(m); });
}

std::string certificate_requests::describe() const {
  return fmt::format("requests: {}\nbeing written: {}\n", requests_.size(), under_way_.size());
}

// -- messages from the watcher --------------------------------------------------------------------

void certificate_requests::on_requests(const watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    const auto& name = event.object->meta().name();
    if (event.type == event_type::deleted)
      requests_.erase(name);
    else
      requests_[name] = event.object;
    if (complete_) sync(name);
  }
  if (!m.synced || std::exchange(complete_, true)) return;
  for (const auto& [name, request] : requests_)
    sync(name);
  clean();
}

// -- one request ----------------------------------------------------------------------------------

void certificate_requests::sync(const std::string& name) {
  const auto found = requests_.find(name);
  if (found == requests_.end() || under_way_.contains(name)) return;
  const auto& request = found->second->as<CertificateSigningRequest>();
  if (request.metadata().has_deletion_timestamp() || has(request, "Denied") ||
      has(request, "Failed") || !request.status().certificate().empty() ||
      !is_signed_here(request.spec().signer_name()))
    return;
  if (has(request, "Approved")) return sign(found->second);
  approve(found->second);
}

void certificate_requests::approve(const api::object_ptr& object) {
  const auto& spec = object->as<CertificateSigningRequest>().spec();
  const auto facts = read_request(spec.request());
  if (!facts) return;
  for (const auto subresource : approved_by(spec, *facts))
    if (may_ask(spec, subresource))
      return add_condition(object, "Approved", "AutoApproved",
                           fmt::format("Auto approving {}kubelet client certificate after "
                                       "SubjectAccessReview.",
                                       subresource == "selfnodeclient" ? "self " : ""));
}

bool certificate_requests::may_ask(const CertificateSigningRequestSpec& spec,
                                   std::string_view subresource) const {
  const std::vector<std::string> groups{spec.groups().begin(), spec.groups().end()};
  const auto held = access::find_held_rules(store_->read(), {spec.username(), groups}, {});
  return held.allow({.verb = "create",
                     .group = "certificates.k8s.io",
                     .resource = "certificatesigningrequests",
                     .subresource = subresource});
}

void certificate_requests::sign(const api::object_ptr& object) {
  if (!issuer_) return;
  if (!issuer_->is_ready()) return recheck();
  const auto& request = object->as<CertificateSigningRequest>();
  const auto& spec = request.spec();
  const auto facts = read_request(spec.request());
  const auto fault = facts ? find_fault(spec, *facts) : facts.error();
  if (!fault.empty()) return add_condition(object, "Failed", "SignerValidationFailure", fault);
  const auto lifetime = lifetime_of(spec, wall_now());
  auto certificate = issuer_->certify({.request = spec.request(),
                                       .usages = {spec.usages().begin(), spec.usages().end()},
                                       .from = lifetime.from,
                                       .until = lifetime.until});
  if (!certificate)
    return add_condition(object, "Failed", "SignerValidationFailure", certificate.error());
  auto changed = request.status();
  changed.set_certificate(std::move(*certificate));
  write(object, std::move(changed));
}

void certificate_requests::add_condition(const api::object_ptr& object, std::string_view type,
                                         std::string_view reason, const std::string& message) {
  auto changed = object->as<CertificateSigningRequest>().status();
  auto& condition = *changed.add_conditions();
  condition.set_type(std::string{type});
  condition.set_status("True");
  condition.set_reason(std::string{reason});
  condition.set_message(message);
  condition.mutable_last_update_time()->set_seconds(seconds_of(wall_now()));
  condition.mutable_last_transition_time()->set_seconds(seconds_of(wall_now()));
  write(object, std::move(changed));
}

void certificate_requests::write(const api::object_ptr& object, status changed) {
  const auto name = object->meta().name();
  under_way_.insert(name);
  auto content = object->copy_as<CertificateSigningRequest>();
  *content->mutable_status() = std::move(changed);
  auto key = object->kind().key({}, name);
  auto transaction = std::make_shared<persistence::transaction>();
  transaction->preconditions.push_back({key, object->revision()});
  transaction->mutations.push_back({std::move(key), &object->kind(), std::move(content)});
  transaction->cause.author = author;
  transaction->cause.trigger = object->revision();
  request<commit_done>(
      core_.writer, commit{std::move(transaction)}, actors::defaults::write_timeout,
      [this, name](const tl::expected<const commit_done*, runtime::request_error>& answer) {
        under_way_.erase(name);
        // Changes meanwhile arrived by the stream but were skipped.
        if (answer && (*answer)->result) {
          const auto found = requests_.find(name);
          if (found != requests_.end() && found->second->revision() >= (*answer)->result->at)
            sync(name);
          return;
        }
        log().info("certificate signing request {}: the write failed, retrying", name);
        recheck();
      });
}

void certificate_requests::recheck() {
  again_ = after(defaults::retry, [this] {
    for (const auto& [name, request] : requests_)
      sync(name);
  });
}

// -- outdated requests --------------------------------------------------------------------------

void certificate_requests::clean() {
  const auto now = wall_now();
  for (const auto& [name, object] : requests_)
    if (is_outdated(object->as<CertificateSigningRequest>(), now))
      tell(core_.writer, remove{.key = object->kind().key({}, name),
                                .at = object->revision(),
                                .cause = {.author = author}});
  cleaning_ = after(defaults::sweep, [this] { clean(); });
}

}  // namespace troupe::actors::certificates
