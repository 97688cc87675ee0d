#include "gateway/http_server.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <boost/asio/basic_socket_acceptor.hpp>
#include <boost/asio/dispatch.hpp>
#include <boost/asio/ip/tcp.hpp>
#include <boost/asio/posix/stream_descriptor.hpp>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "base/text.h"
#include "gateway/address.h"
#include "gateway/connection.h"
#include "gateway/io_thread.h"
#include "gateway/unix_socket.h"

namespace sluice::gateway {
namespace {

namespace asio = boost::asio;
using asio::ip::tcp;
using boost::system::error_code;
using Acceptor = asio::basic_socket_acceptor<tcp, asio::io_context::executor_type>;

constexpr std::size_t kConnectionsMax = 10'000;
constexpr std::size_t kFilesForOthers = 256;  // that the rest of the process may have open
constexpr std::size_t kRefusedAtOnce = 256;   // connections too many that are told so
constexpr std::size_t kAcceptedAtOnce = 64;
constexpr int kBacklog = 4096;

std::size_t connections_allowed() {
  rlimit files{};
  if (getrlimit(RLIMIT_NOFILE, &files) != 0) return kConnectionsMax;
  const auto allowed = static_cast<std::size_t>(files.rlim_cur);
  return std::clamp<std::size_t>(allowed > kFilesForOthers ? allowed - kFilesForOthers : 0, 16, kConnectionsMax);
}

// Asio leaves sockets open on exec. What the server starts must not hold a connection that the server has closed.
void close_on_exec(int descriptor) {
  (void)::fcntl(descriptor, F_SETFD, FD_CLOEXEC);
}

Result<tcp::endpoint> resolve(const Address& address) {
  asio::io_context context;
  tcp::resolver resolver(context);
  error_code error;
  const auto found = resolver.resolve(address.host, std::to_string(address.port),
                                      tcp::resolver::passive | tcp::resolver::numeric_service, error);
  if (error || found.empty()) {
    return Error{ErrorCode::invalid, str("cannot listen on ", to_string(address), ": there is no such host")};
  }
  return found.begin()->endpoint();
}

Error cannot_listen(const Address& address, error_code error) {
  const std::string where = to_string(address);
  if (error == asio::error::address_in_use) {
    return {ErrorCode::unavailable, str(where, " is in use: choose another with --listen")};
  }
  if (error == asio::error::access_denied) {
    return {ErrorCode::io, str("no permission to listen on ", where, ": ports below 1024 are for root")};
  }
  return {ErrorCode::io, str("cannot listen on ", where, ": ", error.message())};
}

class Server final : public HttpServer {
 public:
  Server(std::shared_ptr<ServerShared> shared, std::string host) : shared_(std::move(shared)), host_(std::move(host)) {
    const unsigned count = std::max(1u, shared_->options.threads);
    const bool companion = shared_->companion.descriptor >= 0;
    for (unsigned i = 0; i < count; ++i) io_.push_back(std::make_shared<IoThread>(shared_, companion && i == 0));
    acceptor_.emplace(io_.front()->context());
    retry_.emplace(io_.front()->context());
  }

  ~Server() override { stop(Duration()); }

  error_code listen(const tcp::endpoint& endpoint) {
    error_code error;
    acceptor_->open(endpoint.protocol(), error);
    if (!error) close_on_exec(acceptor_->native_handle());
    if (!error) acceptor_->set_option(Acceptor::reuse_address(true), error);
    if (!error) acceptor_->bind(endpoint, error);
    if (!error) acceptor_->listen(kBacklog, error);
    if (!error) acceptor_->non_blocking(true, error);
    if (!error) port_ = acceptor_->local_endpoint(error).port();
    return error;
  }

  Status listen(const std::string& path) {
    auto socket = UnixSocket::listen(path);
    if (!socket) return socket.error();
    socket_.emplace(std::move(*socket));
    knocks_.emplace(io_.front()->context(), ::dup(socket_->descriptor()));
    close_on_exec(knocks_->native_handle());
    return Done{};
  }

  void run() {
    accept();
    if (knocks_) accept_trusted();
    for (const auto& io : io_) {
      threads_.emplace_back([this, io] {
        io->run();
        const std::lock_guard lock(mutex_);
        ++ended_;
        one_ended_.notify_all();
      });
    }
  }

  [[nodiscard]] std::string address() const override { return to_string(Address{.host = host_, .port = port_}); }
  [[nodiscard]] std::uint16_t port() const override { return port_; }
  [[nodiscard]] std::size_t connections() const override { return shared_->connections; }
  [[nodiscard]] std::size_t body_bytes() const override { return shared_->bodies.used(); }

