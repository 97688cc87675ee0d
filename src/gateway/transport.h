// Transport: the bytes of one connection, as they are or inside of TLS. Nothing waits in it: whoever cannot go on is
// called back by the event loop. In the thread of its connection only.
//
// TLS is OpenSSL on the socket itself rather than Asio's stream over it: replies are written at once where the socket
// takes them, as without TLS, and no bytes are copied through buffers of a second layer.
#pragma once
#include <array>
#include <boost/asio/buffer.hpp>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <utility>

#include "gateway/io_thread.h"

using SSL = struct ssl_st;          // NOLINT: as OpenSSL names it
using SSL_CTX = struct ssl_ctx_st;  // NOLINT

namespace sluice::gateway {

class Transport {
 public:
  using OnBytes = std::function<void(boost::system::error_code, std::size_t)>;
  using OnReady = std::function<void(boost::system::error_code)>;

  // `context`: null: no TLS.
  Transport(Socket socket, std::shared_ptr<SSL_CTX> context);
  ~Transport();
  Transport(const Transport&) = delete;
  Transport& operator=(const Transport&) = delete;

  [[nodiscard]] Socket& socket() { return socket_; }
  [[nodiscard]] bool tls() const { return context_ != nullptr; }

  // TLS begins. Plain HTTP is told by its first byte, and is `wrong_protocol`: from then on this is a transport without
  // TLS, so that it can be answered.
  static boost::system::error_code wrong_protocol();
  void shake_hands(OnReady done);
  // As a socket's. Without TLS the handler goes to the socket as it is: no allocation.
  template <class Done>
  void async_read_some(boost::asio::mutable_buffer into, Done done) {
    if (tls_ == nullptr) return socket_.async_read_some(into, std::move(done));
    read_tls(into, std::move(done));
  }
  // As a socket's that does not block. Where it would, async_wait_to_write() says when to try again.
  [[nodiscard]] std::size_t write_some(const std::array<boost::asio::const_buffer, 2>& bytes,
                                       boost::system::error_code& error);
  void async_wait_to_write(OnReady done);
  // Says that nothing more will be written.
  void end_writing();
  void close();

 private:
  enum class Step : std::uint8_t { done, reads, writes, ended, failed };
  [[nodiscard]] Step step_of(int result);
  void wait_for(Step step, OnReady done);
  // What is there already is given in a turn of the loop of its own.
  void read_tls(boost::asio::mutable_buffer into, OnBytes done);
  void say_farewell();

  Socket socket_;
  std::shared_ptr<SSL_CTX> context_;
  std::unique_ptr<SSL, void (*)(SSL*)> tls_;  // null: not begun, or no TLS
  bool shaken_ = false, broken_ = false;
  Step write_waits_ = Step::writes;  // what the write that could not be done waits for
};

}  // namespace sluice::gateway
