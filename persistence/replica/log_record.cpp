#include "persistence/replica/log_record.hpp"

#include <spdlog/fmt/fmt.h>

#include <array>

#include "persistence/format/record.hpp"

namespace troupe::persistence {

namespace {

// Nothing when the kind is not known: its objects stay in the log, and are not seen here.
expected<std::optional<decided_change>> read_object(std::string key, std::string stored,
                                                    revision created, revision modified) {
  const auto kind = api::kind_of_stored(key, stored);
  if (!kind) return std::nullopt;
  auto object = api::object::from_storage(*kind, stored, modified);
  if (!object)
    return fail(errc::corrupt, fmt::format("{} of revision {} cannot be read: {}", key, modified,
                                           object.error().message));
  return decided_change{std::move(key), std::move(*object), std::move(stored), created};
}

}  // namespace

std::string session_key(std::string_view session) {
  return fmt::format("{}session/{}", own_prefix, session);
}

std::string cause_text(const cause_record& record) {
  const auto time =
      std::chrono::duration_cast<std::chrono::microseconds>(record.time.time_since_epoch());
  return fmt::format("{} {} {} {} {} {}", record.tag.session, record.tag.sequence,
                     record.cause.request, record.cause.trigger, time.count(), record.cause.author);
}

std::optional<cause_record> read_cause(std::string_view text) {
  const auto next = [&text]() -> std::optional<std::string_view> {
    const auto end = text.find(' ');
    if (end == text.npos) return std::nullopt;
    const auto word = text.substr(0, end);
    text.remove_prefix(end + 1);
    return word;
  };
  const auto session = next();
  if (!session || session->empty()) return std::nullopt;
  std::array<std::uint64_t, 4> numbers{};
  for (auto& each : numbers) {
    const auto word = next();
    const auto number = word ? read_number(*word) : std::nullopt;
    if (!number) return std::nullopt;
    each = *number;
  }
  return cause_record{{std::string{*session}, numbers[0]},
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
      found.leader = leader_change{each.created, each.value.value_or("")};
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
  return found;
}

expected<std::optional<decided_change>> read(log_item from) {
  if (std::string_view{from.key}.starts_with(own_prefix)) return std::nullopt;
  return read_object(std::move(from.key), std::move(from.value), from.created, from.modified);
}

}  // namespace troupe::persistence
