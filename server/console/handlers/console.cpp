#include "server/console/handlers/console.hpp"

#include <fmt/format.h>

#include "runtime/worker_pool.hpp"
#include "server/console/handlers/console_request.hpp"
#include "server/console/handlers/control.hpp"
#include "server/console/output/rendering.hpp"
#include "server/console/page/page.hpp"
#include "server/console/trace/trace.hpp"
#include "server/console/views/sampler.hpp"
#include "server/console/views/views.hpp"
#include "server/http/status.hpp"
#include "server/metrics/metrics.hpp"

namespace troupe::server {
namespace {

constexpr std::string_view metrics_path = "/metrics";

bool is_ours(std::string_view path) {
  return path == metrics_path || is_console_path(path);
}

}  // namespace

struct console::impl {
  impl(actors::control_plane& plane, handler& next, console_options options)
      : next{next},
        figures{plane},
        samples{plane.system(), &plane.store(), options.others},
        context{plane.system(), &plane,  std::move(options.node),
                requests,       samples, std::move(options.others)} {}

  // Calls `make` on a thread that may block.
  template <class F>
  void make_later(responder answer, F make) {
    const bool taken =
        pool.post([answer, make = std::move(make)]() mutable { answer.respond(make()); });
    if (!taken)
      answer.respond(status_response(
          api::too_many_requests("the console is busy: too many views are asked for at once", 1)));
  }

  void serve_api(request_ptr request, responder answer) {
    if (auto refused = refuse(*request)) return answer.respond(std::move(*refused));
    const auto name = view_name(*request);
    const bool changes = request->method == http_method::post;
    const auto node = request->query.get_or("node", context.node);
    if (!changes && name == "trace") return follow(node, request, answer);
    const auto* found = view_called(name);
    if (changes ? !is_control_verb(name) : found == nullptr)
      return answer.respond(no_such_path(request->path));
    // For `send`, `node` is the node to which a pod is bound; the cluster is the same on all nodes.
    const bool anywhere = changes ? name == "send" : found->scope == view_scope::cluster;
    if (!anywhere && node != context.node)
      return ask_other(node, request, answer, [request, answer](console_answer from) {
        answer.respond(to_response(std::move(from), request->query));
      });
    make_later(std::move(answer), [this, found, request = std::move(request)] {
      return to_response(rendered(request->method == http_method::post
                                      ? control(context, view_name(*request), request->query,
                                                requester_of(*request))
                                      : found->show(context, request->query),
                                  request->query),
                         request->query);
    });
  }

  void follow(const std::string& node, const request_ptr& request, const responder& answer) const {
    if (node == context.node) return start_trace(context, *request, answer);
    ask_other(node, request, answer, [this, node, request, answer](const console_answer& first) {
      start_far_trace(context, node, *request, first.body, answer);
    });
  }

  // Passes the answer of `node` to `then`; a failure is answered here.
  template <class F>
  void ask_other(const std::string& node, const request_ptr& request, const responder& answer,
                 F then) const {
    if (context.others == nullptr)
      return answer.respond(to_response(
          console_failure(404, "no node can join this one, so there is no link to " + node), {}));
    context.others->ask(node, question_of(*request), defaults::remote_limit, defaults::answer_bytes,
                        [request, answer, then = std::move(then)](console_answer from) {
                          if (from.status != 200)
                            return answer.respond(to_response(std::move(from), request->query));
                          then(std::move(from));
                        });
  }

  handler& next;
  metrics figures;
  request_log requests;
  sampler samples;
  const console_context context;
  // The last member: its tasks use all the others.
  runtime::worker_pool pool{"console", defaults::console_threads, defaults::console_queue};
};

console::console(actors::control_plane& plane, handler& next, console_options options)
    : impl_{std::make_unique<impl>(plane, next, std::move(options))} {}
console::~console() = default;

void console::observe(const request_record& record) {
  impl_->figures.observe(record);
  impl_->requests.observe(record);
}

void console::transport(std::function<http_stats()> from) {
  impl_->figures.transport(from);
  impl_->samples.transport(std::move(from));
}

void console::link_listener(std::function<runtime::link::listener_stats()> from) {
  impl_->figures.link_listener(std::move(from));
}

void console::refused(const refusal& refusal) {
  impl_->figures.refused(refusal);
}

std::optional<response> console::admit(request& head) {
  if (!is_ours(head.path)) return impl_->next.admit(head);
  if (is_trace(head.path)) head.long_running = true;
  return std::nullopt;
}

void console::serve(request_ptr request, responder answer) {
  if (!is_ours(request->path)) return impl_->next.serve(std::move(request), std::move(answer));
  if (request->path.starts_with(console_api_prefix))
    return impl_->serve_api(std::move(request), std::move(answer));
  if (auto page = console_page(request->path)) return answer.respond(std::move(*page));
  if (request->path != metrics_path) return answer.respond(no_such_path(request->path));
  impl_->make_later(std::move(answer), [this] {
    response text;
    text.content_type = metrics::content_type;
    text.content.add(impl_->figures.text());
    return text;
  });
}

}  // namespace troupe::server
