#include "server/rest/aggregation/metrics_client.hpp"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "runtime/actor_system.hpp"
#include "server/rest/aggregation/defaults.hpp"
#include "server/rest/aggregation/metric_requests.hpp"

namespace troupe::server {
namespace {

// Null if no server serves it.
aggregated_api_ptr server_of(const aggregated_apis& all, const actors::metric_query& query) {
  if (query.of == actors::metric_query::source::usage) return all.find("metrics.k8s.io", "v1beta1");
  if (query.of == actors::metric_query::source::external)
    return all.find("external.metrics.k8s.io", "v1beta1");
  // The client's order of preference.
  auto found = all.find("custom.metrics.k8s.io", "v1beta2");
  return found ? found : all.find("custom.metrics.k8s.io", "v1beta1");
}

// With the groups of every service account in kube-system.
std::string request_head(const aggregated_api& api, const std::string& target) {
  return fmt::format(
      "GET {} HTTP/1.1\r\nhost: {}:{}\r\naccept: application/json\r\nuser-agent: troupe\r\n"
      "x-remote-user: system:serviceaccount:kube-system:horizontal-pod-autoscaler\r\n"
      "x-remote-group: system:serviceaccounts\r\n"
      "x-remote-group: system:serviceaccounts:kube-system\r\n"
      "x-remote-group: system:authenticated\r\nconnection: close\r\n\r\n",
      target, api.server_name(), api.port);
}

}  // namespace

struct metrics_client::question {
  std::vector<actors::metric_query> queries;
  runtime::promise<actors::metrics_result> answer;
  actors::metrics_result told = {};
  std::size_t left = 0;
  const std::shared_ptr<std::size_t> under_way;  // of the actor instance that was asked
};

const runtime::behavior& metrics_client::make_behavior() const {
  static const auto table =
      runtime::handlers(&metrics_client::on_query_metrics, &metrics_client::on_fetched);
  return table;
}

std::string metrics_client::describe() const {
  return fmt::format("requests: {}\nunder way: {}\n", requests_, *under_way_);
}

void metrics_client::on_query_metrics(const actors::query_metrics& m,
                                      runtime::promise<actors::metrics_result> answer) {
  const auto made = std::make_shared<question>(
      question{m.queries, std::move(answer), {}, m.queries.size(), under_way_});
  made->told.answers.resize(m.queries.size(), tl::make_unexpected(std::string{}));
  if (m.queries.empty()) return made->answer.deliver(std::move(made->told));
  for (std::size_t place = 0; place < m.queries.size(); ++place)
    ask(made, place);
}

void metrics_client::ask(const std::shared_ptr<question>& of, std::size_t place) {
  const auto& query = of->queries[place];
  const auto api = server_of(shared_->apis, query);
  ++*under_way_;
  const auto done = [to = self(), of, place](fetch_result result) {
    to.tell(fetched{of, place, std::make_shared<fetch_result>(std::move(result))});
  };
  // No server serves it: an empty message.
  if (!api) return done(tl::make_unexpected(std::string{}));
  if (!api->available || !api->tls)
    return done(
        tl::make_unexpected(std::string{"the server is currently unable to handle the request"}));
  if (*under_way_ > defaults::metric_requests)
    return done(tl::make_unexpected(std::string{"too many queries are in progress"}));
  ++requests_;
  const auto number = shared_->next_number();
  const auto target = shared_->servers.target(*api, number);
  if (!target) return done(tl::make_unexpected(target.error()));
  system().spawn({.kind = "metrics-request", .name = std::to_string(number), .restart = false},
                 runtime::make<backend_fetch>(
                     *target,
                     fetch_request{.head = request_head(*api, metric_target(*api, query)),
                                   .limit_bytes = defaults::metrics_bytes,
                                   .timeout = defaults::metrics_timeout},
                     done));
}

void metrics_client::on_fetched(const fetched& m) {
  auto& question = *m.of;
  --*question.under_way;
  question.told.answers[m.place] = read_metrics(question.queries[m.place], *m.result);
  if (--question.left == 0) question.answer.deliver(std::move(question.told));
}

}  // namespace troupe::server
