// The YAML source. yaml-cpp throws on invalid syntax: exceptions are caught only here.
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <system_error>

#include "config/nearest.hpp"
#include "config/sources.hpp"

namespace troupe::config {

namespace {

constexpr std::size_t max_file_bytes = 1 << 20;

std::string kind_of(const YAML::Node& node) {
  switch (node.Type()) {
    case YAML::NodeType::Sequence:
      return "a list";
    case YAML::NodeType::Map:
      return "a map";
    case YAML::NodeType::Scalar:
      return shown(node.Scalar());
    default:
      return "nothing";
  }
}

bool is_item(const YAML::Node& node) {
  return node.IsScalar() && node.Scalar().find_first_of(",=") == std::string::npos;
}

// The node in the text format of the environment; nullopt if it has another type.
std::optional<std::string> text_of(const YAML::Node& node, form wanted) {
  if (wanted != form::names && wanted != form::weights) {
    if (!node.IsScalar()) return std::nullopt;
    return node.Scalar();
  }
  if (wanted == form::names ? !node.IsSequence() : !node.IsMap()) return std::nullopt;
  std::string result;
  for (const auto& item : node) {
    if (!result.empty()) result += ',';
    if (wanted == form::names) {
      if (!is_item(item)) return std::nullopt;
      result += item.Scalar();
    } else {
      if (!is_item(item.first) || !is_item(item.second)) return std::nullopt;
      result += item.first.Scalar() + "=" + item.second.Scalar();
    }
  }
  return result;
}

// Names and yaml-cpp's messages may contain any text of the file.
std::string one_line(std::string text) {
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text;
}

class walker {
 public:
  walker(std::string file, std::span<const setting> rows) : file_(std::move(file)), rows_(rows) {
    for (const auto& row : rows_)
      known_.emplace(yaml_name(row), &row);
  }

  reading document(const YAML::Node& root) {
    if (!root.IsMap()) {
      complain(root, "expected a map of keys; found " + kind_of(root));
      return std::move(result_);
    }
    header(root, "apiVersion", api_version);
    header(root, "kind", kind);
    map(root, "");
    return std::move(result_);
  }

 private:
  void header(const YAML::Node& root, const std::string& key, std::string_view wanted) {
    const auto node = root[key];
    const auto found = node ? kind_of(node) : "nothing";
    if (found != shown(wanted)) {
      complain(node ? node : root, key + ": expected " + std::string(wanted) + "; found " + found);
    }
  }

  // Reads a map of keys with the prefix `group`, which is empty or ends in a dot.
  void map(const YAML::Node& node, const std::string& group) {
    for (const auto& entry : node) {
      if (!entry.first.IsScalar()) {
        complain(entry.first, "expected the name of a key; found " + kind_of(entry.first));
        continue;
      }
      const auto name = group + entry.first.Scalar();
      if (!first_time(entry.first, name)) continue;
      if (const auto it = known_.find(name); it != known_.end()) {
        assign(*it->second, entry.first, entry.second);
      } else if (group.empty() && is_group(name)) {
        open_group(name, entry.first, entry.second);
      } else if (name != "apiVersion" && name != "kind") {
        complain(entry.first, name + ": no key has this name" + suggestion(name, names()));
      }
    }
  }

  void open_group(const std::string& name, const YAML::Node& key, const YAML::Node& content) {
    if (content.IsMap()) {
      map(content, name + ".");
    } else if (!content.IsNull()) {
      complain(key, name + ": expected a map of keys; found " + kind_of(content));
    }
  }

  void assign(const setting& row, const YAML::Node& key, const YAML::Node& content) {
    if (auto text = text_of(content, row.at.form)) {
      result_.assignments.push_back({&row, *std::move(text), place(key)});
    } else {
      result_.problems.push_back(refusal(row, place(key), kind_of(content)));
    }
  }

  bool first_time(const YAML::Node& key, const std::string& name) {
    const auto line = key.Mark().line + 1;
    const auto [it, fresh] = lines_.emplace(name, line);
    if (!fresh) complain(key, name + ": given twice, first in line " + std::to_string(it->second));
    return fresh;
  }

  bool is_group(const std::string& name) const {
    const auto it = known_.lower_bound(name + ".");
    return it != known_.end() && it->first.starts_with(name + ".");
  }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, row] : known_)
      result.push_back(name);
    return result;
  }

  std::string place(const YAML::Node& at) const {
    return file_ + ":" + std::to_string(at.Mark().line + 1);
  }
  void complain(const YAML::Node& at, const std::string& problem) {
    result_.problems.push_back(place(at) + ": " + one_line(problem));
  }

  std::string file_;
  std::span<const setting> rows_;
  std::map<std::string, const setting*> known_;
  std::map<std::string, int> lines_;
  reading result_;
};

// An event handler that only counts documents.
class blind : public YAML::EventHandler {
 public:
  void OnDocumentStart(const YAML::Mark&) override {}
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

// yaml-cpp finds an endless number of empty documents in a text such as ",".
bool has_an_end(const std::string& text) {
  constexpr int documents_limit = 100;
  std::istringstream in(text);
  YAML::Parser parser(in);
  blind ignored;
  for (int documents = 0; parser.HandleNextDocument(ignored); ++documents)
    if (documents == documents_limit) return false;
  return true;
}

reading failed(std::string line) {
  return {{}, {std::move(line)}};
}

}  // namespace

reading read_yaml(const std::string& text, const std::string& file, std::span<const setting> rows) {
  try {
    if (!has_an_end(text)) return failed(file + ": expected one YAML document; found too many");
    const auto documents = YAML::LoadAll(text);
    if (documents.size() != 1) {
      return failed(file + ": expected one YAML document; found " +
                    std::to_string(documents.size()));
    }
    return walker(file, rows).document(documents.front());
  } catch (const YAML::Exception& e) {
    return failed(file + ":" + std::to_string(e.mark.line + 1) + ": not YAML: " + one_line(e.msg));
  }
}

reading read_file(const std::filesystem::path& file, std::span<const setting> rows) {
  const auto name = file.string();
  std::error_code failure;
  const auto size = std::filesystem::file_size(file, failure);
  if (failure) return failed(name + ": cannot read the config file: " + failure.message());
  if (size > max_file_bytes) return failed(name + ": larger than a config file may be, 1 MiB");
  std::ifstream in(file, std::ios::binary);
  std::string text(size, '\0');
  if (!in.read(text.data(), static_cast<std::streamsize>(size))) {
    return failed(name + ": cannot read the config file");
  }
  return read_yaml(text, name, rows);
}

}  // namespace troupe::config
