#include "persistence/replica/log_record.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>

#include "api/storage/upstream_form.hpp"
#include "persistence/format/record.hpp"
#include "persistence/replica/defaults.hpp"

namespace troupe::persistence {

namespace {

// Returns nullopt for an unknown kind: its objects stay in the log and are invisible here.
expected<std::optional<decided_change>> read_object(std::string key, std::string stored,
                                                    revision created, revision modified) {
  const auto kind = api::kind_of_stored(key, stored);
  if (!kind) return std::nullopt;
  if (const auto by = api::find_encryption(stored))
    return fail(errc::corrupt,
                fmt::format("{} is encrypted (provider {}, key {}): kube-apiserver has to write it "
                            "without encryption first (provider identity)",
                            key, by->provider, by->key));
  auto object = api::object::from_storage(*kind, stored, modified);
  if (!object)
    return fail(errc::corrupt, fmt::format("{} of revision {} cannot be read: {}", key, modified,
                                           object.error().message));
  return decided_change{std::move(key), std::move(*object), std::move(stored), created};
}

// A hash, so that the number of keys is bounded: groups of one hash conflict without need.
std::string group_folder(std::string_view group) {
  std::uint32_t hash = 2166136261U;  // FNV-1a, the same in every version
  for (const unsigned char each : group)
    hash = (hash ^ each) * 16777619U;
  return fmt::format("{}{}/", group_prefix, hash % defaults::log_group_folders);
}

}  // namespace

std::string session_key(std::string_view member) {
  return fmt::format("{}session/{}", own_prefix, member);
}

std::string group_key(std::string_view group, std::string_view member) {
  return fmt::format("{}{}", group_folder(group), member);
}

std::vector<log_compare> group_compares(const serial_group& group, std::string_view member) {
  const auto folder = group_folder(group.name);
  const auto own = folder + std::string{member};
  auto end = folder;
  ++end.back();
  return {{folder, group.seen, false, own}, {own + '\0', group.seen, false, std::move(end)}};
}

std::string cause_text(const cause_record& record) {
  const auto time =
      std::chrono::duration_cast<std::chrono::microseconds>(record.time.time_since_epoch());
  return fmt::format("{} {} {} {} {} {}", record.tag.member, record.tag.sequence,
                     record.cause.request, record.cause.trigger, time.count(), record.cause.author);
}

std::string leader_text(const leader_record& record) {
  const auto since =
      std::chrono::duration_cast<std::chrono::microseconds>(record.since.time_since_epoch());
  return fmt::format("{} {} {}", record.node, record.candidate, since.count());
}

leader_record read_leader(revision term, std::string_view text) {
  const auto first = text.find(' ');
  const auto last = text.rfind(' ');
  const auto since = first < last ? read_number(text.substr(last + 1)) : std::nullopt;
  if (!since) return {term, std::string{text}, {}, {}};
  return {term, std::string{text.substr(0, first)},
          std::string{text.substr(first + 1, last - first - 1)},
          std::chrono::system_clock::time_point{std::chrono::microseconds{*since}}};
}

std::optional<cause_record> read_cause(std::string_view text) {
  const auto next = [&text]() -> std::optional<std::string_view> {
    const auto end = text.find(' ');
    if (end == text.npos) return std::nullopt;
    const auto word = text.substr(0, end);
    text.remove_prefix(end + 1);
    return word;
  };
  const auto member = next();
  if (!member || member->empty()) return std::nullopt;
  std::array<std::uint64_t, 4> numbers{};
  for (auto& each : numbers) {
    const auto word = next();
    const auto number = word ? read_number(*word) : std::nullopt;
    if (!number) return std::nullopt;
    each = *number;
  }
  return cause_record{{std::string{*member}, numbers[0]},
                      {numbers[1], numbers[2], std::string{text}},
                      std::chrono::system_clock::time_point{std::chrono::microseconds{numbers[3]}}};
}

expected<read_step> read(log_step from) {
  read_step found;
  found.step.at = from.at;
  for (auto& each : from.changes) {
    if (each.key == cause_key && each.value) {
      if (auto record = read_cause(*each.value)) {
        found.tag = std::move(record->tag);
        found.step.cause = std::move(record->cause);
        found.step.time = record->time;
      }
    } else if (each.key == leader_key) {
      found.leader = each.value ? read_leader(each.created, *each.value) : leader_record{};
    } else if (!each.key.starts_with(own_prefix)) {
      if (!each.value) {
        found.step.changes.push_back({std::move(each.key), nullptr, {}, 0});
        continue;
      }
      auto object = read_object(std::move(each.key), std::move(*each.value), each.created, from.at);
      if (!object) return fail(std::move(object.error()));
      if (*object) found.step.changes.push_back(std::move(**object));
    }
  }
  // When a lease expires, no transaction deletes the key.
  if (found.leader && found.leader->term == 0)
    found.leader->ended = found.tag ? term_end::resigned : term_end::expired;
  return found;
}

expected<std::optional<decided_change>> read(log_item from) {
  if (std::string_view{from.key}.starts_with(own_prefix)) return std::nullopt;
  return read_object(std::move(from.key), std::move(from.value), from.created, from.modified);
}

}  // namespace troupe::persistence
