// The views of the console (views.def): each returns one JSON document. They run on threads that
// may be blocked for 200 ms, and change nothing.
#pragma once

#include "server/console/context/context.hpp"
#include "server/console/context/remote.hpp"

namespace troupe::server {

enum class view_scope : std::uint8_t {
  machine,
  cluster,  // needs the store, which only the control plane has
};

struct named_view {
  std::string_view name;
  view show;
  view_scope scope;
};
// Null if there is no such view.
const named_view* view_called(std::string_view name) noexcept;
// The result of a view or command, in the format requested by `as`.
console_answer rendered(const view_result& result, const query_string& query);

#define TROUPE_VIEW(name, scope) \
  view_result show_##name(const console_context& context, const query_string& query);
#include "server/console/views/views.def"
#undef TROUPE_VIEW

}  // namespace troupe::server
