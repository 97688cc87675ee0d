#include "gateway/transport.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>

#include <algorithm>
#include <boost/asio/error.hpp>
#include <boost/asio/post.hpp>
#include <cerrno>
#include <utility>

namespace sluice::gateway {
namespace {

namespace asio = boost::asio;
using boost::system::error_code;

constexpr unsigned char kHandshakeRecord = 0x16;  // the first byte of every client that speaks TLS

int at_most(std::size_t bytes) {
  constexpr std::size_t kRecords = 1u << 20;
  return static_cast<int>(std::min(bytes, kRecords));
}

}  // namespace

Transport::Transport(Socket socket, std::shared_ptr<SSL_CTX> context)
    : socket_(std::move(socket)), context_(std::move(context)), tls_(nullptr, SSL_free) {}

Transport::~Transport() = default;

error_code Transport::wrong_protocol() {
  return {EPROTO, boost::system::system_category()};
}

// Errors of OpenSSL are kept for each thread: what is not taken away would be taken for another connection's.
Transport::Step Transport::step_of(int result) {
  if (result > 0) return Step::done;
  const int why = SSL_get_error(tls_.get(), result);
  ERR_clear_error();
  if (why == SSL_ERROR_WANT_READ) return Step::reads;
  if (why == SSL_ERROR_WANT_WRITE) return Step::writes;
  if (why == SSL_ERROR_ZERO_RETURN) return Step::ended;
  broken_ = true;
  return Step::failed;
}

void Transport::wait_for(Step step, OnReady done) {
  socket_.async_wait(step == Step::writes ? Socket::wait_write : Socket::wait_read,
                     [done = std::move(done)](error_code error) { done(error); });
}

void Transport::shake_hands(OnReady done) {
  if (tls_ == nullptr) {
    unsigned char first = 0;
    const ssize_t got = ::recv(socket_.native_handle(), &first, 1, MSG_PEEK | MSG_DONTWAIT);
    if (got < 0 && (errno == EAGAIN || errno == EINTR)) {
      return wait_for(Step::reads,
                      [this, done = std::move(done)](error_code error) { error ? done(error) : shake_hands(done); });
    }
    if (got <= 0) return done(asio::error::eof);
    if (first != kHandshakeRecord) {
      context_.reset();
      return done(wrong_protocol());
    }
    tls_.reset(SSL_new(context_.get()));
    if (tls_ == nullptr || SSL_set_fd(tls_.get(), socket_.native_handle()) != 1) return done(asio::error::no_memory);
    SSL_set_accept_state(tls_.get());
  }
  const Step step = step_of(SSL_do_handshake(tls_.get()));
  if (step == Step::reads || step == Step::writes) {
    return wait_for(step,
                    [this, done = std::move(done)](error_code error) { error ? done(error) : shake_hands(done); });
  }
  shaken_ = step == Step::done;
  done(shaken_ ? error_code() : asio::error::connection_aborted);
}

void Transport::read_tls(asio::mutable_buffer into, OnBytes done) {
  const int got = SSL_read(tls_.get(), into.data(), at_most(into.size()));
  const Step step = step_of(got);
  if (step == Step::reads || step == Step::writes) {
    return wait_for(step, [this, into, done = std::move(done)](error_code error) {
      error ? done(error, 0) : read_tls(into, done);
    });
  }
  const error_code error = step == Step::done    ? error_code()
                           : step == Step::ended ? error_code(asio::error::eof)
                                                 : error_code(asio::error::connection_aborted);
  asio::post(socket_.get_executor(),
             [error, got, done = std::move(done)] { done(error, error ? 0 : static_cast<std::size_t>(got)); });
}

std::size_t Transport::write_some(const std::array<asio::const_buffer, 2>& bytes, error_code& error) {
  error = {};
  if (tls_ == nullptr) return socket_.write_some(bytes, error);
  std::size_t written = 0;
  for (const asio::const_buffer& part : bytes) {
    if (part.size() == 0) continue;
    const int took = SSL_write(tls_.get(), part.data(), at_most(part.size()));
    const Step step = step_of(took);
    if (step == Step::done) {
      written += static_cast<std::size_t>(took);
      if (static_cast<std::size_t>(took) == part.size()) continue;
      return written;
    }
    write_waits_ = step;
    if (written == 0)
      error = step == Step::reads || step == Step::writes ? asio::error::would_block : asio::error::broken_pipe;
    return written;
  }
  return written;
}

void Transport::async_wait_to_write(OnReady done) {
  wait_for(tls_ == nullptr ? Step::writes : write_waits_, std::move(done));
}

// One try: a client that takes nothing more does not hear it.
void Transport::say_farewell() {
  if (tls_ == nullptr || !shaken_ || broken_) return;
  (void)SSL_shutdown(tls_.get());
  ERR_clear_error();
}

void Transport::end_writing() {
  say_farewell();
  error_code ignored;
  socket_.shutdown(Socket::shutdown_send, ignored);
}

void Transport::close() {
  say_farewell();
  error_code ignored;
  socket_.close(ignored);
}

}  // namespace sluice::gateway
