#include "actors/link/stream_frames.hpp"

#include <spdlog/fmt/fmt.h>

#include <string_view>

#include "actors/link/defaults.hpp"
#include "api/values/utf8.hpp"

namespace troupe::actors {

namespace {

constexpr std::uint32_t last_port = 65'535;

}  // namespace

void write_open_stream(wire::OpenStream& out, std::uint64_t ask, const stream_target& target) {
  out.set_ask(ask);
  out.set_kind(static_cast<wire::OpenStream::Kind>(target.to));
  out.set_container_id(target.container);
  out.set_pod_uid(target.pod_uid);
  for (const auto& each : target.exec.command)
    out.add_command(each);
  out.set_input(target.exec.input);
  out.set_tty(target.exec.tty);
  out.set_port(static_cast<std::uint32_t>(target.port));
  out.set_credit(link_defaults::stream_window_bytes);
}

readable<stream_target> read_open_stream(const wire::OpenStream& from) {
  if (!wire::OpenStream::Kind_IsValid(from.kind()))
    return tl::make_unexpected(fmt::format("{} is not a kind of stream", int{from.kind()}));
  stream_target target;
  target.to = static_cast<stream_target::kind>(from.kind());
  if (target.to == stream_target::kind::port) {
    if (from.port() == 0 || from.port() > last_port)
      return tl::make_unexpected(fmt::format("{} is not a port", from.port()));
    target.pod_uid = from.pod_uid();
    target.port = static_cast<int>(from.port());
    return target;
  }
  target.container = from.container_id();
  target.exec = {.command = {from.command().begin(), from.command().end()},
                 .input = from.input(),
                 .tty = from.tty()};
  return target;
}

void write_refusal(wire::StreamOpened::Refusal& out, const runtime_error& error) {
  out.set_kind(static_cast<wire::StreamOpened::Refusal::Kind>(error.code));
  out.set_message(error.message);
  out.set_reason(error.reason);
}

runtime_error read_refusal(const wire::StreamOpened::Refusal& from) {
  const auto code = wire::StreamOpened::Refusal::Kind_IsValid(from.kind())
                        ? static_cast<runtime_error::kind>(from.kind())
                        : runtime_error::kind::failed;
  return {code, short_text(from.message()), short_text(from.reason())};
}

std::string short_text(const std::string& text) {
  std::string made;
  api::append_utf8(made, std::string_view{text}.substr(
                             0, api::utf8_prefix(text, link_defaults::reason_limit_bytes)));
  return made;
}

}  // namespace troupe::actors
