#include "persistence/replica/adoption.hpp"

#include <spdlog/fmt/fmt.h>

#include "persistence/replica/defaults.hpp"
#include "persistence/replica/log_record.hpp"
#include "persistence/replica/upstream_log.hpp"

namespace troupe::persistence {

namespace {

std::string place_of(std::string_view key) {
  const auto first = key.find('/', 1);
  return std::string{key.substr(0, first == key.npos ? first : key.find('/', first + 1))};
}

void count_foreign(adoption& into, std::string_view key) {
  ++into.foreign_keys;
  auto place = place_of(key);
  if (into.foreign.size() < defaults::foreign_places || into.foreign.contains(place))
    ++into.foreign[std::move(place)];
}

}  // namespace

expected<adoption> examine(blocking_log& log) {
  upstream_log upstream{log.log(), {}};
  auto mapped = log.over(upstream);
  adoption found;
  log_page page;
  do {
    auto next = mapped.list({page.items.empty() ? std::string{} : page.items.back().key, page.at});
    if (!next) return fail(std::move(next.error()));
    page = std::move(*next);
    for (const auto& each : page.items) {
      auto object = read(each);
      if (!object)
        return fail(errc::invalid, fmt::format("{}: {}", log.name(), object.error().message));
      if (*object)
        ++found.objects;
      else
        count_foreign(found, each.key);
    }
  } while (page.more);
  return found;
}

}  // namespace troupe::persistence
