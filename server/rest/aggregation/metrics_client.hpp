// Queries the metrics APIs for autoscalers (actors/core/metric_questions.hpp), as the user of
// upstream's autoscaler. It has no persistent state: a crash fails the queries under way.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "actors/core/metric_questions.hpp"
#include "runtime/actor.hpp"
#include "server/rest/aggregation/backends.hpp"
#include "server/rest/proxy/backend_fetch.hpp"

namespace troupe::server {

class metrics_client : public runtime::actor {
 public:
  explicit metrics_client(std::shared_ptr<aggregation> shared) : shared_{std::move(shared)} {}

  const runtime::behavior& make_behavior() const override;
  std::string describe() const override;

 private:
  struct question;
  struct fetched {
    std::shared_ptr<question> of;
    std::size_t place;
    std::shared_ptr<fetch_result> result;
  };

  void on_query_metrics(const actors::query_metrics& m,
                        runtime::promise<actors::metrics_result> answer);
  void on_fetched(const fetched& m);
  void ask(const std::shared_ptr<question>& of, std::size_t place);

  const std::shared_ptr<aggregation> shared_;
  // Shared with the questions, which may outlive this life of the actor.
  const std::shared_ptr<std::size_t> under_way_ = std::make_shared<std::size_t>(0);
  std::uint64_t requests_ = 0;
};

}  // namespace troupe::server
