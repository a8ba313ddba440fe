#include "server/console/console.hpp"

#include <fmt/format.h>

#include "runtime/worker_pool.hpp"
#include "server/console/control.hpp"
#include "server/console/page.hpp"
#include "server/console/rendering.hpp"
#include "server/console/sampler.hpp"
#include "server/console/trace.hpp"
#include "server/console/views.hpp"
#include "server/metrics/metrics.hpp"
#include "server/status.hpp"

namespace troupe::server {
namespace {

constexpr std::string_view api_prefix = "/console/api/";
constexpr std::string_view metrics_path = "/metrics";
// What changes something needs it: no web page from elsewhere can send it.
constexpr std::string_view right_header = "x-troupe-control";

bool is_ours(std::string_view path) {
  return path == metrics_path || path == "/console" || path.starts_with("/console/");
}

response to_response(console_answer from, const query_string& query) {
  response made;
  made.status = from.status;
  const auto form = from.status == 200 ? parse_rendering(query.get_or("as", "json")) : std::nullopt;
  made.content_type = content_type_of(form.value_or(rendering::json));
  if (from.total) made.fields.push_back({"x-total-count", std::to_string(*from.total)});
  made.content.add(std::move(from.body));
  return made;
}

order_giver giver_of(const request& what) {
  return {what.user ? what.user->name : "?", what.connection ? what.connection->peer : "?",
          what.id};
}

response no_such_path(std::string_view path) {
  return status_response(404, "NotFound",
                         "the console has no " + std::string{path} + ": see docs/console.md");
}

}  // namespace

struct console::impl {
  impl(actors::control_plane& plane, handler& next, console_options options)
      : next{next},
        figures{plane},
        samples{plane.company(), &plane.truth(), options.others},
        context{plane.company(), &plane,  std::move(options.node),
                requests,        samples, std::move(options.others)} {}

  // Calls `make` on a thread that may be kept.
  template <class F>
  void make_later(responder answer, F make) {
    const bool taken =
        pool.post([answer, make = std::move(make)]() mutable { answer.respond(make()); });
    if (!taken)
      answer.respond(status_response(
          api::too_many_requests("the console is busy: too many views are asked for at once", 1)));
  }

  void serve_api(request_ptr what, responder answer) {
    const auto name = std::string_view{what->path}.substr(api_prefix.size());
    const bool changes = what->method == http_method::post;
    if (!changes && what->method != http_method::get)
      return answer.respond(
          status_response(405, "MethodNotAllowed", "GET shows, POST changes something"));
    if (changes && is_control_verb(name) && what->headers.get(right_header) != "allow")
      return answer.respond(
          status_response(403, "Forbidden",
                          fmt::format("{} changes something: attach with --allow-control", name)));
    const auto node = what->query.get_or("node", context.node);
    if (!changes && name == "trace") return follow(node, what, answer);
    const auto* found = view_called(name);
    if (changes ? !is_control_verb(name) : found == nullptr)
      return answer.respond(no_such_path(what->path));
    // Of `send` the node is what a pod is bound to; the cluster is the same from everywhere.
    const bool anywhere = changes ? name == "send" : found->of_cluster;
    if (!anywhere && node != context.node)
      return ask_other(node, what, answer, [what, answer](console_answer from) {
        answer.respond(to_response(std::move(from), what->query));
      });
    make_later(std::move(answer), [this, found, what = std::move(what)] {
      const auto verb = std::string_view{what->path}.substr(api_prefix.size());
      return to_response(rendered(what->method == http_method::post
                                      ? control(context, verb, what->query, giver_of(*what))
                                      : found->show(context, what->query),
                                  what->query),
                         what->query);
    });
  }

  void follow(const std::string& node, const request_ptr& what, const responder& answer) const {
    if (node == context.node) return start_trace(context, *what, answer);
    ask_other(node, what, answer, [this, node, what, answer](const console_answer& first) {
      start_far_trace(context, node, *what, first.body, answer);
    });
  }

  // Passes what `node` says to `then`; a failure is answered here.
  template <class F>
  void ask_other(const std::string& node, const request_ptr& what, const responder& answer,
                 F then) const {
    if (context.others == nullptr)
      return answer.respond(to_response(
          console_failure(404, "no node can join this one, so there is no link to " + node), {}));
    const auto name = std::string_view{what->path}.substr(api_prefix.size());
    context.others->ask(
        node,
        {target_of(name, what->query), what->method == http_method::post, giver_of(*what).user},
        defaults::remote_limit, defaults::answer_bytes,
        [what, answer, then = std::move(then)](console_answer from) {
          if (from.status != 200) return answer.respond(to_response(std::move(from), what->query));
          then(std::move(from));
        });
  }

  handler& next;
  metrics figures;
  request_log requests;
  sampler samples;
  const console_context context;
  // The last member: what it runs uses all the others.
  runtime::worker_pool pool{"console", defaults::console_threads, defaults::console_queue};
};

console::console(actors::control_plane& plane, handler& next, console_options options)
    : impl_{std::make_unique<impl>(plane, next, std::move(options))} {}
console::~console() = default;

void console::observe(const request_record& seen) {
  impl_->figures.observe(seen);
  impl_->requests.observe(seen);
}

void console::transport(std::function<http_stats()> from) {
  impl_->figures.transport(from);
  impl_->samples.transport(std::move(from));
}

std::optional<response> console::admit(request& head, std::shared_ptr<void>& permit) {
  if (!is_ours(head.path)) return impl_->next.admit(head, permit);
  if (head.path == "/console/api/trace") head.long_running = true;
  return std::nullopt;
}

void console::serve(request_ptr what, responder answer) {
  if (!is_ours(what->path)) return impl_->next.serve(std::move(what), std::move(answer));
  if (what->path.starts_with(api_prefix))
    return impl_->serve_api(std::move(what), std::move(answer));
  if (auto page = console_page(what->path)) return answer.respond(std::move(*page));
  if (what->path != metrics_path) return answer.respond(no_such_path(what->path));
  impl_->make_later(std::move(answer), [this] {
    response text;
    text.content_type = metrics::content_type;
    text.content.add(impl_->figures.text());
    return text;
  });
}

}  // namespace troupe::server
