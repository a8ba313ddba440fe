#include "server/console/output/rendering.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/prettywriter.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <vector>

#include "api/values/text_parts.hpp"
#include "server/console/output/yaml_text.hpp"

namespace troupe::server {
namespace {

using rapidjson::Value;

constexpr std::string_view time_suffix = "Seconds";
constexpr std::string_view size_suffix = "Bytes";

std::string_view view(const Value& text) {
  return {text.GetString(), text.GetStringLength()};
}

std::string human_size(double bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && unit + 1 < std::size(units)) {
    bytes /= 1024;
    ++unit;
  }
  return unit == 0 ? fmt::format("{:.0f}B", bytes) : fmt::format("{:.1f}{}", bytes, units[unit]);
}

bool is_differences(const Value& value) {
  return value.IsArray() && !value.Empty() && value[0].IsObject() && value[0].HasMember("path");
}

// Such as "spec.replicas: 1 -> 3, spec.paused: -> true".
std::string differences_text(const Value& value) {
  std::string out;
  for (const auto& each : value.GetArray()) {
    out += (out.empty() ? "" : ", ") + std::string{view(each["path"])} + ":";
    if (each.HasMember("from")) out += " " + std::string{view(each["from"])};
    out += " ->";
    if (each.HasMember("to")) out += " " + std::string{view(each["to"])};
  }
  return out;
}

// The text of a cell; nested values are one line of JSON.
std::string cell(std::string_view name, const Value& value) {
  if (value.IsNull()) return "-";
  if (value.IsString()) return value.GetStringLength() == 0 ? "-" : std::string{view(value)};
  if (value.IsBool()) return value.GetBool() ? "yes" : "no";
  if (value.IsNumber() && name.ends_with(time_suffix)) return human_time(value.GetDouble());
  if (value.IsNumber() && name.ends_with(size_suffix)) return human_size(value.GetDouble());
  if (value.IsDouble()) return fmt::format("{:.4g}", value.GetDouble());
  if (is_differences(value)) return differences_text(value);
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer{buffer};
  value.Accept(writer);
  return buffer.GetString();
}

// The heading of "oldestSeconds" is "OLDEST", that of "lastError" "LAST-ERROR".
std::string heading(std::string_view name) {
  if (name.size() > time_suffix.size() && name.ends_with(time_suffix))
    name.remove_suffix(time_suffix.size());
  if (name.size() > size_suffix.size() && name.ends_with(size_suffix))
    name.remove_suffix(size_suffix.size());
  std::string out;
  for (const char c : name) {
    if (std::isupper(static_cast<unsigned char>(c)) != 0 && !out.empty()) out += '-';
    out += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  }
  return out;
}

bool is_table(const Value& value) {
  return value.IsArray() && !value.Empty() && value[0].IsObject();
}

// Counts characters, not bytes.
std::size_t width_of(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0) != 0x80;
  }));
}

void append_rows(std::string& out, const std::vector<std::vector<std::string>>& rows,
                 std::string_view indent) {
  std::vector<std::size_t> widths(rows.front().size());
  for (const auto& row : rows)
    for (std::size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max(widths[i], width_of(row[i]));
  for (const auto& row : rows) {
    std::string line{indent};
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += row[i];
      if (i + 1 < row.size()) line.append(widths[i] - width_of(row[i]) + 2, ' ');
    }
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + '\n';
  }
}

void append_table(std::string& out, const Value& table, std::string_view indent) {
  std::vector<std::vector<std::string>> rows;
  auto& head = rows.emplace_back();
  for (const auto& column : table[0].GetObject())
    if (view(column.name) != "depth") head.push_back(heading(view(column.name)));
  for (const auto& each : table.GetArray()) {
    auto& row = rows.emplace_back();
    std::size_t depth = 0;
    for (const auto& column : table[0].GetObject()) {
      const auto found = each.FindMember(column.name);
      if (view(column.name) == "depth") {
        if (found != each.MemberEnd()) depth = found->value.GetUint();
        continue;
      }
      auto text = found == each.MemberEnd() ? "-" : cell(view(column.name), found->value);
      row.push_back(row.empty() ? std::string(2 * depth, ' ') + text : text);
    }
  }
  append_rows(out, rows, indent);
}

void append_object(std::string& out, const Value& object) {
  std::vector<std::vector<std::string>> lines;
  for (const auto& member : object.GetObject()) {
    if (is_table(member.value) ||
        (member.value.IsString() && view(member.value).find('\n') != std::string_view::npos))
      continue;
    lines.push_back({heading(view(member.name)), cell(view(member.name), member.value)});
  }
  if (!lines.empty()) append_rows(out, lines, "");
  for (const auto& member : object.GetObject()) {
    const bool table = is_table(member.value);
    const bool block =
        member.value.IsString() && view(member.value).find('\n') != std::string_view::npos;
    if (!table && !block) continue;
    out += fmt::format("\n{}\n", heading(view(member.name)));
    if (table) {
      append_table(out, member.value, "  ");
      continue;
    }
    auto rest = view(member.value);
    while (!rest.empty())
      out += fmt::format("  {}\n", api::take_part(rest, '\n'));
  }
}

std::string text_of(const Value& value) {
  std::string out;
  if (is_table(value)) {
    append_table(out, value, "");
  } else if (value.IsArray()) {
    for (const auto& each : value.GetArray())
      out += cell({}, each) + '\n';
    if (value.Empty()) out = "nothing\n";
  } else if (value.IsObject()) {
    append_object(out, value);
  } else {
    out = cell({}, value) + '\n';
  }
  return out;
}

}  // namespace

std::optional<rendering> parse_rendering(std::string_view name) noexcept {
  if (name == "json") return rendering::json;
  if (name == "yaml") return rendering::yaml;
  if (name == "text") return rendering::text;
  return std::nullopt;
}

std::string_view content_type_of(rendering format) noexcept {
  switch (format) {
    case rendering::yaml:
      return "application/yaml";
    case rendering::text:
      return "text/plain; charset=utf-8";
    case rendering::json:
      break;
  }
  return "application/json";
}

std::string human_time(double seconds) {
  const auto size = std::abs(seconds);
  if (size == 0) return "0";
  if (size < 1e-6) return fmt::format("{:.0f}ns", seconds * 1e9);
  if (size < 1e-3) return fmt::format("{:.3g}us", seconds * 1e6);
  if (size < 1) return fmt::format("{:.3g}ms", seconds * 1e3);
  if (size < 60) return fmt::format("{:.3g}s", seconds);
  const auto whole_seconds = static_cast<std::int64_t>(seconds);
  if (size < 3'600) return fmt::format("{}m{}s", whole_seconds / 60, whole_seconds % 60);
  if (size < 86'400)
    return fmt::format("{}h{}m", whole_seconds / 3'600, whole_seconds % 3'600 / 60);
  return fmt::format("{}d{}h", whole_seconds / 86'400, whole_seconds % 86'400 / 3'600);
}

std::string render(std::string json, rendering format) {
  if (format == rendering::json) return json + '\n';
  rapidjson::Document document;
  document.Parse<rapidjson::kParseNanAndInfFlag>(json.data(), json.size());
  if (document.HasParseError()) return json;
  return format == rendering::yaml ? yaml_text(document) : text_of(document);
}

}  // namespace troupe::server
