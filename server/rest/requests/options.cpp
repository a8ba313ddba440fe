#include "server/rest/requests/options.hpp"

#include <algorithm>
#include <vector>

#include "api/codec/envelope.hpp"
#include "api/codec/json_decode.hpp"
#include "api/limits.hpp"
#include "api/validation/field_errors.hpp"
#include "api/validation/validation.hpp"
#include "api/values/integer.hpp"
#include "server/rest/defaults.hpp"
#include "server/rest/requests/negotiation.hpp"

namespace troupe::server {
namespace {

api::error invalid_options(std::string_view kind, std::vector<api::error_cause> causes) {
  api::error out;
  out.code = 422;
  out.reason = "Invalid";
  out.group = "meta.k8s.io";
  out.kind = kind;
  std::string list;
  for (const auto& cause : causes) {
    if (!list.empty()) list += ", ";
    list += cause.field + ": " + cause.message;
  }
  if (causes.size() > 1) list = "[" + list + "]";
  out.message = std::string{kind} + ".meta.k8s.io \"\" is invalid: " + list;
  out.causes = std::move(causes);
  return out;
}

api::expected<void> check(std::string_view kind, api::field_errors& found) {
  if (found.empty()) return {};
  return api::fail(invalid_options(kind, found.take()));
}

// The kind in a body; empty if there is none.
std::string kind_named(std::string_view content, api::media form) {
  if (form == api::media::protobuf) {
    const auto opened = api::open_envelope(content);
    return opened ? std::string{opened->kind} : std::string{};
  }
  if (form == api::media::json) return api::find_type_names(content).kind;
  const auto json = api::yaml_to_json(content);
  return json ? api::find_type_names(*json).kind : std::string{};
}

template <class T>
api::expected<std::optional<T>> number(const query_string& query, std::string_view name) {
  const auto text = query.get(name);
  if (!text || text->empty()) return std::nullopt;
  const auto value = api::parse_integer<T>(*text);
  if (!value)
    return api::fail(api::bad_request(std::string{name} + ": Invalid value: " + api::quoted(*text) +
                                      ": must be a whole number"));
  return *value;
}

void check_match(api::field_errors& out, const query_string& query, const list_options& o,
                 bool watching) {
  const auto value = query.get_or("resourceVersionMatch", "");
  const auto revision = query.get_or("resourceVersion", "");
  if (value.empty()) return;
  if (watching && !o.initial_events)
    out.forbidden("resourceVersionMatch",
                  "resourceVersionMatch is forbidden for watch unless sendInitialEvents is "
                  "provided");
  if (!watching && revision.empty())
    out.forbidden("resourceVersionMatch",
                  "resourceVersionMatch is forbidden unless resourceVersion is provided");
  if (!o.continue_token.empty())
    out.forbidden("resourceVersionMatch",
                  "resourceVersionMatch is forbidden when continue is provided");
  if (value != "Exact" && value != "NotOlderThan") {
    static constexpr std::string_view supported[] = {"Exact", "NotOlderThan", ""};
    out.unsupported("resourceVersionMatch", value, supported);
  }
  if (value == "Exact" && revision == "0")
    out.forbidden("resourceVersionMatch",
                  "resourceVersionMatch \"exact\" is forbidden for resourceVersion \"0\"");
}

void check_initial_events(api::field_errors& out, const list_options& o, bool watching) {
  if (!o.initial_events) return;
  if (!watching)
    out.forbidden("sendInitialEvents", "sendInitialEvents is forbidden for list");
  else if (o.match != revision_match::not_older_than)
    out.forbidden("resourceVersionMatch",
                  "sendInitialEvents requires setting resourceVersionMatch to NotOlderThan");
}

api::expected<void> check_terms(std::string_view selector, std::size_t terms) {
  if (terms <= defaults::selector_terms) return {};
  return api::fail(api::bad_request(std::string{selector} + " has " + std::to_string(terms) +
                                    " terms: at most " + std::to_string(defaults::selector_terms) +
                                    " are allowed; use one with several values"));
}

api::expected<void> read_selectors(list_options& out, const api::kind_info& kind,
                                   const query_string& query) {
  if (const auto text = query.get("labelSelector"); text && !text->empty()) {
    auto parsed = api::label_selector::parse(*text);
    if (!parsed) return api::fail(std::move(parsed.error()));
    if (auto fine = check_terms("labelSelector", parsed->requirements().size()); !fine) return fine;
    out.labels = std::move(*parsed);
  }
  if (const auto text = query.get("fieldSelector"); text && !text->empty()) {
    const auto commas = static_cast<std::size_t>(std::count(text->begin(), text->end(), ','));
    if (auto fine = check_terms("fieldSelector", commas + 1); !fine) return fine;
    auto parsed = api::field_selector::parse(kind, *text);
    if (!parsed) return api::fail(std::move(parsed.error()));
    out.fields = std::move(*parsed);
  }
  return {};
}

api::expected<void> read_revision(list_options& out, const query_string& query) {
  const auto text = query.get_or("resourceVersion", "");
  if (!text.empty()) {
    auto parsed = parse_revision(text);
    if (!parsed) return api::fail(std::move(parsed.error()));
    out.revision = *parsed;
  }
  const auto match = query.get_or("resourceVersionMatch", "");
  if (match == "Exact") out.match = revision_match::exact;
  if (match == "NotOlderThan") out.match = revision_match::not_older_than;
  return {};
}

}  // namespace

api::expected<std::uint64_t> parse_revision(std::string_view text) {
  const auto value = api::parse_integer<std::uint64_t>(text);
  if (!value)
    return api::fail(api::bad_request("resourceVersion: Invalid value: " + api::quoted(text) +
                                      ": must be a number that the server gave"));
  return *value;
}

api::expected<list_options> parse_list_options(const api::kind_info& kind,
                                               const query_string& query, bool watching) {
  list_options out;
  if (query.empty()) return out;
  if (auto read = read_selectors(out, kind, query); !read)
    return api::fail(std::move(read.error()));
  if (auto read = read_revision(out, query); !read) return api::fail(std::move(read.error()));
  const auto limit = number<std::int64_t>(query, "limit");
  if (!limit) return api::fail(limit.error());
  out.limit = static_cast<std::size_t>(std::max<std::int64_t>(0, limit->value_or(0)));
  const auto timeout = number<std::int64_t>(query, "timeoutSeconds");
  if (!timeout) return api::fail(timeout.error());
  if (*timeout) out.timeout = std::chrono::seconds{std::clamp<std::int64_t>(**timeout, 0, 86'400)};
  out.continue_token = query.get_or("continue", "");
  out.bookmarks = query.flag("allowWatchBookmarks");
  if (query.has("sendInitialEvents")) out.initial_events = query.flag("sendInitialEvents");

  api::field_errors found;
  check_match(found, query, out, watching);
  check_initial_events(found, out, watching);
  if (auto fine = check("ListOptions", found); !fine) return api::fail(std::move(fine.error()));
  if (!out.continue_token.empty() && out.revision.value_or(0) != 0)
    return api::fail(
        api::bad_request("specifying resource version is not allowed when using continue"));
  return out;
}

namespace {

write_options read_write_options(api::field_errors& found, const query_string& query) {
  write_options out;
  if (query.empty()) return out;
  for (const auto& value : query.all("dryRun")) {
    static constexpr std::string_view supported[] = {"All"};
    if (value == "All")
      out.dry_run = true;
    else
      found.unsupported("dryRun", value, supported);
  }
  const auto validation = query.get_or("fieldValidation", "");
  if (validation == "Ignore")
    out.fields = api::field_validation::ignore;
  else if (validation == "Strict")
    out.fields = api::field_validation::strict;
  else if (!validation.empty() && validation != "Warn") {
    static constexpr std::string_view supported[] = {"", "Ignore", "Strict", "Warn"};
    found.unsupported("fieldValidation", validation, supported);
  }
  out.manager = query.get_or("fieldManager", "");
  if (out.manager.size() > api::limits::field_manager_bytes)
    found.too_long("fieldManager", api::limits::field_manager_bytes);
  out.force = query.flag("force");
  return out;
}

}  // namespace

api::expected<write_options> parse_write_options(std::string_view kind, const query_string& query) {
  api::field_errors found;
  auto out = read_write_options(found, query);
  if (auto fine = check(kind, found); !fine) return api::fail(std::move(fine.error()));
  return out;
}

// kubernetes: apimachinery/pkg/apis/meta/v1/validation, ValidatePatchOptions.
api::expected<write_options> parse_patch_options(const query_string& query, bool apply) {
  api::field_errors found;
  auto out = read_write_options(found, query);
  if (apply && out.manager.empty()) found.required("fieldManager", "is required for apply patch");
  if (!apply && out.force) found.forbidden("force", "may not be specified for non-apply patch");
  if (auto fine = check("PatchOptions", found); !fine) return api::fail(std::move(fine.error()));
  return out;
}

api::expected<api::meta::v1::DeleteOptions> parse_delete_options(const request& request) {
  api::meta::v1::DeleteOptions out;
  if (!request.content.empty()) {
    const auto media = body_media(request.headers.get("content-type"));
    if (!media) return api::fail(media.error());
    if (auto read = api::decode_into(request.content, *media, out); !read)
      return api::fail(std::move(read.error()));
    // Accepts any group: all of them have DeleteOptions.
    if (const auto kind = kind_named(request.content, *media);
        !kind.empty() && kind != "DeleteOptions")
      return api::fail(api::bad_request("decoded object cannot be converted to DeleteOptions"));
  }
  const auto grace = number<std::int64_t>(request.query, "gracePeriodSeconds");
  if (!grace) return api::fail(grace.error());
  if (*grace && !out.has_grace_period_seconds()) out.set_grace_period_seconds(**grace);
  if (const auto policy = request.query.get("propagationPolicy");
      policy && !policy->empty() && !out.has_propagation_policy())
    out.set_propagation_policy(*policy);
  if (request.query.has("orphanDependents") && !out.has_orphan_dependents())
    out.set_orphan_dependents(request.query.flag("orphanDependents"));
  for (const auto& value : request.query.all("dryRun"))
    if (out.dry_run().empty() || value != "All") out.add_dry_run(value);

  auto causes = api::validate_message(out);
  if (out.has_orphan_dependents() && out.has_propagation_policy())
    causes.push_back({"FieldValueInvalid",
                      "Invalid value: \"" + out.propagation_policy() +
                          "\": orphanDependents and deletionPropagation cannot be both set",
                      "propagationPolicy"});
  for (const auto& value : out.dry_run()) {
    static constexpr std::string_view supported[] = {"All"};
    api::field_errors found;
    if (value != "All") found.unsupported("dryRun", value, supported);
    for (auto& cause : found.take())
      causes.push_back(std::move(cause));
  }
  if (!causes.empty()) return api::fail(invalid_options("DeleteOptions", std::move(causes)));
  return out;
}

}  // namespace troupe::server
