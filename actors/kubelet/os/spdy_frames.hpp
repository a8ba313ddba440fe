// The frames of SPDY/3.1 (draft-mbelshe-httpbis-spdy-00) as far as the streams of Kubernetes use
// them, read and written by either side. Pure. There is no flow control, as in the peers
// (moby/spdystream neither sends WINDOW_UPDATE nor obeys it): whoever cannot take more stops
// reading the connection.
//
// Input comes from untrusted peers: a header block has a limit, packed and unpacked, and data is
// passed on as it comes, never collected.
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

// Names in lower case, each once.
using spdy_headers = std::vector<std::pair<std::string, std::string>>;
// Empty where there is none of that name.
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
  bool last = false;         // nothing follows on the stream from this side
  std::uint32_t status = 0;  // of RST_STREAM and GOAWAY
  spdy_headers headers = {};
  // Of DATA: the next bytes of it. A large frame comes in several parts; `last` is with the last.
  std::string_view data = {};
};

namespace spdy_status {
inline constexpr std::uint32_t protocol_error = 1;
inline constexpr std::uint32_t refused_stream = 3;
}  // namespace spdy_status

// The head of a DATA frame, whose bytes follow as they are: at most `spdy_data_limit`.
inline constexpr std::size_t spdy_data_limit = 0xffffff;
std::string spdy_data_head(std::uint32_t stream, std::size_t bytes, bool last);

// Writes frames but DATA. Header blocks are compressed over the whole connection, so frames must be
// sent in the order in which they were made.
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
  // Takes all bytes. Says what is wrong when the rules are broken, and then no more may be read.
  std::optional<std::string> feed(std::string_view bytes, const receiver& receive);

 private:
  struct inflater;
  // What a data frame still has to come.
  struct open_data {
    std::uint32_t stream = 0;
    bool last = false;
    std::size_t left = 0;
  };
  std::optional<std::string> begin_frame();
  std::optional<std::string> read_control(std::string_view body, const receiver& receive);
  void pass_data(std::string_view& bytes, const receiver& receive);

  const std::unique_ptr<inflater> inflater_;
  std::string head_;  // of the frame, then also its body where it is a control frame
  std::size_t wanted_;
  std::optional<open_data> data_;
};

}  // namespace troupe::actors
