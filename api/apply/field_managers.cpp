#include "api/apply/field_managers.hpp"

#include <algorithm>
#include <map>
#include <vector>

#include "api/apply/managers.hpp"
#include "api/apply/merging.hpp"
#include "api/codec/codec.hpp"
#include "api/codec/json_text.hpp"
#include "api/limits.hpp"
#include "api/object/custom_body.hpp"
#include "api/object/object.hpp"
#include "api/strategy/defaults.hpp"

namespace troupe::api {
namespace {

using meta::v1::ObjectMeta;

constexpr const char* before_first_apply_name = "before-first-apply";
constexpr const char* client_side_apply = "kubectl-client-side-apply";
constexpr const char* ancient_changes = "ancient-changes";
constexpr const char* kubectl = "kubectl";
constexpr std::string_view last_applied = "kubectl.kubernetes.io/last-applied-configuration";
// kubernetes: apimachinery/pkg/util/managedfields/internal, DefaultMaxUpdateManagers.
constexpr std::size_t most_updates = 10;

// Merges the oldest updates of one version if there are too many.
void limit_updates(managers& all, const std::string& api_version) {
  const auto counts = [](const manager& each) { return each.operation == updates; };
  auto count = static_cast<std::size_t>(std::count_if(all.begin(), all.end(), counts));
  if (count <= most_updates) return;
  manager ancient{.name = ancient_changes, .operation = updates, .api_version = api_version};
  std::stable_sort(all.begin(), all.end(),
                   [](const auto& a, const auto& b) { return a.seconds < b.seconds; });
  for (auto at = all.begin(); at != all.end() && count > most_updates - 1;) {
    if (!counts(*at) || at->api_version != api_version) {
      ++at;
      continue;
    }
    ancient.seconds = std::max(ancient.seconds, at->seconds);
    ancient.fields = unite(std::move(ancient.fields), at->fields);
    at = all.erase(at);
    --count;
  }
  all.push_back(std::move(ancient));
}

// -- fields that are never owned ------------------------------------------------------------------

// Removes the identity, and the fields that the kind's strategy resets in such a write.
field_set without_reset(field_set fields, const kind_info& kind, const std::string& subresource) {
  fields.erase({field_named("apiVersion")});
  fields.erase({field_named("kind")});
  const auto metadata = fields.below.find(field_named("metadata"));
  if (metadata != fields.below.end()) {
    metadata->second.member = false;
    for (const char* name : {"name", "namespace", "creationTimestamp", "selfLink", "uid",
                             "generation", "managedFields", "resourceVersion"})
      metadata->second.erase({field_named(name)});
    if (metadata->second.empty()) fields.below.erase(metadata);
  }
  const auto status = field_named("status");
  if (subresource == status.text) {
    std::erase_if(fields.below, [&status](const auto& each) {
      return each.first != status && each.first.text != "metadata";
    });
  } else if (kind.options().has_status()) {
    fields.erase({status});
  }
  return fields;
}

// -- values ---------------------------------------------------------------------------------------

void drop_managed(json_value& object) {
  if (auto* metadata = find_member(object, "metadata"); metadata && metadata->IsObject())
    metadata->RemoveMember("managedFields");
}

expected<void> read_object(json_document& into, std::string_view json) {
  if (auto read = parse_json(into, json, "the object"); !read) return read;
  if (!into.IsObject()) return fail(bad_request("error decoding the object: it is no object"));
  return {};
}

std::string text_in_metadata(const json_value& object, std::string_view name) {
  const auto* metadata = find_member(object, "metadata");
  return metadata == nullptr ? std::string{} : text_at(*metadata, name);
}

// The annotation in which kubectl keeps the applied configuration; empty if there is none.
std::string last_applied_of(json_value& object) {
  auto* metadata = find_member(object, "metadata");
  auto* annotations = metadata == nullptr ? nullptr : find_member(*metadata, "annotations");
  return annotations == nullptr ? std::string{} : text_at(*annotations, last_applied);
}

// -- conflicts ------------------------------------------------------------------------------------

struct conflict {
  manager with;  // without its fields
  field_set fields;
};

std::string shown_manager(const manager& of) {
  auto text = quoted(of.name);
  if (!of.subresource.empty()) text += " with subresource " + quoted(of.subresource);
  if (of.operation == updates) text += " using " + of.api_version;
  return text;
}

// Counts all conflicts and names limits::causes of them.
error conflict_error(const std::vector<conflict>& all) {
  error out;
  out.code = 409;
  out.reason = "Conflict";
  std::map<std::string, std::vector<std::string>> by_manager;
  std::size_t count = 0;
  for (const auto& each : all)
    for_each(each.fields, [&](const field_steps& path) {
      if (count++ < limits::causes) by_manager[shown_manager(each.with)].push_back(shown(path));
    });
  for (const auto& [with, paths] : by_manager)
    for (const auto& path : paths)
      out.causes.push_back({"FieldManagerConflict", "conflict with " + with, path});
  out.message =
      "Apply failed with " + std::to_string(count) + " conflict" + (count == 1 ? "" : "s") + ":";
  if (count == 1) {
    const auto& [with, paths] = *by_manager.begin();
    out.message += " conflict with " + with + ": " + paths.front();
    return out;
  }
  for (const auto& [with, paths] : by_manager) {
    out.message += (by_manager.begin()->first == with ? " " : "\n");
    out.message += "conflicts with " + with + ":";
    for (const auto& path : paths)
      out.message += "\n- " + path;
  }
  if (count > limits::causes)
    out.message += "\nand " + std::to_string(count - limits::causes) + " more";
  return out;
}

// -- apply ----------------------------------------------------------------------------------------

// The result of one attempt: the merged object, and the managers after it.
struct applied_state {
  json_document object;
  managers all;
  std::vector<conflict> conflicts;
  bool changes = false;  // of the object or of its ownership
};

class application {
 public:
  application(const kind_info& kind, const field_manager& by)
      : type_(merge_type::of(kind)), kind_(kind), by_(by) {}

