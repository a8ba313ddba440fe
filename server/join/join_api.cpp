#include "server/join/join_api.hpp"

#include <spdlog/spdlog.h>

#include <algorithm>
#include <charconv>
#include <mutex>
#include <random>

#include "actors/access/node_identity.hpp"
#include "actors/core/store_error.hpp"
#include "actors/events/event_rules.hpp"
#include "actors/tokens/bootstrap_token.hpp"
#include "api/schema/core_config.pb.h"
#include "api/schema/core_node.pb.h"
#include "api/scheme.hpp"
#include "api/values/syntax.hpp"
#include "server/credentials/base64url.hpp"
#include "server/http/status.hpp"
#include "server/http/version.hpp"
#include "server/join/control_plane_bundle.hpp"
#include "server/join/defaults.hpp"
#include "server/join/flat_json.hpp"
#include "server/join/join_authorizer.hpp"
#include "server/join/membership.hpp"

namespace troupe::server {
namespace {

constexpr std::string_view cluster_path = "/troupe/v1/cluster";
constexpr std::string_view nodes_prefix = "/troupe/v1/nodes/";
constexpr std::string_view leave_suffix = "/leave";

response document(int status, const flat_json& json) {
  response answer;
  answer.status = status;
  answer.content_type = "application/json";
  answer.content.add(write_flat_json(json));
  return answer;
}

api::error conflict(const persistence::error& error, const std::string& node) {
  return actors::to_api_error(error, api::kind_of<api::core::v1::Node>(), node);
}

membership_requester asker_of(const request& request) {
  const auto node = node_of(*request.user);
  return {std::string{node}, node.empty() ? "" : request.connection->certificate_key_hash};
}

std::string joined(const std::vector<std::string>& names) {
  std::string text;
  for (const auto& name : names)
    text += (text.empty() ? "" : ",") + name;
  return text;
}

// The host of a Host header, with the brackets of an IPv6 address; empty if it is invalid.
std::string host_in(std::string_view header) {
  const auto end = header.starts_with('[') ? header.find(']') + 1 : header.find(':');
  const auto host = header.substr(0, end);
  const bool good = std::all_of(host.begin(), host.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '-' || c == '.' || c == ':' || c == '[' || c == ']';
  });
  return good ? std::string{host} : std::string{};
}

std::size_t length_of(const request& head) {
  std::size_t length = 0;
  const auto text = head.headers.get("content-length");
  std::from_chars(text.data(), text.data() + text.size(), length);
  return length;
}

// A request for a certificate: planned from a snapshot, committed, and planned again after a
// conflict.
struct admission {
  request_ptr request;
  responder answer;
  std::string node;
  std::string key_hash;
  membership_requester by;
  flat_json result;
  int left = join_defaults::write_attempts;
};
using admission_ptr = std::shared_ptr<admission>;

}  // namespace

struct join_api::impl : std::enable_shared_from_this<join_api::impl> {
  impl(rest_services& services, std::shared_ptr<const node_signer> signer, handler& next)
      : services{services}, signer{std::move(signer)}, next{next} {}

  bool take_place() {
    const std::lock_guard lock{mutex};
    return certificates.take(std::chrono::steady_clock::now());
  }

  join_addresses known_addresses() {
    const std::lock_guard lock{mutex};
    return addresses;
  }

  // The link's address for the requesting machine; empty if the link is not listening yet.
  std::string link_for(const request& request) {
    std::string link;
    {
      const std::lock_guard lock{mutex};
      link = link_address;
    }
    if (!link.starts_with(':')) return link;
    const auto host = host_in(request.headers.get("host"));
    return host.empty() ? std::string{} : host + link;
  }

  // -- certificates ---------------------------------------------------------------------------

  void certify(request_ptr request, responder answer) {
    auto read = read_certificate_request(std::move(request), answer);
    if (!read) return answer.respond(status_response(read.error()));
    try_once(*read);
  }

  api::expected<admission_ptr> read_certificate_request(request_ptr request, responder answer) {
    const auto body = read_flat_json(request->content);
    if (!body) return api::fail(api::bad_request("the body: " + body.error()));
    auto made = std::make_shared<admission>();
    made->node = member(*body, "nodeName");
    made->by = asker_of(*request);
    if (const auto wrong = api::check_dns_subdomain(made->node); !wrong.empty())
      return api::fail(api::bad_request("nodeName: " + wrong.front()));
    if (!made->by.node.empty() && made->by.node != made->node)
      return api::fail(api::forbidden(
          api::kind_of<api::core::v1::Node>(), made->node,
          "a node's certificate is renewed for its own name only, " + made->by.node));
    const auto csr = x509::read_request(member(*body, "certificateRequest"));
    if (!csr) return api::fail(api::bad_request("certificateRequest: " + csr.error()));
    made->key_hash = csr->key_hash;
    const auto link = link_for(*request);
    if (link.empty()) {
      auto busy = api::service_unavailable("the link for nodes does not listen yet; try again");
      busy.retry_after_seconds = 1;
      return api::fail(std::move(busy));
    }
    auto certificate =
        signer->certify(made->node, csr->public_key, std::chrono::system_clock::now());
    if (!certificate) return api::fail(api::internal(certificate.error()));
    made->result = {{"certificate", std::move(*certificate)},
                    {"certificateAuthority", signer->authority()},
                    {"linkAddress", link},
                    {"clusterId", services.plane.store().cluster_id()},
                    {"serverVersion", std::string{program_version()}}};
    made->request = std::move(request);
    made->answer = std::move(answer);
    return made;
  }

