// Two tenants on one platform: each has its own names, requests and functions, and sees nothing of the other.
#include <gtest/gtest.h>

#include <future>

#include "data/clock.h"
#include "live/live_server.h"

namespace sluice::live {
namespace {

using live_test::call;
using live_test::floats;
using live_test::options_in;

const Principal kOurs{.tenant = "default", .role = Role::deployer};
const Principal kTheirs{.tenant = "acme", .role = Role::deployer};
const Principal kAdmin{.tenant = "default", .role = Role::admin};

// An application `app` whose functions hand their inputs on.
std::string document(const std::vector<std::string>& functions, const std::string& tenant = "") {
  std::string out = "application: app\nslo: {latency: 20s}\n" + (tenant.empty() ? "" : "tenant: " + tenant + "\n");
  out += "functions:\n";
  for (const std::string& name : functions)
    out += "  " + name + ": {runtime: emulated, memory: 10MB, profile: {table: [[1, 1, 0, 1.0, 0.1]]}}\n";
  out += "workflow:\n";
  for (const std::string& name : functions) out += "  " + name + ": {}\n";
  return out;
}

class TenantsTest : public testing::Test {
 protected:
  TenantsTest() { start(); }
  void start() {
    platform_.reset();
    platform_ = std::move(Platform::start(options_in(folder_.path())).value());
  }
  Status add_tenant(const std::string& name) {
    std::promise<Status> done;
    platform_->identity().add_tenant(name, {}, [&](const Status& status) { done.set_value(status); });
    return done.get_future().get();
  }
  Status set_quota(const Quota& quota) {
    std::promise<Status> done;
    platform_->identity().set_quota("default", quota, [&](const Status& status) { done.set_value(status); });
    return done.get_future().get();
  }
  Result<Deployed> deploy(const Principal& principal, const std::string& text) {
    std::promise<Result<Deployed>> done;
    platform_->deploy({.principal = principal, .main = "app.yaml", .files = {{"app.yaml", text}}},
                      [&](Result<Deployed> deployed) { done.set_value(std::move(deployed)); });
    return done.get_future().get();
  }
  Status remove(const Principal& principal) {
    std::promise<Status> done;
    platform_->remove(principal, "app", [&](const Status& status) { done.set_value(status); });
    return done.get_future().get();
  }
  Answer ask(const Principal& principal, const std::string& name) {
    return call(*platform_, {.principal = principal, .application = name, .inputs = floats(*platform_, "x", {1})})
        .get();
  }
  // Whether somebody is called by this name.
  bool serves(const Principal& principal, const std::string& name) {
    return ask(principal, name).kind == AnswerKind::finished;
  }

