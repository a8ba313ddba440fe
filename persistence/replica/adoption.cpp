#include "persistence/replica/adoption.hpp"

#include <spdlog/fmt/fmt.h>

#include "api/codec/envelope.hpp"
#include "api/codec/wire.hpp"
#include "api/values/cidr.hpp"
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

// kubernetes: RangeAllocation, which holds the range and a bitmap of the addresses in use.
constexpr std::uint32_t range_field = 2;

bool is_service_range(std::string_view key) {
  return key == "/registry/ranges/serviceips" || key == "/registry/ranges/secondaryserviceips";
}

// Empty if it cannot be read.
std::string range_in(std::string_view stored) {
  const auto opened = api::open_envelope(stored);
  if (!opened) return {};
  api::wire::reader fields{opened->raw};
  for (api::wire::field each; fields.next(each);)
    if (each.number == range_field) return std::string{each.bytes};
  return {};
}

expected<void> check_range(adoption& into, const log_item& item,
                           const std::vector<std::string>& ours) {
  const auto text = range_in(item.value);
  const auto theirs = api::cidr::parse(text);
  if (!theirs) return fail(errc::invalid, fmt::format("{} cannot be read", item.key));
  for (const auto& each : ours) {
    const auto range = api::cidr::parse(each);
    if (!range || !range->contains(*theirs)) continue;
    if (range->prefix_bits() != theirs->prefix_bits()) into.narrower_ranges.push_back(text);
    return {};
  }
  return fail(errc::invalid,
              fmt::format("{}: Services there have addresses of {}, and here of {}: a cluster with "
                          "another range cannot be adopted",
                          item.key, text, fmt::join(ours, ", ")));
}

}  // namespace

expected<adoption> examine(blocking_log& log, const std::vector<std::string>& service_ranges) {
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
      if (*object) {
        ++found.objects;
        continue;
      }
      count_foreign(found, each.key);
      if (!is_service_range(each.key)) continue;
      if (const auto good = check_range(found, each, service_ranges); !good)
        return fail(errc::invalid, fmt::format("{}: {}", log.name(), good.error().message));
    }
  } while (page.more);
  return found;
}

}  // namespace troupe::persistence
