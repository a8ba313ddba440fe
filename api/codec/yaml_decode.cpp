// Converts YAML to JSON text, from the events of yaml-cpp without a tree: an alias is
// copied as text, within a limit, so a bomb of aliases costs no more than any other
// document.
#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <istream>
#include <streambuf>
#include <unordered_map>
#include <utility>

#include "api/codec/codec.hpp"
#include "api/codec/json_decode.hpp"
#include "api/codec/json_text.hpp"
#include "api/codec/yaml_scalar.hpp"

namespace troupe::api {
namespace {

// Thrown through yaml-cpp, which cannot be stopped in another way; caught in this file.
struct refused {
  std::string reason;
};

// Feeds the text to yaml-cpp and measures how much is read without an event. yaml-cpp buffers a
// whole flow collection, token by token, until it knows that it is not a key: three megabytes of
// "[" would cost seven hundred.
class watched_text final : public std::streambuf {
 public:
  explicit watched_text(std::string_view text) {
    char* begin = const_cast<char*>(text.data());  // never written: there is no output
    setg(begin, begin, begin + text.size());
  }

  void event() noexcept { marks_ = 0; }

 protected:
  std::streamsize xsgetn(char* to, std::streamsize size) override {
    const std::streamsize given = std::streambuf::xsgetn(to, size);
    marks_ += std::count_if(to, to + given,
                            [](char c) { return c == '[' || c == '{' || c == ',' || c == ':'; });
    if (marks_ > limits::yaml_flow_marks)
      throw refused{"a flow collection is too large: write it as JSON or line by line"};
    return given;
  }

 private:
  std::ptrdiff_t marks_ = 0;
};

class json_from_events final : public YAML::EventHandler {
 public:
  json_from_events(const decode_options& options, watched_text& source)
      : source_(source),
        alias_left_(options.size_limit_bytes),
        size_limit_(options.size_limit_bytes * limits::json_growth),
        depth_limit_(options.depth_limit) {}

  std::string take() { return std::exchange(out_, {}); }

  void OnDocumentStart(const YAML::Mark&) override { anchors_.clear(); }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    value(mark, anchor, wants_key() ? "\"null\"" : "null");
  }

  void OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                const std::string& text) override {
    std::string json;
    if (tag == "!" || tag == "tag:yaml.org,2002:str")
      append_json_string(json, text);
    else if (tag == "?" || tag.starts_with("tag:yaml.org,2002:"))
      json = plain_scalar_to_json(text);
    else
      stop(mark, "the tag " + quoted(tag) + " is not supported");
    if (wants_key() && text == "<<" && tag == "?")
      stop(mark, "merge keys (<<) are not supported: write the keys out");
    if (wants_key() && json.front() != '"') json = '"' + json + '"';
    value(mark, anchor, json);
  }