  void try_once(const admission_ptr& a) {
    std::mt19937_64 random{std::random_device{}()};
    auto planned = plan_admission(services.read(), a->node, a->key_hash, a->by,
                                  services.plane.system().time().wall_now(), random);
    if (!planned) return a->answer.respond(status_response(planned.error()));
    if (planned->mutations.empty()) return a->answer.respond(document(201, a->result));
    planned->cause = {a->request->id, 0, a->request->user->name};
    services.plane.commit(std::move(*planned), a->request->id,
                          [a, self = shared_from_this()](persistence::outcome result) {
                            if (!result) return self->try_again(a, result.error());
                            spdlog::info("server: node {} is admitted, asked by {} from {}",
                                         a->node, a->request->user->name,
                                         a->request->connection->peer);
                            a->answer.run([a] { a->answer.respond(document(201, a->result)); });
                          });
  }

  void try_again(const admission_ptr& a, const persistence::error& error) {
    const bool again = error.code == persistence::errc::conflict && --a->left > 0 &&
                       services.retries.post([a, self = shared_from_this()] { self->try_once(a); });
    if (again) return;
    a->answer.run([a, error] { a->answer.respond(status_response(conflict(error, a->node))); });
  }

  // -- control planes -------------------------------------------------------------------------

  void give_bundle(const request& request, const responder& answer) {
    const auto refuse = [&](const api::error& error) { answer.respond(status_response(error)); };
    const auto body = read_flat_json(request.content);
    if (!body) return refuse(api::bad_request("the body: " + body.error()));
    const auto node = member(*body, "nodeName");
    if (const auto wrong = api::check_dns_subdomain(node); !wrong.empty())
      return refuse(api::bad_request("nodeName: " + wrong.front()));
    if (!services.plane.store().is_shared())
      return refuse(
          api::bad_request("this cluster stores its state at its only control plane: a second one "
                           "needs a shared etcd "
                           "(docs/several-control-planes.md)"));
    const auto state = services.read();
    if (auto free = check_name_is_free(state, node); !free) return refuse(free.error());
    std::string_view id = request.user->name;
    id.remove_prefix(std::min(join_defaults::bootstrap_user.size(), id.size()));
    const auto& kind = api::kind_of<api::core::v1::Secret>();
    const auto found =
        state.find(kind.key(actors::bootstrap_token_namespace, bundle_secret_name(id)));
    const auto sealed = found ? sealed_bundle(found->as<api::core::v1::Secret>()) : std::string{};
    if (sealed.empty())
      return refuse(
          api::forbidden(kind, bundle_secret_name(id),
                         "this token makes no control planes: make one with troupe token create "
                         "--control-plane"));
    spdlog::info("server: control plane {} is given the keys of the cluster, asked by {} from {}",
                 node, request.user->name, request.connection->peer);
    answer.respond(document(
        200, {{"clusterId", services.plane.store().cluster_id()}, {"bundle", base64url(sealed)}}));
  }

  // -- leaving --------------------------------------------------------------------------------

  // It scans all pods, so it runs off the I/O threads.
  void leave(request_ptr request, responder answer) {
    const bool taken =
        services.retries.post([this, self = shared_from_this(), request = std::move(request),
                               answer] { step_out(*request, answer); });
    if (!taken)
      answer.respond(status_response(api::too_many_requests("the server is busy; try again", 1)));
  }

  // The leaving node: by its own certificate, or this machine's node by its administrator.
  membership_requester leaver(const request& request) {
    auto by = asker_of(request);
    const auto own = known_addresses().node;
    if (!by.node.empty() || own.empty() || request.path != leave_path(own)) return by;
    const auto found = services.read().find(api::kind_of<api::core::v1::Node>().key({}, own));
    return {own, found ? std::string{actors::node_key_hash(*found)} : std::string{}};
  }

