// The views of the console: each answers one question with one JSON document. They run on threads
// that may be kept for 200 ms, and change nothing.
#pragma once

#include "server/console/context.hpp"

namespace troupe::server {

// -- actor_views.cpp, actor_detail.cpp, actor_tree.cpp --------------------------------------------
view_result show_actors(const console_context& in, const query_string& query);
view_result show_actor(const console_context& in, const query_string& query);
view_result show_tree(const console_context& in, const query_string& query);
view_result show_names(const console_context& in, const query_string& query);
view_result show_flow(const console_context& in, const query_string& query);

// -- top.cpp --------------------------------------------------------------------------------------
view_result show_top(const console_context& in, const query_string& query);
view_result show_warnings(const console_context& in, const query_string& query);
view_result show_rates(const console_context& in, const query_string& query);

// -- cluster_views.cpp ----------------------------------------------------------------------------
view_result show_cluster(const console_context& in, const query_string& query);
view_result show_watchers(const console_context& in, const query_string& query);
view_result show_store(const console_context& in, const query_string& query);
view_result show_loggers(const console_context& in, const query_string& query);

// -- history.cpp, why.cpp -------------------------------------------------------------------------
view_result show_history(const console_context& in, const query_string& query);
view_result show_why(const console_context& in, const query_string& query);

}  // namespace troupe::server
