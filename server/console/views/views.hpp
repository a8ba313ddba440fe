// The views of the console (views.def): each answers one question with one JSON document. They run
// on threads that may be kept for 200 ms, and change nothing.
#pragma once

#include "server/console/context/context.hpp"
#include "server/console/context/remote.hpp"

namespace troupe::server {

enum class view_scope : std::uint8_t {
  machine,
  cluster,  // needs the store: only the control plane has it
};

struct named_view {
  std::string_view name;
  view show;
  view_scope scope;
};
// Null when there is none.
const named_view* view_called(std::string_view name) noexcept;
// What a view or an order answered, in the form that `as` in the query asks for.
console_answer rendered(const view_result& result, const query_string& query);

#define TROUPE_VIEW(name, scope) \
  view_result show_##name(const console_context& context, const query_string& query);
#include "server/console/views/views.def"
#undef TROUPE_VIEW

}  // namespace troupe::server
