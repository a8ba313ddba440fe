// The query parameters of the API, checked (meta/v1 ListOptions, CreateOptions and their like).
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
  // Of watches.
  bool bookmarks = false;
  std::optional<bool> initial_events;
  std::optional<std::chrono::seconds> timeout;

  bool selects_all() const noexcept { return labels.everything() && fields.everything(); }
};

// Errors: 400 for what cannot be read, 422 for combinations that mean nothing, worded as upstream
// (apimachinery/pkg/apis/meta/internalversion/validation).
api::expected<list_options> parse_list_options(const api::kind_info& kind,
                                               const query_string& query, bool watching);

// The number in a resourceVersion of a client; 400 where it is none.
api::expected<std::uint64_t> parse_revision(std::string_view text);

struct write_options {
  bool dry_run = false;
  api::field_validation fields = api::field_validation::warn;
  std::string manager;
  bool force = false;  // of server-side apply
};

// `what` is the name in messages, e.g. "CreateOptions".
api::expected<write_options> parse_write_options(std::string_view kind, const query_string& query);
// PatchOptions: who applies names itself, and only who applies may force.
api::expected<write_options> parse_patch_options(const query_string& query, bool apply);

// The body, in any of the three forms, and what the query adds to an empty one.
api::expected<api::meta::v1::DeleteOptions> parse_delete_options(const request& request);

}  // namespace troupe::server
