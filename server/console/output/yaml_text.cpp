#include "server/console/output/yaml_text.hpp"

#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <string_view>

namespace troupe::server {
namespace {

using rapidjson::Value;

// Every JSON scalar is valid YAML; a multi-line string becomes a block.
void append_scalar(std::string& out, const Value& value, std::size_t indent) {
  if (value.IsString()) {
    std::string_view text{value.GetString(), value.GetStringLength()};
    if (text.ends_with('\n') && text.size() > 1 && text.front() != ' ') {
      out += "|\n";
      while (!text.empty()) {
        const auto end = text.find('\n');
        out.append(indent, ' ').append(text.substr(0, end)) += '\n';
        text.remove_prefix(end + 1);
      }
      return;
    }
  }
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer> writer{buffer};
  value.Accept(writer);
  out.append(buffer.GetString(), buffer.GetSize()) += '\n';
}

bool is_block(const Value& value) {
  return (value.IsObject() && !value.ObjectEmpty()) || (value.IsArray() && !value.Empty());
}

// `started`: the line already has its indentation, after a dash.
void append(std::string& out, const Value& value, std::size_t indent, bool started) {
  if (!is_block(value)) return append_scalar(out, value, indent);
  if (value.IsArray()) {
    for (const auto& each : value.GetArray()) {
      if (!started) out.append(indent, ' ');
      started = false;
      out += "- ";
      append(out, each, indent + 2, true);
    }
    return;
  }
  for (const auto& member : value.GetObject()) {
    if (!started) out.append(indent, ' ');
    started = false;
    out.append(member.name.GetString(), member.name.GetStringLength()) += ':';
    if (is_block(member.value)) {
      out += '\n';
      append(out, member.value, indent + (member.value.IsArray() ? 0 : 2), false);
    } else {
      out += ' ';
      append_scalar(out, member.value, indent + 2);
    }
  }
}

}  // namespace

std::string yaml_text(const Value& value) {
  std::string out;
  append(out, value, 0, false);
  return out;
}

}  // namespace troupe::server
