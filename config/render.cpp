#include "config/render.hpp"

#include <yaml-cpp/yaml.h>

namespace troupe::config {

namespace {

struct yaml_writer {
  YAML::Emitter& out;

  template <class T>
  void operator()(const T& plain) const {
    out << write(plain);
  }
  void operator()(const names& list) const { out << YAML::Flow << list; }
  void operator()(const weights& map) const { out << YAML::Flow << map; }
};

std::string group_of(const std::string& name) {
  const auto dot = name.find('.');
  return dot == std::string::npos ? std::string{} : name.substr(0, dot);
}

std::string_view own_name(const std::string& name) {
  const auto dot = name.find('.');
  return std::string_view(name).substr(dot == std::string::npos ? 0 : dot + 1);
}

void write_row(YAML::Emitter& out, const setting& row, const loaded_config& loaded) {
  const auto& source = loaded.sources.find(row.name)->second;
  const auto key = std::string(own_name(yaml_name(row)));
  if (row.secret) {
    out << YAML::Comment(key + ": not shown, from " + source);
    return;
  }
  out << YAML::Key << key << YAML::Value;
  std::visit(yaml_writer{out}, row.at.get(loaded.config));
  out << YAML::Comment(source);
}

}  // namespace

std::string render_yaml(const loaded_config& loaded, std::span<const setting> rows) {
  YAML::Emitter out;
  out << YAML::BeginMap;
  out << YAML::Key << "apiVersion" << YAML::Value << std::string(api_version);
  out << YAML::Key << "kind" << YAML::Value << std::string(kind);
  std::string group;
  for (const auto& row : rows) {
    if (const auto next = group_of(yaml_name(row)); next != group) {
      if (!group.empty()) out << YAML::EndMap;
      if (!next.empty()) out << YAML::Key << next << YAML::Value << YAML::BeginMap;
      group = next;
    }
    write_row(out, row, loaded);
  }
  if (!group.empty()) out << YAML::EndMap;
  out << YAML::EndMap;
  return std::string(out.c_str()) + "\n";
}

std::string default_text(const setting& row) {
  if (!row.derived.empty()) return std::string(row.derived);
  if (row.secret) return "none";
  const auto text = write(row.at.get(node_config{}));
  return text.empty() ? "none" : text;
}

std::string render_docs(std::span<const setting> rows) {
  std::string result =
      "# Configuration\n\n"
      "Made by `troupe config docs` from `config/table.cpp`.\n\n"
      "A value comes from the default, the file that `--config` or `TROUPE_CONFIG` names, the\n"
      "environment, or a flag; a later one wins. `troupe config print` shows what is in force and\n"
      "where it is from. The file is YAML:\n\n"
      "```yaml\napiVersion: " +
      std::string(api_version) + "\nkind: " + std::string(kind) +
      "\nserver:\n  listen: 127.0.0.1:6443\n```\n";
  std::string group = "none";
  for (const auto& row : rows) {
    if (const auto next = group_of(yaml_name(row)); next != group) {
      result += "\n## " + (next.empty() ? "Node" : next) + "\n";
      group = next;
    }
    result += "\n### " + yaml_name(row) + "\n\n" + std::string(row.about) + "\n\n";
    result += "- flag `--" + flag_name(row) + "`, environment `" + environment_name(row) + "`\n";
    result += "- " + expected_form(row) +
              (row.at.form == form::count ? " (" + std::string(row.unit) + ")" : "") + "\n";
    result += "- default: " + default_text(row) + "\n";
    if (row.secret) result += "- secret: never printed\n";
  }
  return result;
}

}  // namespace troupe::config
