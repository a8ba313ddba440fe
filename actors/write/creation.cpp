#include "actors/write/creation.hpp"

#include <utility>

#include "actors/write/pipeline.hpp"

namespace troupe::actors {

api::expected<persistence::transaction> create_transaction(const persistence::snapshot& state,
                                                           const api::kind_info& kind,
                                                           std::unique_ptr<api::body> content,
                                                           checks validation,
                                                           runtime::wall_time now,
                                                           std::mt19937_64& random) {
  const auto& chain = admission::built_in_chain();
  draft write{
      {.kind = &kind, .after = std::move(content), .validated = validation == checks::done_before},
      admission::controllers(),
      false,
      chain};
  auto plan = admit(write, {chain, state, now, random});
  if (!plan) return api::fail(std::move(plan.error()));
  return std::move(plan->transaction);
}

}  // namespace troupe::actors
