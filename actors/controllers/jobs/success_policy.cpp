#include "actors/controllers/jobs/success_policy.hpp"

namespace troupe::actors::jobs {

namespace {

bool is_met(const api::batch::v1::SuccessPolicyRule& rule, std::int32_t completions,
            const index_set& succeeded) {
  if (!rule.has_succeeded_indexes())
    return rule.has_succeeded_count() && succeeded.size() >= rule.succeeded_count();
  const auto required = index_set::parse(rule.succeeded_indexes(), completions);
  return rule.has_succeeded_count()
             ? succeeded.size_of_intersection(required) >= rule.succeeded_count()
             : succeeded.includes(required);
}

}  // namespace

std::optional<std::string> met_success_rule(const api::batch::v1::JobSpec& job,
                                            const index_set& succeeded) {
  if (!job.has_success_policy() || succeeded.empty()) return std::nullopt;
  const auto& rules = job.success_policy().rules();
  for (int i = 0; i < rules.size(); ++i)
    if (is_met(rules[i], job.completions(), succeeded))
      return "Matched rules at index " + std::to_string(i);
  return std::nullopt;
}

}  // namespace troupe::actors::jobs
