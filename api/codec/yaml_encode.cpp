// Writes JSON events as YAML in block style: two spaces for each level, lists not indented below
// their key. A document of so many levels that this would make it far longer stays JSON.
#include <cstddef>
#include <vector>

#include "api/codec/codec.hpp"
#include "api/codec/json_sax.hpp"
#include "api/codec/yaml_scalar.hpp"
#include "api/limits.hpp"

namespace troupe::api {
namespace {

class yaml_writer {
 public:
  // Stops the parser when `out` has become longer than `limit_bytes`.
  yaml_writer(std::string& out, std::size_t limit_bytes) : out_(out), limit_bytes_{limit_bytes} {}

  bool scalar(scalar_kind kind, std::string_view text) {
    place();
    if (kind == scalar_kind::string)
      append_yaml_string(out_, text);
    else
      out_ += text;
    out_ += '\n';
    return fits();
  }

  bool key(std::string_view name) {
    container& now = open_.back();
    begin_line(now);
    append_yaml_string(out_, name);
    out_ += ':';
    return fits();
  }

  bool begin_object() { return begin(true); }
  bool begin_array() { return begin(false); }
  bool end_object() { return end("{}"); }
  bool end_array() { return end("[]"); }

 private:
  struct container {
    bool is_map;
    bool empty = true;
    std::size_t indent = 0;
    bool on_dash = false;  // the first line continues that of a list's dash
  };

  // Moves to the position of a value: after its key, or after a dash.
  void place() {
    if (open_.empty()) return;
    container& now = open_.back();
    if (!now.is_map) {
      begin_line(now);
      out_ += '-';
    }
    out_ += ' ';
  }

  // Begins a new entry of the container.
  void begin_line(container& now) {
    if (now.empty && !now.on_dash && !open_.empty() && !out_.empty() && out_.back() != '\n')
      out_ += '\n';
    if (!(now.empty && now.on_dash)) out_.append(now.indent, ' ');
    now.empty = false;
  }

  bool begin(bool is_map) {
    container next{is_map};
    if (!open_.empty()) {
      container& now = open_.back();
      if (now.is_map) {
        next.indent = is_map ? now.indent + 2 : now.indent;
      } else {
        begin_line(now);
        out_ += "- ";
        next.indent = now.indent + 2;
        next.on_dash = true;
      }
    }
    open_.push_back(next);
    return fits();
  }

  bool end(std::string_view nothing) {
    const container ended = open_.back();
    open_.pop_back();
    if (!ended.empty) return true;
    if (!ended.on_dash && !open_.empty()) out_ += ' ';
    out_ += nothing;
    out_ += '\n';
    return fits();
  }

  bool fits() const { return out_.size() <= limit_bytes_; }

  std::string& out_;
  const std::size_t limit_bytes_;
  std::vector<container> open_;
};

}  // namespace

std::string encode_yaml(const body& content, std::string_view api_version, std::string_view kind) {
  std::string json = encode_json(content, api_version, kind);
  std::string out;
  yaml_writer writer(out, limits::yaml_growth * json.size() + limits::yaml_least_bytes);
  // JSON is YAML, too.
  if (const auto problem = parse_json(json, writer); problem && problem->stopped)
    return encode_json(content, api_version, kind) + "\n";
  return out;
}

}  // namespace troupe::api
