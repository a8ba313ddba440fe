#include "actors/creation.hpp"

#include <algorithm>

#include "actors/admission.hpp"
#include "api/defaults.hpp"
#include "api/naming.hpp"
#include "api/schema/meta_object.pb.h"

namespace troupe::actors {

api::expected<persistence::transaction> create_transaction(const persistence::snapshot& state,
                                                           const api::kind_info& kind,
                                                           std::unique_ptr<api::body> content,
                                                           runtime::wall_time now,
                                                           std::mt19937_64& random) {
  auto& meta = api::meta_of(*content);
  if (meta.name().empty()) meta.set_name(api::generated_name(meta.generate_name(), random));
  meta.set_uid(api::generated_uid(random));
  meta.set_generation(1);
  const auto seconds =
      std::chrono::duration_cast<std::chrono::seconds>(now.time_since_epoch()).count();
  meta.mutable_creation_timestamp()->set_seconds(seconds);
  api::set_defaults(kind, *content);
  auto conditions = admit_create(state, kind, *content);
  if (!conditions) return api::fail(std::move(conditions.error()));

  persistence::transaction what;
  auto key = kind.key(meta.namespace_(), meta.name());
  what.preconditions.push_back({key, 0});
  std::move(conditions->begin(), conditions->end(), std::back_inserter(what.preconditions));
  what.mutations.push_back({std::move(key), &kind, std::move(content)});
  return what;
}

}  // namespace troupe::actors