  void step_out(const request& request, const responder& answer) {
    const auto by = leaver(request);
    if (by.node.empty())
      return answer.respond(status_response(
          api::bad_request("a node leaves by its own certificate; an administrator takes it out "
                           "with kubectl drain and kubectl delete node")));
    const auto body = read_flat_json(request.content.empty() ? "{}" : request.content);
    if (!body)
      return answer.respond(status_response(api::bad_request("the body: " + body.error())));
    auto step = plan_leave_step(services.read(), by, member(*body, "force") == "true");
    if (!step) return answer.respond(status_response(step.error()));
    for (auto& each : step->evictions) {
      each.cause.author = request.user->name;
      services.plane.evict(std::move(each), request.id,
                           [](const api::expected<api::object_ptr>&) {});
    }
    const flat_json json{{"state", step->gone ? "gone" : "leaving"},
                         {"left", std::to_string(step->left)},
                         {"pods", joined(step->pods)}};
    if (step->transaction.mutations.empty()) return answer.respond(document(200, json));
    step->transaction.cause = {request.id, 0, request.user->name};
    services.plane.commit(
        std::move(step->transaction), request.id,
        [answer, json, node = by.node, gone = step->gone](persistence::outcome result) {
          // The client repeats the request.
          answer.run([answer, json, node, gone, result = std::move(result)] {
            const bool later = !result && result.error().code == persistence::errc::conflict;
            if (!result && !later)
              return answer.respond(status_response(conflict(result.error(), node)));
            if (result && gone) spdlog::info("server: node {} has left", node);
            auto reply = json;
            if (later) reply["state"] = "leaving";
            answer.respond(document(200, reply));
          });
        });
  }

  // -- the cluster ----------------------------------------------------------------------------

  void show_cluster(const request& request, const responder& answer) {
    const auto addresses = known_addresses();
    const auto hash = x509::key_hash(signer->authority());
    answer.respond(document(200, {{"clusterId", services.plane.store().cluster_id()},
                                  {"nodeName", addresses.node},
                                  {"apiAddress", addresses.api},
                                  {"loopback", addresses.loopback ? "true" : "false"},
                                  {"linkAddress", link_for(request)},
                                  {"authorityHash", hash.value_or("")},
                                  {"etcdEndpoints", addresses.etcd_endpoints},
                                  {"etcdAuthority", addresses.etcd_authority},
                                  {"etcdCertificate", addresses.etcd_certificate},
                                  {"etcdKey", addresses.etcd_key},
                                  {"serverVersion", std::string{program_version()}}}));
  }

  rest_services& services;
  const std::shared_ptr<const node_signer> signer;
  handler& next;

  std::mutex mutex;
  join_addresses addresses;
  std::string link_address;
  actors::token_bucket certificates{
      join_defaults::certificate_burst,
      std::chrono::duration_cast<std::chrono::nanoseconds>(
          std::chrono::duration<double>{1 / join_defaults::certificates_per_second}),
      std::chrono::steady_clock::now()};
};

join_api::join_api(rest_services& services, std::shared_ptr<const node_signer> signer,
                   handler& next)
    : impl_{std::make_shared<impl>(services, std::move(signer), next)} {}
join_api::~join_api() = default;

void join_api::addresses(join_addresses addresses) {
  const std::lock_guard lock{impl_->mutex};
  impl_->addresses = std::move(addresses);
}

void join_api::link_address(std::string address) {
  const std::lock_guard lock{impl_->mutex};
  impl_->link_address = std::move(address);
}

std::optional<response> join_api::admit(request& head) {
  if (!head.path.starts_with(join_defaults::api_prefix)) return impl_->next.admit(head);
  if (length_of(head) > join_defaults::body_limit_bytes)
    return status_response(api::request_too_large("the request", join_defaults::body_limit_bytes));
  const bool joins = head.path == certificates_path || head.path == control_planes_path;
  if (joins && !impl_->take_place())
    return status_response(api::too_many_requests("too many machines join at once; try again", 1));
  return std::nullopt;
}

void join_api::serve(request_ptr request, responder answer) {
  const std::string_view path = request->path;
  if (!path.starts_with(join_defaults::api_prefix))
    return impl_->next.serve(std::move(request), std::move(answer));
  if (request->content.size() > join_defaults::body_limit_bytes)
    return answer.respond(
        status_response(api::request_too_large("the request", join_defaults::body_limit_bytes)));
  const bool posts = request->method == http_method::post;
  if (posts && path == certificates_path)
    return impl_->certify(std::move(request), std::move(answer));
  if (posts && path == control_planes_path) return impl_->give_bundle(*request, answer);
  if (posts && path.starts_with(nodes_prefix) && path.ends_with(leave_suffix))
    return impl_->leave(std::move(request), std::move(answer));
  if (!posts && path == cluster_path) return impl_->show_cluster(*request, answer);
  answer.respond(status_response(
      404, "NotFound",
      "there is no " + request->method_text + " " + request->path + ": see docs/joining.md"));
}

}  // namespace troupe::server
