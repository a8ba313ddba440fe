// RFC 6902: operations at JSON pointers.
#include <charconv>

#include "api/limits.hpp"
#include "api/patch/patch_types.hpp"

namespace troupe::api {
namespace {

using tokens = std::vector<std::string>;

// Splits "/a~1b/0" into {"a/b", "0"}. Returns false if it is not a pointer.
bool split(std::string_view pointer, tokens& out) {
  if (pointer.empty()) return true;
  if (pointer.front() != '/') return false;
  std::string token;
  for (std::size_t i = 1; i <= pointer.size(); ++i) {
    if (out.size() > limits::json_depth) return false;
    if (i == pointer.size() || pointer[i] == '/') {
      out.push_back(std::move(token));
      token.clear();
    } else if (pointer[i] == '~') {
      if (++i == pointer.size() || (pointer[i] != '0' && pointer[i] != '1')) return false;
      token += pointer[i] == '0' ? '~' : '/';
    } else {
      token += pointer[i];
    }
  }
  return true;
}

// Of members with the same name the last one counts.
json_value::MemberIterator find_last(json_value& operation, std::string_view name) {
  auto found = operation.MemberEnd();
  for (auto each = operation.MemberBegin(); each != operation.MemberEnd(); ++each)
    if (text_of(each->name) == name) found = each;
  return found;
}

class patcher {
 public:
  explicit patcher(json_document& document) : document_(document) {}

  expected<void> apply(json_value& operation);

 private:
  using result = expected<void>;

  result add(const tokens& path, json_value& value);
  result remove(const tokens& path, json_value* taken);
  result replace(const tokens& path, json_value& value);
  result move_or_copy(json_value& operation, const tokens& path, bool keep);
  result test(const tokens& path, const json_value& value);

  json_value* find(const tokens& path, std::size_t length);
  json_value* child(json_value& of, const std::string& token);
  bool index_in(const json_value& list, const std::string& token, bool one_behind,
                rapidjson::SizeType& index) const;

  result missing(std::string_view operation, const tokens& path) const {
    std::string at;
    for (const auto& token : path)
      at += "/" + token;
    return fail(patch_does_not_fit(std::string(operation) +
                                   " operation does not apply: there is no " +
                                   (at.empty() ? "document" : at)));
  }
  result spend(std::size_t steps) {
    steps_ += steps;
    if (steps_ <= limits::json_patch_steps) return {};
    error e;
    e.code = 413;
    e.reason = "RequestEntityTooLarge";
    e.message = "the JSON patch needs too many steps on this object";
    return fail(std::move(e));
  }

