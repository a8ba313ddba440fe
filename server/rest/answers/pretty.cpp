#include "server/rest/answers/pretty.hpp"

#include <algorithm>
#include <memory>
#include <utility>

#include "server/http/body_reader.hpp"
#include "server/rest/defaults.hpp"

namespace troupe::server {
namespace {

constexpr std::size_t indent = 2;

void new_line(std::string& out, std::size_t depth) {
  out += '\n';
  out.append(std::min(depth, defaults::pretty_depth) * indent, ' ');
}

// The source of an indented body.
class pretty_stream {
 public:
  explicit pretty_stream(body source) : source_{std::move(source)} {}

  // Indents the next part; returns false after the last one.
  bool add(body& to) {
    std::string out;
    const bool more = source_.read(defaults::pretty_part,
                                   [&](std::string_view part) { printer_.append(out, part); });
    if (!more) out += '\n';
    to.add(std::string_view{out});
    return more;
  }

 private:
  body_reader source_;
  pretty_printer printer_;
};

}  // namespace

body pretty_body(body json) {
  const auto stream = std::make_shared<pretty_stream>(std::move(json));
  body out;
  if (stream->add(out)) out.continue_with([stream](body& to) { return stream->add(to); });
  return out;
}

void pretty_printer::append(std::string& out, std::string_view part) {
  for (std::size_t i = 0; i < part.size();) {
    if (in_string_) {
      i = append_string(out, part, i);
      continue;
    }
    const char c = part[i++];
    const bool closes = c == '}' || c == ']';
    if (closes) --depth_;
    if (closes ? !opened_ : opened_) new_line(out, depth_);
    opened_ = c == '{' || c == '[';
    if (opened_) ++depth_;
    in_string_ = c == '"';
    if (c == ':')
      out += ": ";
    else if (c != '\n')
      out += c;
    if (c == ',') new_line(out, depth_);
  }
}

std::size_t pretty_printer::append_string(std::string& out, std::string_view part,
                                          std::size_t from) {
  auto at = from;
  while (at < part.size() && in_string_) {
    const char c = part[at++];
    if (escaped_)
      escaped_ = false;
    else if (c == '\\')
      escaped_ = true;
    else if (c == '"')
      in_string_ = false;
  }
  out += part.substr(from, at - from);
  return at;
}

}  // namespace troupe::server
