// Between streams into containers and what goes over the link of them (frames.proto). Pure; like
// frames.hpp it trusts nothing that the other side says.
#pragma once

#include <cstdint>

#include "actors/kubelet/runtime/container_types.hpp"
#include "actors/link/frames.hpp"
#include "actors/link/frames.pb.h"
#include "actors/link/node_requests.hpp"

namespace troupe::actors {

void write_open_stream(wire::OpenStream& out, std::uint64_t ask, const stream_target& target);
// A port is one that there can be.
readable<stream_target> read_open_stream(const wire::OpenStream& from);

void write_refusal(wire::StreamOpened::Refusal& out, const runtime_error& error);
// Its texts are UTF-8 of about `link_defaults::reason_limit_bytes`.
runtime_error read_refusal(const wire::StreamOpened::Refusal& from);

// Such a text of what a peer says.
std::string short_text(const std::string& text);

}  // namespace troupe::actors
