// Where a server on this machine keeps what must last.
#pragma once
#include <string>

namespace sluice::cli {

// `given`; if empty $SLUICE_DATA, else sluice-data below the working directory.
[[nodiscard]] std::string data_directory(const std::string& given);
// The Unix socket of a server with this directory; empty: the path is longer than one may be.
[[nodiscard]] std::string socket_in(const std::string& directory);

}  // namespace sluice::cli
