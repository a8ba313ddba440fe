#include "persistence/replica/cluster_record.hpp"

#include <spdlog/spdlog.h>

#include <map>
#include <utility>

#include "persistence/format/record.hpp"
#include "persistence/replica/defaults.hpp"

namespace troupe::persistence {

namespace {

using record_lines = std::map<std::string_view, std::string_view>;

std::optional<record_lines> lines_of(std::string_view text) {
  record_lines lines;
  while (!text.empty()) {
    const auto end = text.find('\n');
    if (end == text.npos) return std::nullopt;
    const auto line = text.substr(0, end);
    const auto blank = line.find(' ');
    if (blank == line.npos || !lines.emplace(line.substr(0, blank), line.substr(blank + 1)).second)
      return std::nullopt;
    text.remove_prefix(end + 1);
  }
  return lines;
}

// Removes the line, and returns its value; nullopt if there is none.
std::optional<std::string> take(record_lines& from, std::string_view word) {
  const auto line = from.extract(word);
  if (line.empty()) return std::nullopt;
  return std::string{line.mapped()};
}

std::optional<std::uint64_t> take_format(record_lines& from) {
  const auto line = take(from, "format");
  return line ? read_number(*line) : 1;
}

bool is_known(std::uint64_t format) {
  return format >= oldest_log_format && format <= newest_log_format;
}

// Why the text is no record that this program can use.
std::string problem_of(std::string_view text) {
  auto lines = lines_of(text);
  const auto format = lines ? take_format(*lines) : std::nullopt;
  if (!format || is_known(*format)) return fmt::format("is of another version of troupe: {}", text);
  return fmt::format(
      "has format {}, but this version of troupe serves formats {} to {}: use {} one", *format,
      oldest_log_format, newest_log_format, *format > newest_log_format ? "a newer" : "an older");
}

// Every control plane derives the same id from the same log: its number of 16 digits, in the form
// of a UUID.
std::string uuid_of(const std::string& identity) {
  if (identity.size() != 16) return identity;
  return fmt::format("{}-{}-4000-8000-{:0>12}", identity.substr(0, 8), identity.substr(8, 4),
                     identity.substr(12));
}

// The base of cluster_record::identity(); 0 if it has none.
revision base_of(std::string_view identity) {
  const auto plus = identity.rfind('+');
  return plus == identity.npos ? 0 : read_number(identity.substr(plus + 1)).value_or(0);
}

// The record to write; equal to `found` if nothing must be written.
expected<cluster_record> record_for(const std::optional<cluster_record>& found,
                                    const std::string& log, const log_copy& here) {
  if (!found) return cluster_record{uuid_of(log), log, 0, {}, true};
  if (!found->copied_from.empty())
    return fail(errc::invalid,
                fmt::format("it holds an incomplete state: repeat `troupe store copy` from {}",
                            found->copied_from));
  auto next = *found;
  const auto known = base_of(here.identity);
  const bool is_before = here.identity.starts_with(log + "+") &&
                         (known > next.base || (here.is_lost && known == next.base));
  if (found->log == log && !is_before) return next;
  next.log = log;
  // Above all that clients have seen, also if a state from before an earlier restore was restored.
  const auto behind = known > next.base ? known - next.base : 0;
  next.base += defaults::restore_gap * (1 + behind / defaults::restore_gap);
  return next;
}

expected<std::optional<cluster_record>> record_in(const std::optional<log_item>& item,
                                                  const blocking_log& log) {
  if (!item) return std::nullopt;
  auto found = read_cluster(item->value);
  if (!found)
    return fail(errc::invalid,
                fmt::format("{}: {} {}", log.name(), cluster_key, problem_of(item->value)));
  return found;
}

}  // namespace

std::string cluster_text(const cluster_record& record) {
  auto text = fmt::format("cluster {}\nlog {}\nbase {}\n", record.cluster, record.log, record.base);
  if (!record.copied_from.empty()) text += fmt::format("copied-from {}\n", record.copied_from);
  if (record.upstream_layout) text += "layout upstream\n";
  if (record.format != 1) text += fmt::format("format {}\n", record.format);
  return text + record.further;
}

std::optional<cluster_record> read_cluster(std::string_view text) {
  auto lines = lines_of(text);
  if (!lines) return std::nullopt;
  const auto format = take_format(*lines);
  if (!format || !is_known(*format)) return std::nullopt;
  const auto base = read_number(take(*lines, "base").value_or(""));
  if (!base) return std::nullopt;
  cluster_record found{take(*lines, "cluster").value_or(""), take(*lines, "log").value_or(""),
                       *base, take(*lines, "copied-from").value_or("")};
  const auto layout = take(*lines, "layout");
  if (layout && *layout != "upstream") return std::nullopt;
  found.upstream_layout = layout.has_value();
  found.format = *format;
  for (const auto& [word, value] : *lines)
    found.further += fmt::format("{} {}\n", word, value);
  if (found.cluster.empty() || found.log.empty()) return std::nullopt;
  return found;
}

expected<std::optional<cluster_record>> find_cluster(blocking_log& log) {
  const auto item = log.read(std::string{cluster_key});
  if (!item) return fail(item.error());
  return record_in(*item, log);
}

expected<cluster_record> join_cluster(blocking_log& log, const log_copy& here) {
  const auto identity = log.identity();
  if (!identity) return fail(identity.error());
  const std::string key{cluster_key};
  for (int i = 0; i < defaults::record_attempts; ++i) {
    auto item = log.read(key);
    if (!item) return fail(std::move(item.error()));
    auto known = record_in(*item, log);
    if (!known) return fail(std::move(known.error()));
    const auto& found = *known;
    auto next = record_for(found, *identity, here);
    if (!next)
      return fail(next.error().code, fmt::format("{}: {}", log.name(), next.error().message));
    if (found == *next) return next;
    if (found)
      spdlog::warn("store: {} was restored from a backup: revisions go on from {}", log.name(),
                   next->base);
    const auto modified = *item ? (*item)->modified : 0;
    const auto reply = log.submit({{{key, modified}}, {{key, cluster_text(*next)}}});
    if (!reply) return fail(reply.error());
    if (reply->result == log_answer::outcome::committed) return next;
  }
  return fail(errc::conflict, fmt::format("{}: other clients keep writing {}", log.name(), key));
}

}  // namespace troupe::persistence
