// Converts between streams into containers and the frames of the link (frames.proto). Pure; does
// not trust the peer, like frames.hpp.
#pragma once

#include <cstdint>

#include "actors/kubelet/runtime/container_types.hpp"
#include "actors/link/frames.hpp"
#include "actors/link/frames.pb.h"
#include "actors/link/node_requests.hpp"

namespace troupe::actors {

void write_open_stream(wire::OpenStream& out, std::uint64_t ask, const stream_target& target);
// A port number is checked.
readable<stream_target> read_open_stream(const wire::OpenStream& from);

void write_refusal(wire::StreamOpened::Refusal& out, const runtime_error& error);
// The texts are valid UTF-8 of about `link_defaults::reason_limit_bytes`.
runtime_error read_refusal(const wire::StreamOpened::Refusal& from);

// Converts a peer's text to such a text.
std::string short_text(const std::string& text);

}  // namespace troupe::actors
