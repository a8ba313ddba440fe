#include "server/console/handlers/node_console.hpp"

#include <fmt/format.h>

#include "runtime/worker_pool.hpp"
#include "server/console/handlers/console_request.hpp"
#include "server/console/handlers/control.hpp"
#include "server/console/trace/trace.hpp"
#include "server/console/trace/trace_reader.hpp"
#include "server/console/views/sampler.hpp"
#include "server/console/views/views.hpp"
#include "server/metrics/metrics.hpp"

namespace troupe::server {
namespace {

console_answer answer_to(const console_context& context, const console_question& question) {
  const auto mark = std::min(question.target.find('?'), question.target.size());
  const auto name = question.target.substr(0, mark);
  const query_string query{question.target.substr(std::min(mark + 1, question.target.size()))};
  if (question.changes) {
    if (!is_control_verb(name)) return console_failure(404, "a joined node has no order " + name);
    return rendered(control(context, name, query, {question.user, "the control plane"}), query);
  }
  if (name == "trace") return trace_page(context, query);
  // Not a view: the control plane serves this text at nodes/NAME/proxy/metrics.
  if (name == "metrics") return {200, machine_metrics(), std::nullopt};
  const auto* found = view_called(name);
  if (found == nullptr) return console_failure(404, "the console has no " + name);
  if (found->scope == view_scope::cluster)
    return console_failure(404, "ask the control plane for " + name + ": " + context.node +
                                    " is a joined node and has no store");
  return rendered(found->show(context, query), query);
}

}  // namespace

struct node_console::impl {
  impl(runtime::actor_system& system, std::string node)
      : samples{system, nullptr, nullptr}, context{system,   nullptr, std::move(node),
                                                   requests, samples, nullptr} {}

  request_log requests;
  sampler samples;
  const console_context context;
  // The last member: its tasks use all the others.
  runtime::worker_pool pool{"console", defaults::console_threads, defaults::console_queue};
};

node_console::node_console(runtime::actor_system& system, std::string node)
    : impl_{std::make_unique<impl>(system, std::move(node))} {}
node_console::~node_console() = default;

void node_console::ask(console_question question, other_nodes::answered done) {
  const auto answer = [context = &impl_->context, question = std::move(question), done] {
    if (question.target.size() > defaults::question_bytes)
      return done(console_failure(413, "the question is too long"));
    auto made = answer_to(*context, question);
    if (made.body.size() > defaults::answer_bytes)
      made = console_failure(413, "the answer is too long: ask for fewer rows");
    done(std::move(made));
  };
  if (!impl_->pool.post(answer)) done(console_failure(429, "the node's console is busy"));
}

std::optional<response> node_console::admit(request& head) {
  if (!head.path.starts_with(console_api_prefix)) return no_such_path(head.path);
  head.long_running = is_trace(head.path);
  return std::nullopt;
}

void node_console::serve(request_ptr request, responder answer) {
  if (auto refused = refuse(*request)) return answer.respond(std::move(*refused));
  const auto& node_name = impl_->context.node;
  if (const auto node = request->query.get_or("node", node_name); node != node_name)
    return answer.respond(to_response(
        console_failure(404, fmt::format("this is {}, a joined node: ask the control plane for {}",
                                         node_name, node)),
        request->query));
  if (is_trace(request->path)) return start_trace(impl_->context, *request, answer);
  ask(question_of(*request), [request, answer](console_answer from) {
    answer.respond(to_response(std::move(from), request->query));
  });
}

}  // namespace troupe::server