  void stop(Duration grace) override {
    if (threads_.empty()) return;
    asio::post(io_.front()->context(), [this] {
      error_code ignored;
      acceptor_->close(ignored);
      if (knocks_) knocks_->close(ignored);
      retry_->cancel();
    });
    for (const auto& io : io_) io->stop();
    {
      std::unique_lock lock(mutex_);
      one_ended_.wait_for(lock, std::chrono::nanoseconds(grace.count_ns()), [&] { return ended_ == threads_.size(); });
    }
    for (const auto& io : io_) io->close_all();
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
    if (shared_->companion.descriptor >= 0) shared_->companion.take_back();
    shared_->large.stop();
  }

 private:
  void accept() {
    const std::shared_ptr<IoThread> io = io_[next_++ % io_.size()];
    acceptor_->async_accept(io->context(), [this, io](error_code error, Socket socket) {
      if (error == asio::error::operation_aborted || !acceptor_->is_open()) return;
      if (!error) welcome(io, std::move(socket));
      if (!error) error = accept_waiting();
      const bool no_files = error == asio::error::no_descriptors || error == error_code(ENFILE, error.category()) ||
                            error == asio::error::no_buffer_space || error == asio::error::no_memory;
      if (no_files) return accept_later();
      accept();
    });
  }

  // Others that wait already. While thousands hang up this is one turn among theirs; one connection a turn would let
  // the kernel's queue overflow, and whoever is dropped there tries again a second later.
  error_code accept_waiting() {
    for (std::size_t i = 1; i < kAcceptedAtOnce; ++i) {
      const std::shared_ptr<IoThread> io = io_[next_++ % io_.size()];
      error_code error;
      Socket socket = acceptor_->accept(io->context(), error);
      if (error) return error;
      welcome(io, std::move(socket));
    }
    return {};
  }

  // Out of files: trying again at once would spin.
  void accept_later() {
    retry_->expires_after(std::chrono::milliseconds(20));
    retry_->async_wait([this](error_code error) {
      if (!error) accept();
    });
  }

  // To Asio a connection is one like any other: it only reads, writes and closes it.
  void accept_trusted() {
    knocks_->async_wait(asio::posix::stream_descriptor::wait_read, [this](error_code error) {
      if (error || !knocks_->is_open()) return;
      for (int accepted = 0; (accepted = socket_->accept()) >= 0;) {
        const std::shared_ptr<IoThread> io = io_[next_++ % io_.size()];
        Socket socket(io->context());
        if (socket.assign(tcp::v4(), accepted, error); error) {
          ::close(accepted);
        } else {
          welcome(io, std::move(socket), true);
        }
      }
      accept_trusted();
    });
  }

  void welcome(const std::shared_ptr<IoThread>& io, Socket socket, bool trusted = false) {
    close_on_exec(socket.native_handle());
    const std::size_t before = shared_->connections.fetch_add(1, std::memory_order_relaxed);
    const std::size_t max = shared_->options.connections_max;
    if (before >= max + kRefusedAtOnce) {
      shared_->connections.fetch_sub(1, std::memory_order_relaxed);
      return;
    }
    auto connection = std::make_shared<Connection>(io, std::move(socket), trusted);
    asio::dispatch(io->context(), [io, connection, refused = before >= max] {
      io->add(connection);
      if (io->stopping()) {
        connection->close();
      } else if (refused) {
        connection->refuse();
      } else {
        connection->start();
      }
    });
  }

  std::shared_ptr<ServerShared> shared_;
  std::string host_;
  std::uint16_t port_ = 0;
  std::vector<std::shared_ptr<IoThread>> io_;
  std::optional<Acceptor> acceptor_;  // of the first thread
  std::optional<Timer> retry_;
  std::optional<UnixSocket> socket_;
  std::optional<asio::posix::stream_descriptor> knocks_;  // the same, as Asio waits for it
  std::size_t next_ = 0;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::condition_variable one_ended_;
  std::size_t ended_ = 0;
};

}  // namespace

Result<std::unique_ptr<HttpServer>> HttpServer::start(ServerOptions options, Handler& handler, Companion companion) {
  const auto address = parse_address(options.listen);
  if (!address) return address.error();
  const auto endpoint = resolve(*address);
  if (!endpoint) return endpoint.error();
  if (options.connections_max == 0) options.connections_max = connections_allowed();
  const bool local = endpoint->address().is_loopback();
  const std::string socket = options.socket;
  auto server = std::make_unique<Server>(
      std::make_shared<ServerShared>(std::move(options), local, handler, std::move(companion)), address->host);
  if (const error_code error = server->listen(*endpoint)) return cannot_listen(*address, error);
  if (!socket.empty()) {
    if (const Status listening = server->listen(socket); !listening) return listening.error();
  }
  server->run();
  return std::unique_ptr<HttpServer>(std::move(server));
}

}  // namespace sluice::gateway
