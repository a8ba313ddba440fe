#include "server/console/console.hpp"

#include <array>

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

struct named_view {
  std::string_view name;
  view show;
};

constexpr std::array<named_view, 14> views{{
    {"actors", &show_actors},
    {"actor", &show_actor},
    {"tree", &show_tree},
    {"names", &show_names},
    {"flow", &show_flow},
    {"top", &show_top},
    {"rates", &show_rates},
    {"warnings", &show_warnings},
    {"cluster", &show_cluster},
    {"watchers", &show_watchers},
    {"store", &show_store},
    {"log", &show_loggers},
    {"history", &show_history},
    {"why", &show_why},
}};

view view_called(std::string_view name) {
  for (const auto& each : views)
    if (each.name == name) return each.show;
  return nullptr;
}

bool is_ours(std::string_view path) {
  return path == metrics_path || path == "/console" || path.starts_with("/console/");
}

response rendered(view_result result, const query_string& query) {
  if (!result) return status_response(result.error());
  const auto form = parse_rendering(query.get_or("as", "json"));
  if (!form) return status_response(api::bad_request("as: one of json, yaml, text"));
  response answer;
  answer.content_type = content_type_of(*form);
  if (result->total) answer.fields.push_back({"x-total-count", std::to_string(*result->total)});
  answer.content.add(render(std::move(result->json), *form));
  return answer;
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
        samples{plane},
        context{plane, std::move(options.node), requests, samples,
                std::chrono::system_clock::now()} {}

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
    if (what->method == http_method::post) {
      if (!is_control_verb(name)) return answer.respond(no_such_path(what->path));
      return make_later(std::move(answer), [this, what = std::move(what)] {
        const auto verb = std::string_view{what->path}.substr(api_prefix.size());
        return rendered(control(context, verb, *what), what->query);
      });
    }
    if (what->method != http_method::get)
      return answer.respond(
          status_response(405, "MethodNotAllowed", "GET shows, POST changes something"));
    if (name == "trace") return start_trace(context, *what, answer);
    const auto show = view_called(name);
    if (show == nullptr) return answer.respond(no_such_path(what->path));
    make_later(std::move(answer), [this, show, what = std::move(what)] {
      return rendered(show(context, what->query), what->query);
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
