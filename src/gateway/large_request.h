// LargeRequest: a request whose body takes long to unpack or to read. It is served in a thread of its own kind, one
// after the other, so that the clients of the connection's thread do not wait for it. Internal to the server.
#pragma once
#include <memory>
#include <string_view>

#include "gateway/compression.h"
#include "gateway/exchange.h"
#include "gateway/http_head.h"
#include "gateway/io_thread.h"

namespace sluice::gateway {

inline constexpr std::size_t kLargeBytes = 1u << 20;        // tensors as they are, which are only copied
inline constexpr std::size_t kLargeTextBytes = 64u << 10;   // reading JSON takes some ten times as long
inline constexpr std::size_t kLargePackedBytes = 1u << 10;  // deflate makes a thousand bytes of one at most

struct LargeRequest {
  LargeRequest(Head h, Principal p, Encoding e, ByteBudget& budget)
      : head(std::move(h)), principal(std::move(p)), encoding(e), body(budget) {}
  Head head;
  Principal principal;
  Encoding encoding;  // of the body
  BodyBuffer body;
};

// What a handler gets; views of head and body.
[[nodiscard]] Request request_of(const Head& head, std::string_view body, const Principal& principal);

// The answer to a body that could not be unpacked.
[[nodiscard]] Reply not_unpacked(const Error& error);

// Hands it to the thread for large requests of `shared`, which `respond` keeps alive.
void serve_large(std::shared_ptr<LargeRequest> request, ServerShared& shared, Respond respond);

}  // namespace sluice::gateway
