// Converts between the messages of actors and the frames of the link (frames.proto). Pure.
//
// Input from the peer is untrusted: the read functions return a one-line error for input
// that no correct peer sends. node_permissions.hpp decides which requests of a node are
// allowed.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <vector>

#include "actors/core/messages.hpp"
#include "actors/link/frames.pb.h"
#include "actors/link/node_requests.hpp"
#include "actors/tokens/token_issuer.hpp"

namespace troupe::actors {

template <class T>
using readable = tl::expected<T, std::string>;

// -- parts ----------------------------------------------------------------------------------------

void write_object(wire::Object& out, const api::object_ptr& object);
// Returns null if there is no object.
readable<api::object_ptr> read_object(const wire::Object& from, std::string_view key);

void write_error(wire::Error& out, const persistence::error& e);
void write_error(wire::Error& out, const api::error& e);
persistence::error read_store_error(const wire::Error& from);
api::error read_api_error(const wire::Error& from);

// -- from the node --------------------------------------------------------------------------------

void write_commit(wire::Commit& out, std::uint64_t id, const persistence::transaction& transaction);
readable<persistence::transaction> read_commit(const wire::Commit& from);

void write_evict(wire::Evict& out, std::uint64_t id, const evict& eviction);
evict read_evict(const wire::Evict& from);

void write_remove(wire::Remove& out, std::uint64_t id, const remove& removal);
remove read_remove(const wire::Remove& from);

void write_request_token(wire::RequestToken& out, std::uint64_t id, const request_token& request);
request_token read_request_token(const wire::RequestToken& from);

// The status is valid for an HTTP response with a body, or 0.
console_view read_console_answer(const wire::ConsoleAnswer& from);

// -- from the control plane -----------------------------------------------------------------------

// Splits into messages of about `link_defaults::batch_bytes`; all but the last are `unfinished`.
std::vector<wire::WatchEvents> write_events(std::uint64_t stream, const watch_events& message);
// Reads the events of one such message.
readable<std::vector<watch_event>> read_events(const wire::WatchEvents& from);

void write_commit_done(wire::CommitDone& out, std::uint64_t id, const persistence::outcome& result);
// `keys`: those of the committed mutations.
readable<persistence::outcome> read_commit_done(const wire::CommitDone& from,
                                                const std::vector<std::string>& keys);

void write_command_done(wire::CommandDone& out, std::uint64_t id,
                        const api::expected<api::object_ptr>& result);
readable<api::expected<api::object_ptr>> read_command_done(const wire::CommandDone& from);

void write_token_answer(wire::TokenAnswer& out, std::uint64_t id,
                        const api::expected<granted_token>& result);
api::expected<granted_token> read_token_answer(const wire::TokenAnswer& from);

}  // namespace troupe::actors
