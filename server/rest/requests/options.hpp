// The validated query parameters of the API (meta/v1 ListOptions, CreateOptions and similar).
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/codec/codec.hpp"
#include "api/error.hpp"
#include "api/schema/meta_request.pb.h"
#include "api/selectors/selector.hpp"
#include "server/http/http.hpp"

namespace troupe::server {

enum class revision_match : std::uint8_t { unset, exact, not_older_than };

struct list_options {
  api::label_selector labels;
  api::field_selector fields;
  std::size_t limit = 0;  // 0: all
  std::string continue_token;
  std::optional<std::uint64_t> revision;
  revision_match match = revision_match::unset;
  // Only for watches.
  bool bookmarks = false;
  std::optional<bool> initial_events;
  std::optional<std::chrono::seconds> timeout;

  bool selects_all() const noexcept { return labels.everything() && fields.everything(); }
};

// Errors: 400 for invalid values, 422 for invalid combinations, with upstream's messages
// (apimachinery/pkg/apis/meta/internalversion/validation).
api::expected<list_options> parse_list_options(const api::kind_info& kind,
                                               const query_string& query, bool watching);

// The number in a client's resourceVersion; 400 if it is not a number.
api::expected<std::uint64_t> parse_revision(std::string_view text);

struct write_options {
  bool dry_run = false;
  api::field_validation fields = api::field_validation::warn;
  std::string manager;
  bool force = false;  // for server-side apply
};

// `kind` is the name in messages, e.g. "CreateOptions".
api::expected<write_options> parse_write_options(std::string_view kind, const query_string& query);
// PatchOptions: an apply must have a field manager, and only an apply may force.
api::expected<write_options> parse_patch_options(const query_string& query, bool apply);

// From the body in any of the three formats; if it is empty, from the query.
api::expected<api::meta::v1::DeleteOptions> parse_delete_options(const request& request);

}  // namespace troupe::server
