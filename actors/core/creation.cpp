#include "actors/core/creation.hpp"

#include <algorithm>

#include "actors/core/admission.hpp"
#include "actors/core/condition.hpp"
#include "api/schema/meta_object.pb.h"
#include "api/strategy/defaults.hpp"
#include "api/strategy/strategy.hpp"
#include "api/validation/validation.hpp"
#include "api/values/uid.hpp"

namespace troupe::actors {

api::expected<persistence::transaction> create_transaction(const persistence::snapshot& state,
                                                           const api::kind_info& kind,
                                                           std::unique_ptr<api::body> content,
                                                           checks validation,
                                                           runtime::wall_time now,
                                                           std::mt19937_64& random) {
  api::set_defaults(kind, *content);
  const auto uid = api::generated_uid(random);
  const api::random_bits draw = [&random] { return random(); };
  api::prepare_create(kind, *content, {.uid = uid, .now_seconds = seconds_of(now), .random = draw});
  auto conditions = admit_create(state, kind, *content);
  if (!conditions) return api::fail(std::move(conditions.error()));
  const auto& meta = api::meta_of(*content);
  if (validation == checks::all) {
    if (auto causes = api::validate_create(kind, *content); !causes.empty())
      return api::fail(api::invalid(kind, meta.name(), std::move(causes)));
  }

  persistence::transaction transaction;
  auto key = kind.key(meta.namespace_(), meta.name());
  transaction.preconditions.push_back({key, 0});
  std::move(conditions->begin(), conditions->end(), std::back_inserter(transaction.preconditions));
  transaction.mutations.push_back({std::move(key), &kind, std::move(content)});
  return transaction;
}

}  // namespace troupe::actors