  void OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) override {
    const auto found = anchors_.find(anchor);
    if (found == anchors_.end()) stop(mark, "an alias stands within what it is an alias of");
    if (found->second.size > alias_left_) stop(mark, "document contains excessive aliasing");
    alias_left_ -= found->second.size;
    const std::string json = out_.substr(found->second.from, found->second.size);
    if (wants_key() && json.front() != '"') stop(mark, "a key must be a string");
    value(mark, YAML::NullAnchor, json);
  }

  void OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                       YAML::EmitterStyle::value) override {
    begin(mark, anchor, '[');
  }
  void OnSequenceEnd() override { end(']'); }

  void OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                  YAML::EmitterStyle::value) override {
    begin(mark, anchor, '{');
  }
  void OnMapEnd() override { end('}'); }

 private:
  struct container {
    bool is_map;
    bool key_next;
    std::size_t from;
    YAML::anchor_t anchor;
  };

  // A slice of `out_`.
  struct piece {
    std::size_t from;
    std::size_t size;
  };

  bool wants_key() const { return !open_.empty() && open_.back().key_next; }

  void value(const YAML::Mark& mark, YAML::anchor_t anchor, const std::string& json) {
    separate(mark);
    const std::size_t from = out_.size();
    out_ += json;
    done(from, anchor);
  }

  void begin(const YAML::Mark& mark, YAML::anchor_t anchor, char bracket) {
    if (wants_key()) stop(mark, "a key must be a string");
    if (open_.size() == depth_limit_) stop(mark, "exceeded max depth");
    separate(mark);
    open_.push_back({bracket == '{', bracket == '{', out_.size(), anchor});
    out_ += bracket;
  }

  void end(char bracket) {
    const container ended = open_.back();
    open_.pop_back();
    out_ += bracket;
    done(ended.from, ended.anchor);
  }

  void separate(const YAML::Mark& mark) {
    source_.event();
    if (out_.size() > size_limit_) stop(mark, "the document is too large");
    if (open_.empty()) return;
    const container& now = open_.back();
    if (now.is_map && !now.key_next)
      out_ += ':';
    else if (out_.size() != now.from + 1)
      out_ += ',';
  }

  void done(std::size_t from, YAML::anchor_t anchor) {
    if (anchor != YAML::NullAnchor) anchors_[anchor] = {from, out_.size() - from};
    // In a map, keys and values alternate.
    if (!open_.empty() && open_.back().is_map) open_.back().key_next = !open_.back().key_next;
  }

  [[noreturn]] void stop(const YAML::Mark& mark, const std::string& reason) const {
    throw refused{"line " + std::to_string(mark.line + 1) + ": " + reason};
  }

  watched_text& source_;
  std::string out_;
  std::vector<container> open_;
  std::unordered_map<YAML::anchor_t, piece> anchors_;
  std::size_t alias_left_;
  std::size_t size_limit_;
  std::size_t depth_limit_;
};

bool looks_like_json(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  return first != std::string_view::npos && (text[first] == '{' || text[first] == '[');
}

// yaml-cpp treats some of these as the end of the text.
bool has_control_characters(std::string_view text) {
  for (const char c : text)
    if (static_cast<unsigned char>(c) < 0x20 && c != '\t' && c != '\n' && c != '\r') return true;
  return false;
}

constexpr int documents_limit = 100;

std::string convert(std::string_view yaml, const decode_options& options) {
  watched_text source(yaml);
  std::istream in(&source);
  YAML::Parser parser(in);
  json_from_events events(options, source);
  parser.HandleNextDocument(events);
  std::string json = events.take();
  // yaml-cpp finds endless empty documents in a text such as ",".
  for (int documents = 1; parser.HandleNextDocument(events); ++documents) {
    if (documents == documents_limit) throw refused{"the text holds too many documents"};
    const std::string next = events.take();
    if (next.empty() || next == "null") continue;
    if (!json.empty() && json != "null")
      throw refused{"the text holds more than one document: send them one by one"};
    json = next;
  }
  return json.empty() ? "null" : json;
}

}  // namespace

expected<std::string> yaml_to_json(std::string_view yaml, const decode_options& options) {
  if (yaml.size() > options.size_limit_bytes)
    return fail(request_too_large("Request entity", options.size_limit_bytes));
  if (looks_like_json(yaml) && is_json(yaml, options.depth_limit)) return std::string(yaml);
  if (has_control_characters(yaml))
    return fail(bad_request("yaml: control characters are not allowed"));
  try {
    return convert(yaml, options);
  } catch (const refused& stop) {
    return fail(bad_request("yaml: " + stop.reason));
  } catch (const YAML::DeepRecursion& wrong) {
    return fail(
        bad_request("yaml: line " + std::to_string(wrong.mark.line + 1) + ": exceeded max depth"));
  } catch (const YAML::Exception& wrong) {
    return fail(
        bad_request("yaml: line " + std::to_string(wrong.mark.line + 1) + ": " + wrong.msg));
  }
}

}  // namespace troupe::api
