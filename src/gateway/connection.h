// Connection: one client. Reads requests one after the other (pipelined ones wait in the buffer), hands each to the
// handler and writes its reply. Internal to the server.
//
//   shaking (TLS) ─▶ idle ─▶ head ─▶ body ─▶ serving ─▶ writing ─▶ idle … or draining ─▶ closed
//
// A read is always under way, also while a request is served: that is how a client that hangs up is noticed. One that
// only ended its own side still gets its replies.
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "gateway/body_buffer.h"
#include "gateway/compression.h"
#include "gateway/exchange.h"
#include "gateway/http_head.h"
#include "gateway/input_buffer.h"
#include "gateway/io_thread.h"
#include "gateway/transport.h"

namespace sluice::gateway {

class Turn;

class Connection : public std::enable_shared_from_this<Connection> {
 public:
  // `trusted`: it came through the Unix socket.
  Connection(std::shared_ptr<IoThread> thread, Socket socket, bool trusted);
  ~Connection();

  void start();
  // There are too many: says so and hangs up.
  void refuse();
  // Closes it if it has been waiting for too long.
  void check_timeout();
  // Closes it if no request has begun.
  void stop_if_idle();
  void close();

  [[nodiscard]] IoThread& thread() { return *thread_; }
  // The answer to the request that is being served; not asked for if the client is gone.
  void finish(const std::function<Reply()>& answer);
  // Packs the answer to the request that is being served, if it may be packed and its client wants that. Any thread.
  void pack_reply(Reply& reply) const;

 private:
  enum class Phase : std::uint8_t { shaking, idle, head, body, serving, writing, draining, closed };

  void read();
  void on_read(boost::system::error_code error, std::size_t bytes);
  void drop_late_bytes();
  void on_hang_up();
  void advance();
  // True: a whole request is there.
  bool take_request();
  bool take_head();
  bool check_head();
  bool let_in();
  bool take_sized_body();
  bool take_chunked_body();
  void begin_body();
  bool unpack_body();
  void serve();
  void serve_elsewhere(std::shared_ptr<Turn> turn);
  [[nodiscard]] std::string_view body() const { return in_place_ ? in_.view().substr(0, length_) : body_.view(); }
  [[nodiscard]] bool is_large() const;

  // Answers a request that is not served and hangs up, since where the next one begins is not known.
  void refuse_request(unsigned status, std::string_view text, std::string headers = {});
  void refuse_parse(boost::system::error_code error);
  // Answers a request whose head alone says no. What follows of it is drained, not kept.
  void refuse_at_head(Reply reply);
  void finish(Reply reply);
  void write();
  void written();
  void drain();
  void enter(Phase phase);

  std::shared_ptr<IoThread> thread_;  // first: the socket goes before its context
  const bool trusted_;
  Transport transport_;
  Phase phase_ = Phase::idle;
  bool reading_ = false, into_body_ = false;  // a read is under way; it writes into body_
  bool advancing_ = false, keep_alive_ = true, peer_ended_ = false;
  Clock::time_point since_;  // of the phase, or of its last progress

  InputBuffer in_;
  Head head_;
  std::optional<HeadParser> parser_;
  Principal principal_;                     // of the request whose head was read last
  BodyBuffer body_;                         // what does not fit into in_
  std::size_t length_ = 0;                  // of a body that is not chunked
  bool in_place_ = false;                   // the body is in in_
  Encoding encoding_ = Encoding::identity;  // of the body, as it is there
  std::size_t progress_ = 0;                // bytes of the body when since_ was set
  std::weak_ptr<Turn> turn_;                // while serving

  std::string out_;   // head of the reply, and a small body
  std::string rest_;  // a large body
  std::size_t sent_ = 0, drained_ = 0;
};

}  // namespace sluice::gateway
