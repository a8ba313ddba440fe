#include "api/scheme.hpp"

#include <google/protobuf/descriptor.h>

#include <algorithm>
#include <tuple>

#include "api/invariant.hpp"
#include "api/kind_row.hpp"
#include "api/removed_versions.hpp"
#include "api/schema/schema_files.hpp"
#include "api/version_order.hpp"

namespace troupe::api {

using google::protobuf::DescriptorPool;

namespace {

constexpr std::string_view registry = "/registry/";

// Built-in kinds are never freed: static objects may use them last.
std::vector<kind_handle> kinds_of_schema() {
  std::vector<kind_handle> found;
  for (std::string_view path : schema_files()) {
    const auto* file = DescriptorPool::generated_pool()->FindFileByName(std::string(path));
    ensure(file != nullptr, "every file of the schema is linked into the program");
    for (int i = 0; i < file->message_type_count(); ++i) {
      const auto& type = *file->message_type(i);
      if (type.options().HasExtension(kind))
        found.emplace_back(new kind_info(type.options().GetExtension(kind), type));
    }
  }
  return found;
}

const std::vector<kind_handle>& kinds_of_removed_versions() {
  static const auto& kinds = *[] {
    auto* made = new std::vector<kind_handle>;
    for (const auto* type : removed_versions())
      made->emplace_back(new kind_info(type->options().GetExtension(kind), *type));
    return made;
  }();
  return kinds;
}

std::vector<kind_handle> built_in_kinds() {
  auto kinds = kinds_of_schema();
  const auto& removed = kinds_of_removed_versions();
  if (are_removed_versions_served()) kinds.insert(kinds.end(), removed.begin(), removed.end());
  return kinds;
}

std::string api_version_of(std::string_view group, std::string_view version) {
  std::string out(group);
  if (!group.empty()) out += '/';
  out += version;
  return out;
}

bool in_one_place(const kind_info& kind, std::string_view group, std::string_view plural) {
  return kind.custom() && kind.group() == group && kind.plural() == plural;
}
bool in_one_place(const kind_info& kind, const Kind& options) {
  return in_one_place(kind, options.group(), options.plural());
}

// Checks only that keys and paths can contain it; definitions check the rest of the syntax.
bool is_name(std::string_view text) {
  return !text.empty() &&
         text.find_first_not_of("abcdefghijklmnopqrstuvwxyz0123456789-.") == std::string_view::npos;
}

// The reason why the options are not those of a custom kind; empty if they are.
std::string objection(const Kind& options) {
  if (!is_name(options.group()) || options.group().find('.') == std::string::npos)
    return "the group must be a DNS subdomain with a dot";
  if (!is_name(options.plural()) || !is_name(options.version()) || options.kind().empty())
    return "kind, plural and version must be names";
  if (options.compact() || !options.subresource().empty() || !options.storage_prefix().empty())
    return "it has an option that only kinds of the schema may have";
  return {};
}

}  // namespace

// -- table ----------------------------------------------------------------------------------------

kind_table::kind_table(std::vector<kind_handle> kinds, std::uint64_t revision)
    : kinds_(std::move(kinds)), revision_(revision) {
  for (const auto& each : kinds_) {
    if (!each->serves("none")) all_.push_back(each.get());
    if (!each->stored()) continue;
    stored_.push_back(each.get());
    const bool own_prefix = by_prefix_.emplace(each->prefix(), each.get()).second;
    ensure(own_prefix, "every stored kind has a prefix of its own in the store");
  }
  const auto before = [](const kind_info* a, const kind_info* b) {
    if (a->group() == b->group() && a->version() != b->version())
      return version_before()(a->version(), b->version());
    return std::tie(a->group(), a->plural(), a->kind()) <
           std::tie(b->group(), b->plural(), b->kind());
  };
  std::sort(all_.begin(), all_.end(), before);
  std::sort(stored_.begin(), stored_.end(), before);
  for (const auto* each : all_) {
    const bool fresh = by_kind_.emplace(names(each->api_version(), each->kind()), each).second;
    ensure(fresh, "a kind has a name of its own in its version");
    if (!each->plural().empty())
      by_resource_.emplace(names(each->api_version(), each->plural()), each);
  }
}

const kind_info* kind_table::find(std::string_view api_version, std::string_view kind) const {
  const auto it = by_kind_.find(names(api_version, kind));
  return it == by_kind_.end() ? nullptr : it->second;
}

const kind_info* kind_table::find_resource(std::string_view group, std::string_view version,
                                           std::string_view plural) const {
  const auto it = by_resource_.find(names(api_version_of(group, version), plural));
  return it == by_resource_.end() ? nullptr : it->second;
}

const kind_info* kind_table::find_key(std::string_view key) const {
  if (!key.starts_with(registry)) return nullptr;
  auto end = key.find('/', registry.size());
  // A group has a dot, a plural has none.
  if (key.substr(0, end).find('.') != std::string_view::npos && end != std::string_view::npos)
    end = key.find('/', end + 1);
  if (end == std::string_view::npos) return nullptr;
  const auto it = by_prefix_.find(key.substr(0, end + 1));
  return it == by_prefix_.end() ? nullptr : it->second;
}

std::vector<std::string> kind_table::api_versions() const {
  std::vector<std::string> out;
  for (const kind_info* each : all_)
    if (out.empty() || out.back() != each->api_version()) out.push_back(each->api_version());
  return out;
}

// -- scheme ---------------------------------------------------------------------------------------

scheme& scheme::instance() {
  static auto* only = new scheme;  // outlives every object and every thread
  return *only;
}

scheme::scheme()
    : built_in_(std::make_shared<const kind_table>(built_in_kinds(), 1)), table_(built_in_) {
  for (const auto& each : built_in_->kinds_)
    by_type_.emplace(&each->type(), each.get());
  for (const auto& each : kinds_of_removed_versions())
    by_type_.emplace(&each->type(), each.get());
}

kind_handle scheme::find(std::string_view api_version, std::string_view kind) const {
  if (const auto* known = built_in_->find(api_version, kind)) return known;
  return kinds()->find(api_version, kind);
}

kind_handle scheme::find_resource(std::string_view group, std::string_view version,
                                  std::string_view plural) const {
  if (const auto* known = built_in_->find_resource(group, version, plural)) return known;
  return kinds()->find_resource(group, version, plural);
}

kind_handle scheme::find_key(std::string_view key) const {
  if (const auto* known = built_in_->find_key(key)) return known;
  return kinds()->find_key(key);
}

const kind_info* scheme::find(const google::protobuf::Descriptor& type) const {
  const auto it = by_type_.find(&type);
  return it == by_type_.end() ? nullptr : it->second;
}

expected<kind_handle> scheme::put(Kind options) {
  return put(std::vector<custom_kind>{{std::move(options)}});
}

expected<kind_handle> scheme::put(const std::vector<custom_kind>& versions) {
  ensure(!versions.empty(), "a custom kind has a version");
  const std::lock_guard lock(changing_);
  const auto now = kinds();
  for (const auto& [options, rules] : versions) {
    if (auto wrong = objection(options); !wrong.empty())
      return fail(bad_request("no custom kind can be made: " + wrong));
    const auto version = api_version_of(options.group(), options.version());
    for (const auto* found :
         {now->find(version, options.kind()),
          now->find_resource(options.group(), options.version(), options.plural())})
      if (found != nullptr && !in_one_place(*found, options))
        return fail(already_exists(*found, found->kind()));
  }
  return put_locked(versions);
}

kind_handle scheme::find_or_placeholder(Kind options) {
  if (!objection(options).empty()) return nullptr;
  const std::lock_guard lock(changing_);
  const auto now = kinds();
  for (const auto* each : now->stored())
    if (in_one_place(*each, options)) return each;
  options.clear_verbs();
  options.add_verbs("none");
  return put_locked({{std::move(options)}});
}

kind_handle scheme::put_locked(const std::vector<custom_kind>& versions) {
  const auto now = kinds();
  std::vector<kind_handle> next;
  for (const auto& each : now->kinds_)
    if (!in_one_place(*each, versions.front().options)) next.push_back(each);
  kind_handle home;
  for (const auto& [options, rules] : versions) {
    next.push_back(kind_info::make_custom(options, rules, home));
    if (!home) home = next.back();
  }
  table_.store(std::make_shared<const kind_table>(std::move(next), now->revision() + 1),
               std::memory_order_release);
  return home;
}

void scheme::remove(const kind_info& kind) {
  if (!kind.custom()) return;
  const std::lock_guard lock(changing_);
  const auto now = kinds();
  const auto& known = now->kinds_;
  // Not if another kind has replaced it since.
  if (std::find(known.begin(), known.end(), &kind) != known.end())
    remove_locked(kind.group(), kind.plural());
}

bool scheme::remove(std::string_view group, std::string_view plural) {
  const std::lock_guard lock(changing_);
  return remove_locked(group, plural);
}

bool scheme::remove_locked(std::string_view group, std::string_view plural) {
  const auto now = kinds();
  std::vector<kind_handle> next;
  for (const auto& each : now->kinds_)
    if (!in_one_place(*each, group, plural)) next.push_back(each);
  if (next.size() == now->kinds_.size()) return false;
  table_.store(std::make_shared<const kind_table>(std::move(next), now->revision() + 1),
               std::memory_order_release);
  return true;
}

const kind_info& home_of(const kind_info& kind) {
  if (kind.home_ != nullptr) return **kind.home_;
  const auto* shape = kind.row().shape;
  if (shape == nullptr) return kind;
  const auto found = scheme::instance().find(shape->home, kind.kind());
  ensure(static_cast<bool>(found) && !found->custom(),
         "a shape is one of a kind that the schema has");
  return *found;  // built in: it is never removed
}

const kind_info& kind_of_type(const google::protobuf::Descriptor& type) {
  const kind_info* found = scheme::instance().find(type);
  ensure(found != nullptr, "a type that is asked for its kind has one");
  return *found;
}

}  // namespace troupe::api
