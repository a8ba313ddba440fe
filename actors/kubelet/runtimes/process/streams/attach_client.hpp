// An attachment to a container as a stream: the kubelet's end of attach_packets.hpp. Thread safe;
// all work is done on the loop's thread. The shim is our own process, but its packets are checked:
// an invalid packet ends the stream.
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "actors/kubelet/os/event_loop.hpp"
#include "actors/kubelet/runtime/streams.hpp"

namespace troupe::actors {

struct attach_target {
  std::string name;                 // for errors
  std::filesystem::path directory;  // of the container
  // For a connection lost without an exit packet: the exit code; nothing while it runs.
  std::function<std::optional<int>()> code_of_end;
};

// The exit code of a stream that was cut off while the container runs; its last bytes say so. (125
// is docker's code for its own errors.)
constexpr int attach_cut_off = 125;

// Answered when the shim has accepted the attachment: the stream gets all output from then on.
// Errors: `not_found` if the container has just ended; `failed` if its shim does not answer within
// `process_defaults::attach_timeout`, has the maximum of attachments, or belongs to an older
// program without attachments.
//
// The stream: `write` answers when the shim has the bytes, false if the container has no input.
// `close_input` ends the container's input if it has stdinOnce, else only this client's. A reader
// that falls behind by more than the shim buffers is cut off.
void open_attachment(std::shared_ptr<event_loop> loop, attach_target target,
                     const exec_request& request,
                     runtime_answer<std::unique_ptr<exec_stream>> done);

}  // namespace troupe::actors
