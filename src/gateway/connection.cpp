#include "gateway/connection.h"

#include <boost/asio/buffer.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/beast/http/error.hpp>
#include <chrono>
#include <utility>

#include "base/text.h"
#include "gateway/compression.h"
#include "gateway/http_reply.h"
#include "gateway/large_request.h"
#include "gateway/tls_certificates.h"
#include "gateway/turn.h"

namespace sluice::gateway {
namespace {

namespace asio = boost::asio;
namespace http = boost::beast::http;
using boost::system::error_code;

constexpr std::size_t kInPlaceMax = 16u << 10;  // a body up to this is read where its head was
constexpr std::size_t kChunkedEnd = 5;          // "0\r\n\r\n", which a body in chunks ends with at the least
constexpr std::size_t kProgressBytes = 1024;    // that a body must grow by to count as moving
constexpr std::size_t kSmallReply = 16u << 10;  // up to this head and body are sent as one piece
constexpr std::size_t kPackMin = 1024;          // a shorter reply is not worth packing
constexpr std::size_t kDrainedMax = 16u << 20;  // bytes of a refused request that are still taken
constexpr auto kDrainTime = std::chrono::seconds(2);
constexpr auto kProbeTime = std::chrono::seconds(1);  // after which a client that ended its side is looked for

// False: the client is gone.
bool send_continue(Transport& transport) {
  static constexpr std::string_view kContinue = "HTTP/1.1 100 Continue\r\n\r\n";
  error_code error;
  const std::size_t sent = transport.write_some({asio::buffer(kContinue.data(), kContinue.size())}, error);
  if (error == asio::error::would_block) return true;  // it has enough to read
  return !error && sent == kContinue.size();
}

Clock::duration to_chrono(Duration duration) {
  return std::chrono::nanoseconds(duration.count_ns());
}

}  // namespace

Connection::Connection(std::shared_ptr<IoThread> thread, Socket socket, bool trusted)
    : thread_(std::move(thread)),
      trusted_(trusted),
      transport_(std::move(socket),
                 trusted || !thread_->shared().options.tls ? nullptr : thread_->shared().options.tls->context()),
      since_(thread_->now()),
      body_(thread_->shared().bodies) {}

Connection::~Connection() = default;

void Connection::start() {
  error_code ignored;
  transport_.socket().non_blocking(true, ignored);
  transport_.socket().set_option(asio::ip::tcp::no_delay(true), ignored);
  if (!transport_.tls()) return advance();
  enter(Phase::shaking);
  transport_.shake_hands([self = shared_from_this()](error_code error) {
    if (self->phase_ != Phase::shaking) return;
    // Plain HTTP on the TLS port gets a plain answer: whoever wrote http:// reads what is wrong.
    if (error == Transport::wrong_protocol()) {
      return self->refuse_request(400,
                                  "this port speaks HTTPS, and this was no TLS: write https:// in place of http://");
    }
    if (error) return self->close();
    self->enter(Phase::idle);
    self->advance();
  });
}

void Connection::refuse() {
  if (transport_.tls()) return close();  // a handshake to say so would cost more than what is refused
  error_code ignored;
  transport_.socket().non_blocking(true, ignored);
  const std::size_t max = thread_->shared().options.connections_max;
  refuse_request(503, str("too many connections: at most ", max, " may be open"), std::string(kRetrySoon));
}

void Connection::enter(Phase phase) {
  phase_ = phase;
  since_ = thread_->now();
}

void Connection::close() {
  if (phase_ == Phase::closed) return;
  phase_ = Phase::closed;
  transport_.close();
  body_.clear();
  const auto self = shared_from_this();
  if (const auto turn = turn_.lock()) turn->disconnected();
  thread_->remove(self);
}

void Connection::check_timeout() {
  const ServerOptions& options = thread_->shared().options;
  const auto waited = thread_->now() - since_;
  switch (phase_) {
    case Phase::shaking:
      if (waited > to_chrono(options.handshake_timeout)) close();
      return;
    case Phase::idle:
      if (waited > to_chrono(options.idle_timeout)) close();
      return;
    case Phase::head:
      if (waited > to_chrono(options.head_timeout)) refuse_request(408, "the head of the request took too long");
      return;
    case Phase::body:
      if (waited > to_chrono(options.body_timeout)) refuse_request(408, "the body of the request stands still");
      return;
    case Phase::writing:
      if (waited > to_chrono(options.body_timeout)) close();
      return;
    case Phase::draining:
      if (waited > kDrainTime) close();
      return;
    case Phase::serving:
      if (!peer_ended_ || waited <= kProbeTime) return;
      // What is sent to a client that is gone comes back as a reset, which fails the next try. One that waits for its
      // reply has to skip this one. HTTP/1.0 has none: such a client is waited for.
      since_ = thread_->now();
      if (!head_.old && !send_continue(transport_)) close();
      return;
    case Phase::closed:
      return;
  }
}

void Connection::stop_if_idle() {
  if (phase_ == Phase::idle || phase_ == Phase::shaking) close();
}

// --- reading

void Connection::read() {
  if (reading_ || peer_ended_ || phase_ == Phase::closed) return;
  into_body_ = phase_ == Phase::body && !in_place_ && !parser_->chunked() && in_.size() == 0;
  asio::mutable_buffer target;
  if (into_body_) {
    const BodyBuffer::Room room = body_.room(length_ - body_.size());
    if (room.size == 0)
      return refuse_request(503, "too many bytes of request bodies in flight", std::string(kRetrySoon));
    target = asio::buffer(room.data, room.size);
  } else {
    const bool waits_for_body = phase_ == Phase::body && in_place_;
    const std::size_t most = thread_->shared().options.head_bytes_max + kInPlaceMax;
    in_.prepare(waits_for_body ? length_ : std::min(in_.size() + in_.size() / 2 + 1, most));
    if (in_.free_size() == 0) return;  // pipelined requests wait in the kernel
    target = asio::buffer(in_.free_data(), in_.free_size());
  }
  reading_ = true;
  transport_.async_read_some(
      target, [self = shared_from_this()](error_code error, std::size_t bytes) { self->on_read(error, bytes); });
}

void Connection::on_read(error_code error, std::size_t bytes) {
  reading_ = false;
  const bool into_body = std::exchange(into_body_, false);
  if (phase_ == Phase::closed) return;
  if (error) return error == asio::error::eof ? on_hang_up() : close();
  if (into_body && phase_ != Phase::body) return drop_late_bytes();
  if (phase_ == Phase::draining) {
    drained_ += bytes;
    return drained_ > kDrainedMax ? close() : read();
  }
  if (into_body) {
    body_.grow_by(bytes);
  } else {
    in_.commit(bytes);
  }
  advance();
}

// The request was refused while its body was being read; that is why the buffer is still there.
void Connection::drop_late_bytes() {
  body_.clear();
  read();
}

// The client has ended its side, or is gone: that looks the same. It gets the replies to all that it has sent.
void Connection::on_hang_up() {
  peer_ended_ = true;
  if (phase_ != Phase::serving && phase_ != Phase::writing) return close();
  since_ = thread_->now();
}

void Connection::advance() {
  if (advancing_) return;
  advancing_ = true;
  for (;;) {
    const bool whole = phase_ <= Phase::body && take_request();
    if (whole) serve();
    const bool refused = phase_ == Phase::idle && in_.size() > 0;  // at its head, and the next one is there
    if (!whole && !refused) break;
  }
  advancing_ = false;
  if (peer_ended_ && phase_ <= Phase::body) return close();  // nothing follows that would make it whole
  read();
}

bool Connection::take_request() {
  if (phase_ == Phase::idle) {
    if (in_.size() == 0) return false;
    enter(Phase::head);
    parser_.emplace(head_, body_);
    parser_->header_limit(static_cast<std::uint32_t>(thread_->shared().options.head_bytes_max));
    parser_->body_limit(thread_->shared().options.body_bytes_max);
  }
  if (phase_ == Phase::head && !take_head()) return false;
  if (!(parser_->chunked() ? take_chunked_body() : take_sized_body())) return false;
  return unpack_body();
}

bool Connection::take_head() {
  error_code error;
  in_.consume(parser_->put(asio::buffer(in_.view().data(), in_.size()), error));
  if (error && error != http::error::need_more) {
    refuse_parse(error);
    return false;
  }
  return parser_->is_header_done() && check_head();
}

bool Connection::check_head() {
  keep_alive_ = parser_->keep_alive() && !thread_->stopping();
  if (const auto fault = settle(head_)) {
    keep_alive_ = false;  // where the next one begins is not known
    refuse_at_head(error_reply(fault->status, fault->text));
    return false;
  }
  if (!let_in()) return false;
  begin_body();
  return true;
}

bool Connection::let_in() {
  const std::string_view target = head_.target;
  Admission admission = thread_->shared().handler.admit({.method = head_.method,
                                                         .path = target.substr(0, target.find('?')),
                                                         .key = head_.key,
                                                         .host = head_.host,
                                                         .origin = head_.origin,
                                                         .local = thread_->shared().local,
                                                         .trusted = trusted_});
  if (auto* refusal = std::get_if<Reply>(&admission)) {
    refuse_at_head(std::move(*refusal));
    return false;
  }
  principal_ = std::get<Principal>(std::move(admission));
  return true;
}

void Connection::begin_body() {
  enter(Phase::body);
  length_ = static_cast<std::size_t>(parser_->content_length().value_or(0));
  in_place_ = !parser_->chunked() && (length_ <= kInPlaceMax || length_ <= in_.size());
  progress_ = 0;
  parser_->eager(true);
  if (!head_.expects_continue || in_.size() > 0) return;
  (void)send_continue(transport_);  // a client that does not get it sends its body anyhow after a while
}

bool Connection::take_sized_body() {
  std::size_t there = in_.size();
  if (!in_place_) {
    const std::string_view come = in_.view().substr(0, length_ - body_.size());
    if (!body_.append(come)) {
      refuse_request(503, "too many bytes of request bodies in flight", std::string(kRetrySoon));
      return false;
    }
    in_.consume(come.size());
    there = body_.size();
  }
  if (there < progress_ + kProgressBytes) return there >= length_;
  progress_ = there;
  since_ = thread_->now();
  return there >= length_;
}

// The parser takes the end of a body whole, and aborts the program where it is shown the beginning of one twice: it is
// not shown what is shorter than any end.
bool Connection::take_chunked_body() {
  while (in_.size() > 0 && !parser_->is_done()) {
    if (in_.view().front() == '0' && in_.size() < kChunkedEnd) break;
    error_code error;
    const std::size_t used = parser_->put(asio::buffer(in_.view().data(), in_.size()), error);
    in_.consume(used);
    const bool stuck = error == http::error::need_more && used == 0;
    if (stuck && in_.size() >= kInPlaceMax) error = http::error::bad_chunk_extension;
    if (error && error != http::error::need_more) {
      refuse_parse(error);
      return false;
    }
    if (stuck) break;
  }
  if (body_.size() >= progress_ + kProgressBytes) {
    progress_ = body_.size();
    since_ = thread_->now();
  }
  return parser_->is_done();
}

// What may become large is unpacked where it is served.
bool Connection::unpack_body() {
  const auto encoding = encoding_of(head_.content_encoding);
  if (!encoding) {
    refuse_request(501, "Unsupported compression type", "Accept-Encoding: gzip, deflate\r\n");
    return false;
  }
  encoding_ = *encoding;
  if (encoding_ == Encoding::identity || is_large()) return true;
  BodyBuffer unpacked(thread_->shared().bodies);
  const Status done = unpack(encoding_, body(), thread_->shared().options.body_bytes_max, unpacked);
  if (!done) {
    const Reply reply = not_unpacked(done.error());
    refuse_request(reply.status, done.error().message);
    return false;
  }
  if (in_place_) in_.consume(length_);
  in_place_ = false;
  body_.swap(unpacked);
  encoding_ = Encoding::identity;
  return true;
}

bool Connection::is_large() const {
  if (encoding_ != Encoding::identity) return body().size() >= kLargePackedBytes;
  return body().size() >= (head_.json_bytes ? kLargeBytes : kLargeTextBytes);
}

// --- serving

void Connection::serve() {
  enter(Phase::serving);
  ServerShared& shared = thread_->shared();
  auto turn = std::make_shared<Turn>(shared_from_this());
  turn_ = turn;
  is_large() ? serve_elsewhere(std::move(turn))
             : shared.handler.handle(request_of(head_, body(), principal_), std::move(turn));
  if (in_place_) in_.consume(length_);
  in_place_ = false;
  body_.clear();
}

void Connection::serve_elsewhere(std::shared_ptr<Turn> turn) {
  ServerShared& shared = thread_->shared();
  auto large = std::make_shared<LargeRequest>(head_, principal_, encoding_, shared.bodies);
  if (in_place_ && !large->body.append(body())) {
    Reply busy = error_reply(503, "too many bytes of request bodies in flight");
    busy.headers = kRetrySoon;
    return finish(std::move(busy));
  }
  if (!in_place_) large->body.swap(body_);
  serve_large(std::move(large), shared, std::move(turn));
}

void Connection::finish(const std::function<Reply()>& answer) {
  if (phase_ == Phase::serving) finish(answer());
}

void Connection::finish(Reply reply) {
  turn_.reset();
  if (thread_->stopping()) keep_alive_ = false;
  pack_reply(reply);
  if (head_.old && keep_alive_) reply.headers += "Connection: keep-alive\r\n";
  out_.clear();
  append_head(out_, reply, keep_alive_);
  rest_.clear();
  if (head_.head_only) {
    reply.body.clear();
  } else if (reply.body.size() <= kSmallReply) {
    out_ += reply.body;
  } else {
    rest_ = std::move(reply.body);
  }
  sent_ = 0;
  enter(Phase::writing);
  write();
}

void Connection::pack_reply(Reply& reply) const {
  if (!std::exchange(reply.packable, false) || reply.body.size() < kPackMin || head_.accept_encoding.empty()) return;
  const Encoding encoding = accepted_encoding(head_.accept_encoding);
  if (encoding == Encoding::identity) return;
  reply.body = pack(encoding, reply.body);
  reply.headers += str("Content-Encoding: ", name_of(encoding), "\r\n");
}

void Connection::refuse_request(unsigned status, std::string_view text, std::string headers) {
  Reply reply = error_reply(status, text);
  reply.headers = std::move(headers);
  keep_alive_ = false;
  head_.clear();
  in_place_ = false;
  if (!into_body_) body_.clear();
  enter(Phase::serving);
  finish(std::move(reply));
}

void Connection::refuse_parse(error_code error) {
  const ServerOptions& options = thread_->shared().options;
  if (error == http::error::header_limit) {
    return refuse_request(431, str("the head of the request is longer than ", options.head_bytes_max, " bytes"));
  }
  if (error == http::error::body_limit) {
    return refuse_request(413, str("the body of the request is longer than ", options.body_bytes_max,
                                   " bytes: 'sluice up --max-request-bytes' says how long it may be"));
  }
  if (error == http::error::buffer_overflow) {
    return refuse_request(503, "too many bytes of request bodies in flight", std::string(kRetrySoon));
  }
  refuse_request(400, str("this is no HTTP request: ", error.message()));
}

void Connection::refuse_at_head(Reply reply) {
  const bool has_body = parser_->chunked() || parser_->content_length().value_or(0) > 0;
  if (has_body) keep_alive_ = false;
  enter(Phase::serving);
  finish(std::move(reply));
}

// --- writing

// Most replies fit into the socket's buffer: that saves a trip through the event loop.
void Connection::write() {
  while (phase_ == Phase::writing) {
    const std::size_t head_left = out_.size() - std::min(sent_, out_.size());
    const std::size_t rest_sent = sent_ > out_.size() ? sent_ - out_.size() : 0;
    const std::array<asio::const_buffer, 2> left = {asio::buffer(out_.data() + (out_.size() - head_left), head_left),
                                                    asio::buffer(rest_.data() + rest_sent, rest_.size() - rest_sent)};
    error_code error;
    const std::size_t bytes = transport_.write_some(left, error);
    if (error == asio::error::would_block) {
      transport_.async_wait_to_write([self = shared_from_this()](error_code waited) {
        if (waited) return self->close();
        self->write();
      });
      return;
    }
    if (error) return close();
    sent_ += bytes;
    since_ = thread_->now();
    if (sent_ == out_.size() + rest_.size()) written();
  }
}

void Connection::written() {
  rest_ = std::string();
  if (!keep_alive_) return drain();
  enter(Phase::idle);
  advance();
}

// Closing while bytes of the client are unread would reset the connection and take our reply away from it.
void Connection::drain() {
  if (peer_ended_) return close();
  enter(Phase::draining);
  transport_.end_writing();
  in_.consume(in_.size());
  in_place_ = false;
  if (!advancing_) read();
}

// --- the exchange

Turn::Turn(std::shared_ptr<Connection> connection) : connection_(std::move(connection)) {}

Turn::~Turn() {
  if (!answered_) hand_over([] { return error_reply(500, "the request was dropped without an answer"); });
}

void Turn::respond(std::function<Reply()> make) {
  if (!answered_.exchange(true)) hand_over(std::move(make));
}

// While a request is served its connection changes nothing that packing looks at.
void Turn::respond_at_length(std::function<Reply()> make) {
  if (answered_.exchange(true)) return;
  connection_->thread().shared().large.post([self = shared_from_this(), make = std::move(make)] {
    auto reply = std::make_shared<Reply>(make());
    self->connection_->pack_reply(*reply);
    self->hand_over([reply] { return std::move(*reply); });
  });
}

// Posted even in the connection's own thread: whoever has the answer has more to do than writing it.
void Turn::hand_over(std::function<Reply()> make) {
  if (connection_->thread().ended()) return;
  boost::asio::post(connection_->thread().context(),
                    [connection = connection_, answer = std::move(make)] { connection->finish(answer); });
}

void Turn::on_disconnect(std::function<void()> gone) {
  {
    const std::lock_guard lock(mutex_);
    if (!is_gone_) {
      gone_ = std::move(gone);
      return;
    }
  }
  if (!answered_) gone();
}

void Turn::disconnected() {
  std::function<void()> gone;
  {
    const std::lock_guard lock(mutex_);
    is_gone_ = true;
    gone.swap(gone_);
  }
  if (gone && !answered_) gone();
}

}  // namespace sluice::gateway
