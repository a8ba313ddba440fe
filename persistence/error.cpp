#include "persistence/error.hpp"

namespace troupe::persistence {

std::string_view to_string(errc code) {
  switch (code) {
    case errc::conflict:
      return "conflict";
    case errc::exceeded:
      return "exceeded";
    case errc::read_only:
      return "read_only";
    case errc::overloaded:
      return "overloaded";
    case errc::compacted:
      return "compacted";
    case errc::future_revision:
      return "future_revision";
    case errc::too_large:
      return "too_large";
    case errc::closed:
      return "closed";
    case errc::locked:
      return "locked";
    case errc::incompatible:
      return "incompatible";
    case errc::corrupt:
      return "corrupt";
    case errc::io:
      return "io";
    case errc::invalid:
      return "invalid";
    case errc::no_space:
      return "no_space";
    case errc::no_memory:
      return "no_memory";
    case errc::leadership_lost:
      return "leadership_lost";
    case errc::unknown:
      return "unknown";
    case errc::restored:
      return "restored";
  }
  return "unknown";
}

}  // namespace troupe::persistence