  void run(applied_state& out, json_value& live, const json_value& config, field_set set,
           bool force) {
    auto& allocator = out.object.GetAllocator();
    auto merged = merge(live, config, type_, allocator);
    const manager mine{.name = by_.name,
                       .operation = applies,
                       .api_version = kind_.api_version(),
                       .subresource = by_.subresource};
    auto& entry = entry_of(out.all, mine);
    const auto before = std::exchange(entry.fields, std::move(set));
    const bool other_version =
        std::exchange(entry.api_version, mine.api_version) != mine.api_version;
    const bool other_fields = before != entry.fields;
    prune(merged, subtract(before, entry.fields), before, out.all, allocator);
    const auto difference = compare(live, merged, type_);
    take_over(out, difference, mine, force);
    out.changes = entry.seconds == 0 || !difference.same() || other_fields || other_version;
    if (out.changes) entry.seconds = by_.now_seconds;
    static_cast<json_value&>(out.object) = merged;
  }

 private:
  // Removes the fields of the manager's last apply that it no longer applies (`given_up`) and that
  // no other manager owns.
  void prune(json_value& merged, const field_set& given_up, const field_set& last,
             const managers& all, json_allocator& allocator) {
    if (given_up.empty()) return;
    const auto named = [this](const field_set& fields) { return with_parents(fields, type_); };
    json_value pruned(merged, allocator);
    remove(pruned, named(last), type_, allocator);
    field_set owned;
    for (const auto& each : all)
      owned = unite(std::move(owned), each.fields);
    const auto all_fields = named(fields_of_stored(merged, type_));
    // Restores fields of other managers, with their parents, and fields that nobody had applied.
    json_value kept(merged, allocator);
    remove(kept, subtract(all_fields, unite(named(fields_of_stored(pruned, type_)), named(owned))),
           type_, allocator);
    const auto gone = subtract(all_fields, named(fields_of_stored(kept, type_)));
    remove(merged, intersect(gone, named(last)), type_, allocator);
  }

  void take_over(applied_state& out, const comparison& difference, const manager& mine,
                 bool force) {
    const auto changed = unite(difference.modified, difference.added);
    for (auto& each : out.all) {
      if (each.is(mine)) continue;
      auto both = intersect(each.fields, changed);
      if (!both.empty() && force) each.fields = subtract(each.fields, both);
      if (!both.empty() && !force)
        out.conflicts.push_back({each.without_fields(), std::move(both)});
      each.fields = subtract(each.fields, difference.removed);
    }
  }

