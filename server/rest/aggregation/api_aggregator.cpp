#include "server/rest/aggregation/api_aggregator.hpp"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <functional>
#include <utility>

#include "actors/core/condition.hpp"
#include "actors/core/labels.hpp"
#include "actors/defaults.hpp"
#include "api/equality.hpp"
#include "api/schema/apiregistration_v1.pb.h"
#include "api/schema/core_service.pb.h"
#include "api/schema/discovery_v1.pb.h"
#include "api/scheme.hpp"
#include "runtime/actor_system.hpp"
#include "server/rest/aggregation/defaults.hpp"

namespace troupe::server {
namespace {

using api::apiregistration::v1::APIService;
using api::apiregistration::v1::APIServiceSpec;

constexpr const char* author = "system:kube-aggregator";
// kubernetes: kube-aggregator/pkg/controllers/openapi/aggregator, downloader.
constexpr const char* reader = "system:aggregator";

const APIServiceSpec& spec_of(const api::object_ptr& object) {
  return object->as<APIService>().spec();
}

std::string head_of(const aggregated_api& api, const std::string& path, const char* user,
                    const char* group) {
  return fmt::format(
      "GET {} HTTP/1.1\r\nhost: {}:{}\r\naccept: application/json\r\nuser-agent: troupe\r\n"
      "x-remote-user: {}\r\nx-remote-group: {}\r\nconnection: close\r\n\r\n",
      path, api.server_name(), api.port, user, group);
}

// Sends a user who may read everything (upstream: transport.SetAuthProxyHeaders in the check).
std::string check_head(const aggregated_api& api) {
  return head_of(api, api.path(), author, "system:masters");
}

}  // namespace

api_aggregator::api_aggregator(actors::core_actors core, std::shared_ptr<aggregation> shared)
    : informer{core.watcher}, core_{std::move(core)}, shared_{std::move(shared)} {}

const runtime::behavior& api_aggregator::make_behavior() const {
  static const auto table =
      runtime::handlers(&api_aggregator::on_watch_events, &api_aggregator::on_watch_ended,
                        &api_aggregator::on_checked, &api_aggregator::on_described);
  return table;
}

void api_aggregator::started() {
  follow(api::kind_of<APIService>().prefix(),
         [this](const actors::watch_events& m) { on_api_services(m); });
}

std::string api_aggregator::describe() const {
  std::string out;
  for (const auto& [name, each] : entries_)
    out += fmt::format("{}: {{available: {}, resources: {}, failures: {}}}\n", name,
                       each.api.available, each.discovered.resources.size(), each.failures);
  return out;
}

// -- changes --------------------------------------------------------------------------------------

void api_aggregator::on_api_services(const actors::watch_events& m) {
  for (const auto& event : m.events) {
    if (!event.object) continue;
    if (event.type == actors::event_type::deleted)
      remove(event.object->meta().name());
    else
      take(event.object);
  }
  known_ = known_ || m.synced;
  publish();
}

void api_aggregator::take(const api::object_ptr& object) {
  const auto& name = object->meta().name();
  auto& of = entries_[name];
  const bool same = of.object && of.object->meta().uid() == object->meta().uid() &&
                    api::same_meaning(spec_of(of.object), spec_of(object));
  of.object = object;
  if (same) return;
  const auto& spec = spec_of(object);
  of.incarnation = shared_->next_number();
  of.checking = of.again = false;
  of.failures = 0;
  of.shown.clear();
  of.described = nullptr;
  of.description_hash = 0;
  of.describe_next = {};
  of.api = {.group = spec.group(),
            .version = spec.version(),
            .ns = spec.service().namespace_(),
            .service = spec.service().name(),
            .port = spec.service().port()};
  // Nothing is known about the current server yet.
  of.discovered = {.group = spec.group(),
                   .version = spec.version(),
                   .group_priority = spec.group_priority_minimum(),
                   .version_priority = spec.version_priority(),
                   .stale = true};
  follow_service(name, of);
  begin_check(name);
}

void api_aggregator::follow_service(const std::string& name, entry& of) {
  for (auto* handle : {&of.service, &of.slices})
    if (*handle != 0) unfollow(std::exchange(*handle, 0));
  if (!spec_of(of.object).has_service()) return;
  const auto look = [this, name](const actors::watch_events& m) {
    if (m.synced && !m.events.empty()) begin_check(name);
  };
  of.service = follow(api::kind_of<api::core::v1::Service>().prefix(of.api.ns), look,
                      {.accept = [service = of.api.service](const api::object& object) {
                        return object.meta().name() == service;
                      }});
  of.slices = follow(api::kind_of<api::discovery::v1::EndpointSlice>().prefix(of.api.ns), look,
                     {.accept = [service = of.api.service](const api::object& object) {
                       return actors::label_of(object, "kubernetes.io/service-name") == service;
                     }});
}

void api_aggregator::remove(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  for (const auto handle : {found->second.service, found->second.slices})
    if (handle != 0) unfollow(handle);
  entries_.erase(found);
}

// -- checks ---------------------------------------------------------------------------------------

void api_aggregator::begin_check(const std::string& name) {
  const auto found = entries_.find(name);
  if (found == entries_.end()) return;
  auto& of = found->second;
  if (of.checking) {
    of.again = true;
    return;
  }
  if (const auto known = check_service(shared_->servers.read(), spec_of(of.object)))
    return settle(name, of, *known);
  const auto served = std::count_if(entries_.begin(), entries_.end(), [](const auto& each) {
    return spec_of(each.second.object).has_service();
  });
  if (static_cast<std::size_t>(served) > defaults::aggregated_apis && !of.api.available)
    return settle(
        name, of,
        {"False", "TooManyAPIServices",
         fmt::format("no more than {} are served by services", defaults::aggregated_apis)});
  prepare_tls(of);
  of.checking = true;
  of.attempt = 0;
  of.began = now();
  ask(name, of);
}

void api_aggregator::ask(const std::string& name, entry& of) {
  ++of.attempt;
  const auto turn = shared_->next_number();
  const auto target = shared_->servers.target(of.api, turn);
  auto url =
      fmt::format("https://{}{}", target ? target->host : of.api.server_name(), of.api.path());
  const auto done = [to = self(), name, incarnation = of.incarnation, url](fetch_result result) {
    to.tell(checked{name, incarnation, url, std::make_shared<fetch_result>(std::move(result))});
  };
  if (!target) return done(tl::make_unexpected(target.error()));
  if (!of.api.tls) return done(tl::make_unexpected(of.api.tls_problem));
  system().spawn(
      {.kind = "api-check", .name = fmt::format("{}/{}", name, turn), .restart = false},
      runtime::make<backend_fetch>(*target,
                                   fetch_request{.head = check_head(of.api),
                                                 .limit_bytes = defaults::resource_list_bytes,
                                                 .timeout = defaults::api_check_timeout},
                                   done));
}

void api_aggregator::on_checked(const checked& m) {
  const auto found = entries_.find(m.name);
  if (found == entries_.end() || found->second.incarnation != m.incarnation) return;
  auto& of = found->second;
  auto result = std::move(*m.result);
  if (result && (result->status < 200 || result->status > 299))
    result = tl::make_unexpected(fmt::format("bad status from {}: {}", m.url, result->status));
  // Another endpoint may be healthy.
  if (!result && of.attempt < defaults::api_check_attempts &&
      now() - of.began < defaults::api_check_limit && of.failures == 0)
    return ask(m.name, of);
  of.checking = false;
  if (!result) return settle(m.name, of, failed_check(m.url, result.error()));
  // A server with an invalid response is available, but adds nothing to discovery.
  auto resources = api::read_resource_list(result->body, of.api.group, of.api.version);
  of.discovered.stale = !resources;
  if (resources) of.discovered.resources = std::move(*resources);
  settle(m.name, of, passed());
  if (now() >= of.describe_next) ask_description(m.name, of);
}

void api_aggregator::ask_description(const std::string& name, entry& of) {
  of.describe_next = now() + defaults::openapi_period;
  const auto turn = shared_->next_number();
  const auto target = shared_->servers.target(of.api, turn);
  if (!target) return;
  const auto done = [to = self(), name, incarnation = of.incarnation](fetch_result result) {
    to.tell(described{name, incarnation, std::make_shared<fetch_result>(std::move(result))});
  };
  system().spawn(
      {.kind = "api-description", .name = fmt::format("{}/{}", name, turn), .restart = false},
      runtime::make<backend_fetch>(
          *target,
          fetch_request{.head = head_of(of.api, "/openapi/v2", reader, "system:authenticated"),
                        .limit_bytes = defaults::openapi_bytes,
                        .timeout = defaults::api_check_timeout},
          done));
}

// If the request fails or the document is invalid, the last valid document stays.
void api_aggregator::on_described(const described& m) {
  const auto found = entries_.find(m.name);
  if (found == entries_.end() || found->second.incarnation != m.incarnation) return;
  auto& of = found->second;
  const auto& result = *m.result;
  if (!result)
    return spdlog::info("APIService {}: its OpenAPI document was not read: {}", m.name,
                        result.error());
  if (result->status != 200) return;  // it need not have one
  const auto hash = std::hash<std::string>{}(result->body);
  if (std::exchange(of.description_hash, hash) == hash) return;
  auto read = api::read_openapi_v2(result->body, of.api.group, of.api.version);
  if (!read)
    return spdlog::info("APIService {}: its OpenAPI document is not used: {}", m.name,
                        read.error().message);
  if (of.described && *of.described == *read) return;
  of.described = std::make_shared<const api::foreign_openapi>(std::move(*read));
  publish();
}

void api_aggregator::settle(const std::string& name, entry& of, const api_condition& condition) {
  const bool remote = spec_of(of.object).has_service();
  of.api.available = remote && condition.status == "True";
  if (!of.api.available) of.discovered.stale = true;
  // Local APIServices are not published. A client that sees the condition finds the API so.
  if (remote) publish();
  write_condition(of.object, condition);
  if (!remote) return;
  of.failures = of.api.available ? 0 : of.failures + 1;
  runtime::duration wait = defaults::api_check_period;
  if (condition.reason == "FailedDiscoveryCheck")
    wait = std::min(wait, runtime::duration{defaults::api_check_first_retry} *
                              (1 << std::min(of.failures, 10)));
  if (std::exchange(of.again, false)) wait = runtime::duration{0};
  of.next = after(wait, [this, name] { begin_check(name); });
}

void api_aggregator::write_condition(const api::object_ptr& object,
                                     const api_condition& condition) {
  auto changed = object->copy_as<APIService>();
  if (!actors::set_condition(*changed->mutable_status()->mutable_conditions(),
                             {"Available", condition.status, condition.reason, condition.message},
                             wall_now()))
    return;
  auto key = object->kind().key({}, object->meta().name());
  auto transaction = std::make_shared<persistence::transaction>();
  transaction->preconditions.push_back({key, object->revision()});
  transaction->mutations.push_back({std::move(key), &object->kind(), std::move(changed)});
  transaction->cause.author = author;
  request<actors::commit_done>(
      core_.writer, actors::commit{std::move(transaction)}, actors::defaults::write_timeout,
      [this, name = object->meta().name()](const auto& answer) {
        const auto found = entries_.find(name);
        if ((answer && (*answer)->result) || found == entries_.end()) return;
        found->second.next = after(defaults::api_write_retry, [this, name] { begin_check(name); });
      });
}

void api_aggregator::prepare_tls(entry& of) {
  const auto front = shared_->servers.credentials().client;
  if (of.api.tls && of.shown == front.certificate) return;
  const auto& spec = spec_of(of.object);
  auto made = make_client_context(
      {.verify = !spec.insecure_skip_tls_verify(), .authority = spec.ca_bundle(), .shown = front});
  of.shown = front.certificate;
  of.api.tls = made ? std::move(*made) : nullptr;
  of.api.tls_problem = made ? std::string{} : made.error();
}

void api_aggregator::publish() {
  if (!known_) return;
  std::vector<aggregated_api_ptr> apis;
  api::foreign_versions discovered;
  api::foreign_openapis described;
  for (const auto& [name, each] : entries_) {
    const auto& spec = spec_of(each.object);
    if (!spec.has_service() || is_built_in(spec.group())) continue;
    apis.push_back(std::make_shared<aggregated_api>(each.api));
    discovered.push_back(each.discovered);
    if (each.described) described.push_back(each.described);
  }
  shared_->apis.publish(std::move(apis), discovered, described);
}

}  // namespace troupe::server
