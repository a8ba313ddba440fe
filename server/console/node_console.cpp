#include "server/console/node_console.hpp"

#include <fmt/format.h>

#include "runtime/worker_pool.hpp"
#include "server/console/console_request.hpp"
#include "server/console/control.hpp"
#include "server/console/sampler.hpp"
#include "server/console/trace.hpp"
#include "server/console/trace_reader.hpp"
#include "server/console/views.hpp"

namespace troupe::server {
namespace {

console_answer answer_to(const console_context& in, const console_question& what) {
  const auto mark = std::min(what.target.find('?'), what.target.size());
  const auto name = what.target.substr(0, mark);
  const query_string query{what.target.substr(std::min(mark + 1, what.target.size()))};
  if (what.changes) {
    if (!is_control_verb(name)) return console_failure(404, "a joined node has no order " + name);
    return rendered(control(in, name, query, {what.user, "the control plane"}), query);
  }
  if (name == "trace") return trace_page(in, query);
  const auto* found = view_called(name);
  if (found == nullptr) return console_failure(404, "the console has no " + name);
  if (found->of_cluster)
    return console_failure(404, "ask the control plane for " + name + ": " + in.node +
                                    " is a joined node and has no store");
  return rendered(found->show(in, query), query);
}

}  // namespace

struct node_console::impl {
  impl(runtime::system& company, std::string node)
      : samples{company, nullptr, nullptr}, context{company,  nullptr, std::move(node),
                                                    requests, samples, nullptr} {}

  request_log requests;
  sampler samples;
  const console_context context;
  // The last member: what it runs uses all the others.
  runtime::worker_pool pool{"console", defaults::console_threads, defaults::console_queue};
};

node_console::node_console(runtime::system& company, std::string node)
    : impl_{std::make_unique<impl>(company, std::move(node))} {}
node_console::~node_console() = default;

void node_console::ask(console_question what, other_nodes::answered done) {
  const auto answer = [in = &impl_->context, what = std::move(what), done] {
    if (what.target.size() > defaults::question_bytes)
      return done(console_failure(413, "the question is too long"));
    auto made = answer_to(*in, what);
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

void node_console::serve(request_ptr what, responder answer) {
  if (auto refused = refuse(*what)) return answer.respond(std::move(*refused));
  const auto& here = impl_->context.node;
  if (const auto node = what->query.get_or("node", here); node != here)
    return answer.respond(to_response(
        console_failure(404, fmt::format("this is {}, a joined node: ask the control plane for {}",
                                         here, node)),
        what->query));
  if (is_trace(what->path)) return start_trace(impl_->context, *what, answer);
  ask(question_of(*what), [what, answer](console_answer from) {
    answer.respond(to_response(std::move(from), what->query));
  });
}

}  // namespace troupe::server