  const merge_type type_;
  const kind_info& kind_;
  const field_manager& by_;
};

// Whether all conflicts are with kubectl's own earlier client-side
// apply.
bool kubectl_may(json_value& live, const std::vector<conflict>& conflicts, const merge_type& type) {
  const auto text = last_applied_of(live);
  json_document last;
  if (text.empty() || !parse_json(last, text, "the annotation") || !last.IsObject()) return false;
  const auto changed = compare(live, last, type);
  const auto allowed =
      subtract(fields_of_stored(last, type), unite(changed.modified, changed.added));
  return std::all_of(conflicts.begin(), conflicts.end(), [&allowed](const auto& each) {
    return subtract(each.fields, allowed).empty();
  });
}

void keep_last_applied(json_document& object, std::string config) {
  auto* metadata = find_member(object, "metadata");
  auto* annotations = metadata == nullptr ? nullptr : find_member(*metadata, "annotations");
  if (annotations == nullptr) return;
  json_members members(*annotations);
  members.set(last_applied, make_text(config + "\n", object.GetAllocator()), object.GetAllocator());
  members.finish(object.GetAllocator());
}

std::string json_of(const kind_info& kind, const body& content) {
  return encode_json(content, kind.api_version(), kind.kind());
}

// The fields that the last client-side apply of `live` set, with their defaults; none if there was
// no such apply, or one of another version.
field_set fields_of_last_apply(json_value& live, const merge_type& type, const kind_info& kind) {
  auto last = decode(last_applied_of(live), media::json, &kind);
  if (!last) return {};
  set_defaults(kind, *last->content);
  json_document config;
  if (!read_object(config, json_of(kind, *last->content))) return {};
  auto out = fields_of_stored(config, type);
  out.insert({field_named("metadata"), field_named("annotations"), field_named(last_applied)});
  return out;
}

// The owners of the fields that existed when tracking began. What client-side apply had set is
// kubectl's: with its first server-side apply kubectl takes that over, and removes what it does not
// apply any more. It may not remove what admission and controllers had set, such as the volume of
// a pod's token.
managers owners_before(json_value& live, const merge_type& type, const kind_info& kind,
                       std::int64_t now_seconds) {
  const manager client_side{.name = client_side_apply,
                            .operation = updates,
                            .api_version = kind.api_version(),
                            .seconds = now_seconds};
  managers out(2, client_side);
  out[1].name = before_first_apply_name;
  const auto all = without_reset(fields_of_stored(live, type), kind, {});
  out[0].fields = intersect(all, fields_of_last_apply(live, type, kind));
  out[1].fields = subtract(all, out[0].fields);
  std::erase_if(out, [](const manager& each) { return each.fields.empty(); });
  return out;
}

}  // namespace

managed_fields before_first_apply(const kind_info& kind, std::string_view live,
                                  std::int64_t now_seconds) {
  json_document now;
  if (!read_object(now, live)) return {};
  return written(owners_before(now, merge_type::of(kind), kind, now_seconds));
}

expected<applied> apply_fields(const kind_info& kind, std::string_view live,
                               std::string_view config, const field_manager& by) {
  json_document now;
  ObjectMeta meta;
  if (!live.empty()) {
    if (auto read = read_object(now, live); !read) return fail(std::move(read.error()));
    if (const auto* metadata = find_member(now, "metadata"))
      if (!decode_into(write_json(*metadata), media::json, meta)) meta.Clear();
  }
  return apply_fields(kind, live, meta.managed_fields(), config, by);
}

expected<applied> apply_fields(const kind_info& kind, std::string_view live,
                               const managed_fields& owners, std::string_view config,
                               const field_manager& by) {
  const auto type = merge_type::of(kind);
  json_document now, wanted;
  if (auto read = read_object(wanted, config); !read) return fail(std::move(read.error()));
  managers all;
  bool tracked = true;
  if (live.empty()) {
    tracked = false;
    now.SetObject();
  } else {
    if (auto read = read_object(now, live); !read) return fail(std::move(read.error()));
    all = read_managers(owners).value_or(managers{});
    drop_managed(now);
    tracked = !all.empty();
    if (!tracked) all = owners_before(now, type, kind, by.now_seconds);
  }
  auto set = fields_of(wanted, type);
  if (!set) {
    error out;
    out.reason.clear();
    out.message = "failed to create typed patch object (" + text_in_metadata(wanted, "namespace") +
                  "/" + text_in_metadata(wanted, "name") + "; " + kind.group() + "/" +
                  kind.version() + ", Kind=" + kind.kind() + "): " + set.error();
    return fail(std::move(out));
  }
  const auto owned = without_reset(std::move(*set), kind, by.subresource);
  application attempt{kind, by};
  auto out = std::make_unique<applied_state>();
  // Only kubectl may need a second attempt.
  out->all = by.name == kubectl ? all : std::move(all);
  attempt.run(*out, now, wanted, owned, by.force);
  if (!out->conflicts.empty()) {
    if (by.name != kubectl || !kubectl_may(now, out->conflicts, type))
      return fail(conflict_error(out->conflicts));
    out = std::make_unique<applied_state>();
    out->all = all;
    attempt.run(*out, now, wanted, owned, true);
  }
  const bool annotated = by.name == kubectl && !last_applied_of(now).empty();
  if (tracked && !annotated && !out->changes) return applied{.unchanged = true};
  if (annotated) keep_last_applied(out->object, std::string{config});
  return applied{.json = write_json(out->object), .managed = written(std::move(out->all))};
}

void track_update(const kind_info& kind, body& now, const body& was, const field_manager& by) {
  auto& into = *meta_of(now).mutable_managed_fields();
  const auto& had = meta_of(was).managed_fields();
  const bool sent = by.subresource.empty() && !into.empty();
  if (sent && into.size() == 1 && into[0].operation().empty()) return into.Clear();
  auto all = read_managers(sent ? into : had);
  if (!all && sent) all = read_managers(had);
  if (!all) return into.Clear();
  json_document before, after;
  if (!read_object(before, json_of(kind, was)) || !read_object(after, json_of(kind, now)))
    return into.Clear();
  const auto type = merge_type::of(kind);
  const auto clean = [&](field_set fields) {
    return without_reset(std::move(fields), kind, by.subresource);
  };
  const auto difference = compare(before, after, type);
  const auto gained = clean(unite(difference.modified, difference.added));
  const auto lost = clean(difference.removed);
  if (gained.empty() && lost.empty()) {
    if (sent)
      into = written(std::move(*all));
    else
      into = had;
    return;
  }
  const manager mine{.name = by.name,
                     .operation = updates,
                     .api_version = kind.api_version(),
                     .subresource = by.subresource};
  for (auto& each : *all)
    if (!each.is(mine)) each.fields = subtract(each.fields, unite(gained, lost));
  auto& own = entry_of(*all, mine);
  auto fields = unite(subtract(own.fields, lost), gained);
  if (fields != own.fields) own.seconds = by.now_seconds;
  own.fields = std::move(fields);
  limit_updates(*all, kind.api_version());
  into = written(std::move(*all));
}

namespace {

// Replaces the values of `config` by those of `read` at the same paths.
void to_stored_form(json_value& config, const json_value& read, const merge_type& type,
                    json_allocator& allocator) {
  const auto is = type.is();
  if (config.IsObject() && read.IsObject() && is != merge_type::merges::atomic) {
    json_value out(rapidjson::kObjectType);
    const member_index known{&read};
    for (auto& each : config.GetObject()) {
      const auto name = text_of(each.name);
      if (const auto* found = known.find(name))
        to_stored_form(each.value, *found, type.member(name), allocator);
      else if ((type.declares(name) || type.open()) && !each.value.IsObject() &&
               !each.value.IsArray() && !each.value.IsNull())
        continue;  // equal to an absent value
      out.AddMember(each.name, each.value, allocator);
    }
    config = out;
  } else if (config.IsArray() && read.IsArray() && config.Size() == read.Size() &&
             is != merge_type::merges::atomic) {
    for (rapidjson::SizeType i = 0; i < config.Size(); ++i)
      to_stored_form(config[i], read[i], type.element(), allocator);
  } else {
    config.CopyFrom(read, allocator);
  }
}

}  // namespace

std::string in_stored_form(const kind_info& kind, std::string_view config, std::string_view read) {
  json_document wanted, known;
  if (!read_object(wanted, config) || !read_object(known, read)) return std::string{config};
  to_stored_form(wanted, known, merge_type::of(kind), wanted.GetAllocator());
  return write_json(wanted);
}

}  // namespace troupe::api
