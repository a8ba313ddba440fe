#include "server/console/console.hpp"

#include <fmt/format.h>

#include "runtime/worker_pool.hpp"
#include "server/console/console_request.hpp"
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

constexpr std::string_view metrics_path = "/metrics";

bool is_ours(std::string_view path) {
  return path == metrics_path || is_console_path(path);
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
    if (auto refused = refuse(*what)) return answer.respond(std::move(*refused));
    const auto name = view_name(*what);
    const bool changes = what->method == http_method::post;
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
      return to_response(
          rendered(what->method == http_method::post
                       ? control(context, view_name(*what), what->query, giver_of(*what))
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
    context.others->ask(node, question_of(*what), defaults::remote_limit, defaults::answer_bytes,
                        [what, answer, then = std::move(then)](console_answer from) {
                          if (from.status != 200)
                            return answer.respond(to_response(std::move(from), what->query));
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

void console::refused(const refusal& what) {
  impl_->figures.refused(what);
}

std::optional<response> console::admit(request& head) {
  if (!is_ours(head.path)) return impl_->next.admit(head);
  if (is_trace(head.path)) head.long_running = true;
  return std::nullopt;
}

void console::serve(request_ptr what, responder answer) {
  if (!is_ours(what->path)) return impl_->next.serve(std::move(what), std::move(answer));
  if (what->path.starts_with(console_api_prefix))
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
