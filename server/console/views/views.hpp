// The views of the console: each answers one question with one JSON document. They run on threads
// that may be kept for 200 ms, and change nothing.
#pragma once

#include "server/console/context/context.hpp"
#include "server/console/context/remote.hpp"

namespace troupe::server {

// -- views.cpp ------------------------------------------------------------------------------------
struct named_view {
  std::string_view name;
  view show;
  bool of_cluster = false;  // needs the store: only the control plane has it
};
// Null when there is none.
const named_view* view_called(std::string_view name) noexcept;
// What a view or an order answered, in the form that `as` in the query asks for.
console_answer rendered(const view_result& result, const query_string& query);

// -- actor_views.cpp, actor_detail.cpp, actor_tree.cpp --------------------------------------------
view_result show_actors(const console_context& context, const query_string& query);
view_result show_actor(const console_context& context, const query_string& query);
view_result show_tree(const console_context& context, const query_string& query);
view_result show_names(const console_context& context, const query_string& query);
view_result show_flow(const console_context& context, const query_string& query);

// -- top.cpp --------------------------------------------------------------------------------------
view_result show_top(const console_context& context, const query_string& query);
view_result show_warnings(const console_context& context, const query_string& query);
view_result show_rates(const console_context& context, const query_string& query);

// -- cluster_views.cpp ----------------------------------------------------------------------------
view_result show_cluster(const console_context& context, const query_string& query);
view_result show_watchers(const console_context& context, const query_string& query);
view_result show_store(const console_context& context, const query_string& query);
view_result show_loggers(const console_context& context, const query_string& query);

// -- history.cpp, why.cpp -------------------------------------------------------------------------
view_result show_history(const console_context& context, const query_string& query);
view_result show_why(const console_context& context, const query_string& query);

}  // namespace troupe::server