  live_test::TemporaryFolder folder_;
  std::unique_ptr<Platform> platform_;
};

TEST_F(TenantsTest, HaveNamesOfTheirOwn) {
  ASSERT_TRUE(add_tenant("acme"));
  ASSERT_TRUE(deploy(kOurs, document({"f"})));
  EXPECT_FALSE(serves(kTheirs, "app"));
  ASSERT_TRUE(deploy(kTheirs, document({"g"})));
  EXPECT_TRUE(serves(kOurs, "app"));
  EXPECT_TRUE(serves(kTheirs, "app"));
  EXPECT_TRUE(serves(kTheirs, "app.g"));
  EXPECT_TRUE(serves(kTheirs, "g"));
  for (const char* name : {"g", "app.g"}) EXPECT_FALSE(serves(kOurs, name)) << name;
  ASSERT_TRUE(remove(kTheirs));
  EXPECT_FALSE(serves(kTheirs, "app"));
  EXPECT_TRUE(serves(kOurs, "app"));
}

TEST_F(TenantsTest, KeepTheirApplicationsOverARestart) {
  ASSERT_TRUE(add_tenant("acme"));
  ASSERT_TRUE(deploy(kTheirs, document({"g"})));
  start();
  EXPECT_TRUE(serves(kTheirs, "app.g"));
  EXPECT_FALSE(serves(kOurs, "app"));
}

TEST_F(TenantsTest, HaveTheirKeysOverARestartUntilTheyAreRevoked) {
  ASSERT_TRUE(add_tenant("acme").ok());
  std::promise<Result<std::string>> made;
  platform_->identity().add_key("laptop", kTheirs, [&](Result<std::string> key) { made.set_value(std::move(key)); });
  const auto key = made.get_future().get();
  ASSERT_TRUE(key.ok()) << key.error().message;
  start();
  const auto who = platform_->identity().who(*key);
  ASSERT_TRUE(who.has_value());
  EXPECT_EQ(who->tenant, kTheirs.tenant);
  EXPECT_EQ(who->role, kTheirs.role);
  std::promise<Status> revoked;
  platform_->identity().revoke_key("laptop", [&](const Status& status) { revoked.set_value(status); });
  ASSERT_TRUE(revoked.get_future().get().ok());
  EXPECT_FALSE(platform_->identity().who(*key).has_value());
  start();
  EXPECT_FALSE(platform_->identity().who(*key).has_value());
}

TEST_F(TenantsTest, SeeOnlyTheirOwnRequests) {
  ASSERT_TRUE(add_tenant("acme"));
  ASSERT_TRUE(deploy(kOurs, document({"f"})));
  ASSERT_TRUE(deploy(kTheirs, document({"f"})));
  const RequestId ours = ask(kOurs, "app").request, theirs = ask(kTheirs, "app").request;
  EXPECT_TRUE(platform_->find_request(kOurs, ours));
  EXPECT_FALSE(platform_->find_request(kOurs, theirs));
  EXPECT_FALSE(platform_->find_request(kTheirs, ours));
  EXPECT_TRUE(platform_->find_request(kAdmin, theirs));
  EXPECT_EQ(platform_->requests(kTheirs, {}).size(), 1u);
  EXPECT_EQ(platform_->requests(kTheirs, {.tenant = "default"}).size(), 1u);  // asked for others, still its own
  EXPECT_EQ(platform_->requests(kTheirs, {}).front().id, theirs);
  EXPECT_EQ(platform_->requests(kAdmin, {}).size(), 2u);
}

TEST_F(TenantsTest, FetchOnlyTheirOwnResults) {
  ASSERT_TRUE(add_tenant("acme"));
  ASSERT_TRUE(deploy(kTheirs, document({"f"})));
  std::promise<RequestId> accepted;
  platform_->call_later({.principal = kTheirs, .application = "app", .inputs = floats(*platform_, "x", {7})},
                        [&](Result<RequestId> id) { accepted.set_value(id.value()); });
  const RequestId id = accepted.get_future().get();
  const auto ended = [&] {
    const auto record = platform_->find_request(kTheirs, id);
    return record && record->state != RequestState::running;
  };
  for (int i = 0; i < 30'000 && !ended(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_NE(platform_->outputs_of(kTheirs, id), nullptr);
  EXPECT_EQ(platform_->outputs_of(kOurs, id), nullptr);
  EXPECT_FALSE(platform_->find_request(kOurs, id));
}

TEST_F(TenantsTest, DeployForThemselves) {
  ASSERT_TRUE(add_tenant("acme"));
  const auto refused = deploy(kOurs, document({"f"}, "acme"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message,
            "the document is of tenant 'acme', its key of tenant 'default': only an admin deploys for others");
  ASSERT_TRUE(deploy(kAdmin, document({"f"}, "acme")));
  EXPECT_TRUE(serves(kTheirs, "app"));
  EXPECT_FALSE(serves(kOurs, "app"));
  const auto nobody = deploy(kAdmin, document({"f"}, "nobody"));
  ASSERT_FALSE(nobody);
  EXPECT_EQ(nobody.error().code, ErrorCode::not_found);
}

// --- a version takes the place of all that the one before had

TEST_F(TenantsTest, AFunctionThatANewVersionDoesNotHaveIsGone) {
  ASSERT_TRUE(deploy(kOurs, document({"f", "g"})));
  EXPECT_TRUE(serves(kOurs, "app.f"));
  ASSERT_TRUE(deploy(kOurs, document({"g"})));
  for (const char* name : {"app.f", "f"}) EXPECT_FALSE(serves(kOurs, name)) << name;
  for (const char* name : {"app", "app.g", "g"}) EXPECT_TRUE(serves(kOurs, name)) << name;
  ASSERT_TRUE(remove(kOurs));
  for (const char* name : {"app", "app.f", "app.g", "f", "g"}) EXPECT_FALSE(serves(kOurs, name)) << name;
  EXPECT_TRUE(platform_->settled_snapshot()->models.empty());
}

TEST_F(TenantsTest, CountsGoOnOverVersions) {
  ASSERT_TRUE(deploy(kOurs, document({"f", "g"})));
  ASSERT_TRUE(serves(kOurs, "app.g"));
  ASSERT_TRUE(deploy(kOurs, document({"g"})));
  EXPECT_EQ(platform_->settled_snapshot()->find("default", "app.g")->stats.met, 1u);
}

// --- quotas

TEST_F(TenantsTest, HaveAtMostTheirFunctions) {
  ASSERT_TRUE(set_quota({.functions = 2}));
  ASSERT_TRUE(deploy(kOurs, document({"f", "g"})));
  const auto third = deploy(kOurs, document({"f", "g", "h"}));
  ASSERT_TRUE(third);
  ASSERT_TRUE(third->over);
  EXPECT_EQ(third->over->text, "quota exceeded: 3 functions, allowed are 2");
  EXPECT_FALSE(serves(kOurs, "app.h"));
  EXPECT_TRUE(serves(kOurs, "app"));
}

TEST_F(TenantsTest, DeployNothingThatTheirQuotaNeverLetsRun) {
  const std::string two =
      "application: app\nslo: {latency: 60s}\nworkflow: {f: {}}\nfunctions: {f: {runtime: emulated, memory: 10MB, "
      "profile: {table: [[1, 2, 0, 1.0, 0.1], [4, 2, 0, 2.0, 0.1]]}}}\n";
  ASSERT_TRUE(set_quota({.vcpu = 1}));
  const auto refused = deploy(kOurs, two);
  ASSERT_TRUE(refused && refused->over);
  EXPECT_EQ(
      refused->over->text,
      "quota exceeded: function 'f' takes at least 2 vCPU and 0 slices, allowed are 1 vCPU and any number of slices");
  EXPECT_EQ(refused->over->needed, 2);
  EXPECT_EQ(refused->over->available, 1);
  ASSERT_TRUE(set_quota({.vcpu = 2}));
  const auto allowed = deploy(kOurs, two);
  ASSERT_TRUE(allowed);
  EXPECT_FALSE(allowed->over);
  EXPECT_TRUE(serves(kOurs, "app"));
}

TEST_F(TenantsTest, HoldAtMostTheirVcpusAtOnce) {
  ASSERT_TRUE(deploy(kOurs,
                     "application: app\nslo: {latency: 60s}\nworkflow: {f: {}}\nfunctions: {f: {runtime: emulated, "
                     "memory: 10MB, profile: {table: [[1, 1, 0, 100.0, 0.1]]}}}\n"));
  ASSERT_TRUE(set_quota({.vcpu = 1}));
  ASSERT_TRUE(serves(kOurs, "app"));
  const Time began = data::now();
  std::vector<std::future<Answer>> answers;
  for (int i = 0; i < 4; ++i)
    answers.push_back(
        call(*platform_, {.principal = kOurs, .application = "app", .inputs = floats(*platform_, "x", {1})}));
  for (auto& answer : answers) EXPECT_EQ(answer.get().kind, AnswerKind::finished);
  EXPECT_GE(data::now() - began, Duration::ms(390));
}

TEST_F(TenantsTest, HoldAtMostTheirBytesOfSharedMemory) {
  ASSERT_TRUE(deploy(kOurs,
                     "application: app\nslo: {latency: 60s}\nworkflow: {small: {}, large: {}}\nfunctions:\n"
                     "  small: {runtime: emulated, memory: 10MB, profile: {table: [[1, 1, 0, 1.0, 0.1]]}}\n"
                     "  large: {runtime: emulated, memory: 10MB, outputs: {y: {type: FP32, shape: [500000]}}, "
                     "profile: {table: [[1, 1, 0, 1.0, 0.1]]}}\n"));
  EXPECT_EQ(ask(kOurs, "large").kind, AnswerKind::finished);
  ASSERT_TRUE(set_quota({.bytes = Bytes(1'000'000)}));
  const Answer outputs = ask(kOurs, "large");
  EXPECT_EQ(outputs.kind, AnswerKind::failed);
  EXPECT_TRUE(outputs.error.starts_with("ObjectStoreFull")) << outputs.error;
  EXPECT_TRUE(serves(kOurs, "small"));
  // Where inputs are read they are there before anybody knows what they come to.
  Call call{.principal = kOurs, .application = "small", .inputs = floats(*platform_, "x", {1})};
  const auto block = platform_->arena("default")->allocate_input(2'000'000);
  ASSERT_TRUE(block);
  const auto refused = platform_->enter(call, 1);
  ASSERT_TRUE(refused);
  EXPECT_EQ(refused->reason, RejectReason::quota_exceeded);
  EXPECT_GE(refused->needed, 2'000'000);
  EXPECT_EQ(refused->available, 1'000'000);
}

TEST_F(TenantsTest, GiveBackTheirPlaceWithTheAnswer) {
  ASSERT_TRUE(deploy(kOurs, document({"f"})));
  ASSERT_TRUE(set_quota({.requests = 1}));
  for (int i = 0; i < 3; ++i) {
    Call first{.principal = kOurs, .application = "app", .inputs = floats(*platform_, "x", {1})}, second = first;
    ASSERT_FALSE(platform_->enter(first, 1));
    const auto refused = platform_->enter(second, 1);
    ASSERT_TRUE(refused);
    EXPECT_EQ(refused->reason, RejectReason::quota_exceeded);
    EXPECT_EQ(call(*platform_, std::move(first)).get().kind, AnswerKind::finished);
    (void)platform_->settled_snapshot();  // what was answered is given back when the runner has gone on
  }
}

}  // namespace
}  // namespace sluice::live
