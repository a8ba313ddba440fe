#include "actors/access/rule_table.hpp"

#include <algorithm>

#include "actors/access/defaults.hpp"
#include "actors/access/text_hash.hpp"

namespace troupe::actors::access {
namespace {

constexpr std::string_view end = "\n";
constexpr std::string_view all = "*";

std::size_t places_for(const PolicyRule& rule) {
  const auto size = [](const auto& list) { return static_cast<std::size_t>(list.size()); };
  const auto names = std::max<std::size_t>(size(rule.resource_names()), 1);
  std::size_t out = 1;
  for (const auto factor :
       {size(rule.verbs()), size(rule.api_groups()), size(rule.resources()), names})
    if (out *= factor; out > defaults::table_places) return out;
  return out;
}

void put(rule_table::numbers& into, std::uint32_t role) {
  if (into.empty() || into.back() != role) into.push_back(role);
}

}  // namespace

void rule_table::add(std::uint32_t role, const rule_list& rules) {
  std::size_t places = 0;
  for (const auto& rule : rules)
    if (places += places_for(rule); used_ + places > defaults::table_places)
      return always_.push_back(role);
  used_ += places;
  for (const auto& rule : rules) {
    if (!rule.non_resource_ur_ls().empty()) put(with_paths_, role);
    for (const auto& verb : rule.verbs())
      for (const auto& group : rule.api_groups())
        for (const auto& resource : rule.resources()) {
          const auto hash =
              text_hash{}.add(verb).add(end).add(group).add(end).add(resource).add(end);
          if (rule.resource_names().empty()) put(places_[hash.value()], role);
          for (const auto& name : rule.resource_names())
            put(places_[(name.empty() ? hash : text_hash{hash}.add(name).add(end)).value()], role);
        }
  }
}

std::size_t rule_table::places_of(const attempt& attempt, place_list& into) {
  std::size_t count = 0;
  const auto add_names = [&](text_hash hash) {
    into[count++] = hash.add(end).value();
    if (!attempt.name.empty()) into[count++] = hash.add(attempt.name).add(end).value();
  };
  for (const auto verb : {attempt.verb, all})
    for (const auto group : {attempt.group, all}) {
      const auto hash = text_hash{}.add(verb).add(end).add(group).add(end);
      add_names(text_hash{hash}.add(all));
      auto resource = text_hash{hash}.add(attempt.resource);
      if (!attempt.subresource.empty()) {
        resource.add("/").add(attempt.subresource);
        add_names(text_hash{hash}.add("*/").add(attempt.subresource));
      }
      add_names(resource);
    }
  return count;
}

}  // namespace troupe::actors::access
