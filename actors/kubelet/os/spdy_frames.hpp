// Reader and writer of the SPDY/3.1 frames (draft-mbelshe-httpbis-spdy-00) that the streams of
// Kubernetes use, for client and server. Pure. There is no flow control, as in the peers
// (moby/spdystream neither sends nor obeys WINDOW_UPDATE): a receiver that is full stops reading
// the connection.
//
// Input comes from untrusted peers: header blocks have a size limit, compressed and decompressed,
// and data is passed on as it arrives, never collected.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace troupe::actors {

// Header names in lower case, each at most once.
using spdy_headers = std::vector<std::pair<std::string, std::string>>;
// Returns an empty value if there is no such header.
std::string_view find_header(const spdy_headers& headers, std::string_view name) noexcept;

enum class spdy_type : std::uint16_t {
  syn_stream = 1,
  syn_reply = 2,
  rst_stream = 3,
  settings = 4,
  ping = 6,
  goaway = 7,
  headers = 8,
  window_update = 9,
  data = 0xffff,
};

struct spdy_frame {
  spdy_type type = spdy_type::data;
  std::uint32_t stream = 0;  // of PING: its id; of GOAWAY: the last good stream
  bool last = false;         // the sender sends nothing more on the stream
  std::uint32_t status = 0;  // of RST_STREAM and GOAWAY
  spdy_headers headers = {};
  // Of DATA: the next bytes. A large frame is passed in several parts; `last` is set on the last.
  std::string_view data = {};
};

namespace spdy_status {
inline constexpr std::uint32_t protocol_error = 1;
inline constexpr std::uint32_t refused_stream = 3;
}  // namespace spdy_status

// The header of a DATA frame; its bytes, at most `spdy_data_limit`, follow uncompressed.
inline constexpr std::size_t spdy_data_limit = 0xffffff;
std::string spdy_data_head(std::uint32_t stream, std::size_t bytes, bool last);

// Writes all frames except DATA. Header compression spans the whole connection, so frames must be
// sent in the order in which they were written.
class spdy_writer {
 public:
  spdy_writer();
  ~spdy_writer();
  std::string write(const spdy_frame& frame);

 private:
  struct deflater;
  const std::unique_ptr<deflater> deflater_;
};

class spdy_reader {
 public:
  using receiver = std::function<void(const spdy_frame& frame)>;

  spdy_reader();
  ~spdy_reader();
  // Parses all bytes. Returns the protocol error, after which `feed` may not be called again.
  std::optional<std::string> feed(std::string_view bytes, const receiver& receive);

 private:
  struct inflater;
  // The missing rest of a DATA frame.
  struct open_data {
    std::uint32_t stream = 0;
    bool last = false;
    std::size_t left = 0;
  };
  std::optional<std::string> begin_frame();
  std::optional<std::string> read_control(std::string_view body, const receiver& receive);
  void pass_data(std::string_view& bytes, const receiver& receive);

  const std::unique_ptr<inflater> inflater_;
  std::string head_;  // header of the frame, and the body of a control frame
  std::size_t wanted_;
  std::optional<open_data> data_;
};

}  // namespace troupe::actors