  json_document& document_;
  std::size_t steps_ = 0;
  std::size_t copied_bytes_ = 0;
};

bool patcher::index_in(const json_value& list, const std::string& token, bool one_behind,
                       rapidjson::SizeType& index) const {
  if (one_behind && token == "-") {
    index = list.Size();
    return true;
  }
  if (token.empty() || (token.size() > 1 && token[0] == '0')) return false;
  const auto [end, ec] = std::from_chars(token.data(), token.data() + token.size(), index);
  if (ec != std::errc() || end != token.data() + token.size()) return false;
  return index < list.Size() || (one_behind && index == list.Size());
}

json_value* patcher::child(json_value& of, const std::string& token) {
  if (of.IsObject()) {
    steps_ += of.MemberCount();
    for (auto& member : of.GetObject())
      if (text_of(member.name) == token) return &member.value;
    return nullptr;
  }
  rapidjson::SizeType index = 0;
  if (!of.IsArray() || !index_in(of, token, false, index)) return nullptr;
  return &of[index];
}

json_value* patcher::find(const tokens& path, std::size_t length) {
  json_value* at = &document_;
  for (std::size_t i = 0; i < length && at; ++i)
    at = child(*at, path[i]);
  return at;
}

expected<void> patcher::add(const tokens& path, json_value& value) {
  if (path.empty()) {
    static_cast<json_value&>(document_) = value;
    return {};
  }
  auto* parent = find(path, path.size() - 1);
  if (!parent) return missing("add", path);
  auto& allocator = document_.GetAllocator();
  if (parent->IsObject()) {
    if (auto* old = child(*parent, path.back()))
      *old = value;
    else
      parent->AddMember(make_text(path.back(), allocator), value, allocator);
    return {};
  }
  rapidjson::SizeType index = 0;
  if (!parent->IsArray() || !index_in(*parent, path.back(), true, index))
    return missing("add", path);
  parent->PushBack(value, allocator);
  if (auto fits = spend(parent->Size() - index); !fits) return fits;
  for (auto i = parent->Size() - 1; i > index; --i)
    (*parent)[i].Swap((*parent)[i - 1]);
  return {};
}

expected<void> patcher::remove(const tokens& path, json_value* taken) {
  auto* parent = path.empty() ? nullptr : find(path, path.size() - 1);
  auto* target = parent ? child(*parent, path.back()) : nullptr;
  if (!target) return missing("remove", path);
  if (taken) *taken = *target;
  if (parent->IsObject()) {
    const auto name = rapidjson::StringRef(path.back().data(), path.back().size());
    parent->EraseMember(parent->FindMember(json_value(name)));
    return spend(parent->MemberCount());
  }
  parent->Erase(parent->Begin() + (target - parent->Begin()));
  return spend(parent->Size());
}

expected<void> patcher::replace(const tokens& path, json_value& value) {
  auto* target = find(path, path.size());
  if (!target) return missing("replace", path);
  *target = value;
  return {};
}

expected<void> patcher::test(const tokens& path, const json_value& value) {
  const auto* target = find(path, path.size());
  if (!target) return missing("test", path);
  if (same_json(*target, value)) return {};
  std::string at;
  for (const auto& token : path)
    at += "/" + token;
  return fail(patch_does_not_fit("testing value " + at + " failed"));
}

expected<void> patcher::move_or_copy(json_value& operation, const tokens& path, bool keep) {
  const auto source = find_last(operation, "from");
  tokens from;
  if (source == operation.MemberEnd() || !source->value.IsString() ||
      !split(text_of(source->value), from))
    return fail(bad_request("error decoding patch: an operation needs a JSON pointer as `from`"));
  json_value value;
  if (keep) {
    const auto* origin = find(from, from.size());
    if (!origin) return missing("copy", from);
    copied_bytes_ += json_bytes(*origin);
    if (copied_bytes_ > limits::json_patch_copied_bytes)
      return fail(
          request_too_large("copies of the JSON patch are", limits::json_patch_copied_bytes));
    value.CopyFrom(*origin, document_.GetAllocator());
    return add(path, value);
  }
  // A value that is moved into itself would be lost.
  if (path.size() > from.size() && std::equal(from.begin(), from.end(), path.begin()))
    return fail(patch_does_not_fit("a value cannot be moved into itself"));
  if (auto taken = remove(from, &value); !taken) return taken;
  return add(path, value);
}

expected<void> patcher::apply(json_value& operation) {
  const auto wrong = [](std::string_view reason) {
    return fail(bad_request("error decoding patch: " + std::string(reason)));
  };
  if (!operation.IsObject()) return wrong("an operation must be an object");
  const auto op = find_last(operation, "op");
  const auto path = find_last(operation, "path");
  if (op == operation.MemberEnd() || !op->value.IsString())
    return wrong("an operation needs an `op`");
  tokens at;
  if (path == operation.MemberEnd() || !path->value.IsString() || !split(text_of(path->value), at))
    return wrong("an operation needs a JSON pointer as `path`");
  const auto name = text_of(op->value);
  const auto value = find_last(operation, "value");
  if (auto fits = spend(1); !fits) return fits;
  if (name == "remove") return remove(at, nullptr);
  if (name == "move" || name == "copy") return move_or_copy(operation, at, name == "copy");
  if (name != "add" && name != "replace" && name != "test")
    return wrong("unexpected kind of operation: " + std::string(name));
  if (value == operation.MemberEnd())
    return wrong("operation " + std::string(name) + " needs a `value`");
  if (name == "add") return add(at, value->value);
  return name == "replace" ? replace(at, value->value) : test(at, value->value);
}

}  // namespace

expected<void> apply_json_patch(json_document& document, json_document& patch) {
  if (!patch.IsArray())
    return fail(bad_request("error decoding patch: it must be a list of operations"));
  if (patch.Size() > limits::json_patch_operations) {
    error e;
    e.code = 413;
    e.reason = "RequestEntityTooLarge";
    e.message = "The allowed maximum operations in a JSON patch is " +
                std::to_string(limits::json_patch_operations) + ", got " +
                std::to_string(patch.Size());
    return fail(std::move(e));
  }
  patcher worker(document);
  for (auto& operation : patch.GetArray())
    if (auto done = worker.apply(operation); !done) return done;
  return {};
}

}  // namespace troupe::api
