// Who may do what, decided from the head of a request.
#include "gateway/access.h"

#include <gtest/gtest.h>

#include <set>
#include <string>

#include "gateway/fake_identity.h"
#include "gateway/request_ids.h"
#include "gateway/router_fixture.h"

namespace sluice::gateway {
namespace {

class AccessTest : public testing::Test {
 protected:
  AccessTest() {
    for (const Role role : {Role::caller, Role::deployer, Role::admin}) {
      identity_.all_keys.push_back(
          {.name = std::string(name_of(role)), .principal = {.tenant = "acme", .role = role}, .made = {}, .hash = {}});
    }
  }
  // The status of the refusal; 200: let in.
  unsigned on_loopback(std::string_view key, Method method, std::string_view path) const {
    return status_of({.method = method, .path = path, .key = key, .host = "127.0.0.1:8000", .local = true});
  }
  unsigned elsewhere(std::string_view key, Method method, std::string_view path) const {
    return status_of({.method = method, .path = path, .key = key, .host = "my.host"});
  }
  unsigned status_of(const Knock& knock) const {
    const Admission admission = Access(identity_, open_metrics_).admit(knock);
    const auto* refusal = std::get_if<Reply>(&admission);
    return refusal != nullptr ? refusal->status : 200;
  }

  FakeIdentity identity_;
  OpenMetrics open_metrics_ = OpenMetrics::server;
};

TEST_F(AccessTest, LetsGuestsOnLoopbackCallAndLook) {
  for (const char* path : {"/v2/health/ready", "/metrics", "/v1/applications", "/v1/requests/1", "/v1/status", "/v2"}) {
    EXPECT_EQ(on_loopback("", Method::get, path), 200u) << path;
  }
  EXPECT_EQ(on_loopback("", Method::post, "/v2/models/m/infer"), 200u);
}

TEST_F(AccessTest, TakesWhoCanOpenTheSocketForAnAdminUnlessAKeySaysOtherwise) {
  const auto through_socket = [&](std::string_view key) {
    return status_of({.method = Method::post, .path = "/v1/keys", .key = key, .local = true, .trusted = true});
  };
  EXPECT_EQ(through_socket(""), 200u);
  EXPECT_EQ(through_socket("deployer"), 403u);
  EXPECT_EQ(through_socket("none of ours"), 401u);
}

TEST_F(AccessTest, WantsAKeyForWhatChangesTheServer) {
  EXPECT_EQ(on_loopback("", Method::post, "/v1/applications"), 401u);
  EXPECT_EQ(on_loopback("", Method::remove, "/v1/applications/a"), 401u);
  EXPECT_EQ(on_loopback("", Method::remove, "/v1/applications/a/"), 401u);
  EXPECT_EQ(on_loopback("", Method::remove, "/v1/requests/00"), 401u);
  EXPECT_EQ(on_loopback("", Method::get, "/v1/keys"), 401u);
  EXPECT_EQ(on_loopback("", Method::post, "/v1/tenants/acme"), 401u);
  EXPECT_EQ(on_loopback("", Method::get, "/v1/"), 200u);
}

TEST_F(AccessTest, GivesEachRoleWhatItIsFor) {
  EXPECT_EQ(elsewhere("caller", Method::post, "/v2/models/m/infer"), 200u);
  EXPECT_EQ(elsewhere("caller", Method::remove, "/v1/requests/00"), 200u);
  EXPECT_EQ(elsewhere("caller", Method::post, "/v1/applications"), 403u);
  EXPECT_EQ(elsewhere("deployer", Method::post, "/v1/applications"), 200u);
  EXPECT_EQ(elsewhere("deployer", Method::remove, "/v1/applications/a"), 200u);
  EXPECT_EQ(elsewhere("deployer", Method::get, "/v1/keys"), 403u);
  EXPECT_EQ(elsewhere("admin", Method::get, "/v1/keys"), 200u);
  EXPECT_EQ(elsewhere("admin", Method::post, "/v1/tenants"), 200u);
}

TEST_F(AccessTest, ServesNobodyWithoutAKeyWhereOthersCanReachIt) {
  EXPECT_EQ(elsewhere("", Method::get, "/v2"), 401u);
  EXPECT_EQ(elsewhere("", Method::post, "/v2/models/m/infer"), 401u);
  EXPECT_EQ(elsewhere("wrong", Method::get, "/v2"), 401u);
  EXPECT_EQ(elsewhere("", Method::get, "/v2/health/live"), 200u);
  EXPECT_EQ(elsewhere("", Method::get, "/v2/health/ready"), 200u);
  EXPECT_EQ(elsewhere("", Method::post, "/v2/health/ready"), 401u);
}

// Scrapers and balancers have no key.
TEST_F(AccessTest, ShowsMetricsWithoutAKeyUnlessTheyAreGuarded) {
  EXPECT_EQ(elsewhere("", Method::get, "/metrics"), 200u);
  EXPECT_EQ(elsewhere("", Method::post, "/metrics"), 401u);
  EXPECT_EQ(elsewhere("wrong", Method::get, "/metrics"), 401u);
  EXPECT_EQ(elsewhere("", Method::get, "/v1/status"), 401u);
  open_metrics_ = OpenMetrics::none;
  EXPECT_EQ(elsewhere("", Method::get, "/metrics"), 401u);
  EXPECT_EQ(elsewhere("caller", Method::get, "/metrics"), 200u);
  EXPECT_EQ(on_loopback("", Method::get, "/metrics"), 200u);
}

TEST_F(AccessTest, ShowsNoTenantsSeriesToThoseWithoutAKeyOnceThereAreSeveral) {
  const auto guest = [&] {
    return std::get<Principal>(Access(identity_, open_metrics_).admit({.path = "/metrics", .host = "my.host"}));
  };
  EXPECT_TRUE(guest().sees_everything());
  identity_.all_tenants.push_back({.name = "acme", .id = TenantId(1), .quota = {}});
  EXPECT_FALSE(guest().sees("acme"));
  EXPECT_FALSE(guest().sees("default"));
  open_metrics_ = OpenMetrics::all;
  EXPECT_TRUE(guest().sees("acme"));
}

// Functions can reach the loopback as well.
TEST_F(AccessTest, IsClosedToGuestsOnceThereAreSeveralTenants) {
  identity_.all_tenants.push_back({.name = "acme", .id = TenantId(1), .quota = {}});
  EXPECT_EQ(on_loopback("", Method::post, "/v2/models/m/infer"), 401u);
  EXPECT_EQ(on_loopback("", Method::get, "/v1/status"), 401u);
  EXPECT_EQ(on_loopback("", Method::get, "/v2/health/live"), 200u);
  EXPECT_EQ(on_loopback("caller", Method::post, "/v2/models/m/infer"), 200u);
}

TEST_F(AccessTest, IsClosedToWebPagesOnLoopback) {
  const auto page = [&](std::string_view host, std::string_view origin) {
    return status_of({.path = "/v2", .host = host, .origin = origin, .local = true});
  };
  EXPECT_EQ(page("127.0.0.1:8000", ""), 200u);
  EXPECT_EQ(page("localhost:8000", "http://localhost:8000"), 200u);
  EXPECT_EQ(page("[::1]:8000", ""), 200u);
  EXPECT_EQ(page("evil.example:8000", ""), 403u);
  EXPECT_EQ(page("localhost:8000", "http://evil.example"), 403u);
  EXPECT_EQ(page("localhost:8000", "null"), 403u);
}

TEST_F(AccessTest, SaysWhatIsMissing) {
  const auto text = [&](const Knock& knock) {
    return std::get<Reply>(Access(identity_, open_metrics_).admit(knock)).body;
  };
  EXPECT_EQ(text({.path = "/v2"}),
            R"({"error":"this server needs a key: send a key as 'Authorization: Bearer KEY' or 'X-API-Key: KEY'"})");
  EXPECT_EQ(text({.method = Method::post, .path = "/v1/applications", .key = "caller"}),
            R"({"error":"this needs a key of role deployer; this one is of role caller of tenant 'acme'"})");
}

// --- over HTTP

TEST_F(RouterTest, MakesListsAndRevokesKeys) {
  EXPECT_EQ(post("/v1/keys", R"({"name":"bob","tenant":"acme","role":"deployer"})"),
            R"(200 {"name":"bob","tenant":"acme","role":"deployer","key":"text of bob"})");
  EXPECT_EQ(post("/v1/keys", R"({"name":"eve"})"),
            R"(200 {"name":"eve","tenant":"default","role":"caller","key":"text of eve"})");
  EXPECT_EQ(get("/v1/keys"), R"(200 {"keys":[{"name":"bob","tenant":"acme","role":"deployer","made_ms":5.0},)"
                             R"({"name":"eve","tenant":"default","role":"caller","made_ms":5.0}]})");
  EXPECT_EQ(remove("/v1/keys/bob"), R"(200 {"revoked":"bob"})");
  EXPECT_EQ(remove("/v1/keys/bob"), R"(404 {"error":"there is no key 'bob'"})");
  EXPECT_EQ(post("/v1/keys", R"({"name":"x","role":"king"})"),
            R"(400 {"error":"there is no role 'king': expected caller, deployer or admin"})");
  EXPECT_EQ(post("/v1/keys", R"({"name":7})"), R"(400 {"error":"'name' is no text"})");
  EXPECT_EQ(post("/v1/keys", "[]"), R"(400 {"error":"the body is no JSON object"})");
}

TEST_F(RouterTest, MakesTenantsAndSetsTheirLimits) {
  EXPECT_EQ(post("/v1/tenants", R"({"name":"acme","requests":5,"requests_per_second":0.5,"bytes":1000})"),
            R"(200 {"name":"acme","requests_per_second":0.5,"requests":5,"bytes":1000,)"
            R"("functions":null,"vcpu":null,"vgpu":null})");
  EXPECT_EQ(post("/v1/tenants/acme", R"({"requests":null,"vgpu":2})"),
            R"(200 {"name":"acme","requests_per_second":0.5,"requests":null,"bytes":1000,)"
            R"("functions":null,"vcpu":null,"vgpu":2})");
  EXPECT_EQ(post("/v1/tenants/nobody", "{}"), R"(404 {"error":"there is no tenant 'nobody'"})");
  for (const char* wrong : {"-1", "\"5\"", "1.5", "5000000000", "[]"}) {
    EXPECT_EQ(post("/v1/tenants/acme", R"({"functions":)" + std::string(wrong) + "}"),
              R"(400 {"error":"'functions' is no limit: expected a number, or null for none"})");
  }
  EXPECT_EQ(remove("/v1/tenants/acme"), R"(200 {"removed":"acme"})");
  EXPECT_EQ(get("/v1/tenants").substr(0, 39), R"(200 {"tenants":[{"name":"default","requ)");
}

// --- what a principal sees

class ScopeTest : public RouterTest {
 protected:
  ScopeTest() {
    live::Snapshot snapshot = a_snapshot();
    live::Model theirs = a_model("echo", {port("Y", DataType::fp32, {-1})});
    theirs.tenant = "acme";
    theirs.version = 7;
    snapshot.models.insert(snapshot.models.begin(), theirs);
    snapshot.nodes[0].instances.push_back({.id = InstanceId(4), .tenant = "acme", .function = "secret"});
    snapshot.cold.push_back({.tenant = "acme", .application = "echo", .function = "e"});
    service_.set(std::move(snapshot));
    live::RequestRecord record;
    record.id = RequestId(0xA1);
    record.tenant = "acme";
    record.application = "echo";
    service_.records = {record};
  }
  static constexpr const char* kTheirs = "/v1/requests/00000000000000a1";
};

TEST_F(ScopeTest, NamesBelongToTenants) {
  principal_ = {.tenant = "acme", .role = Role::caller};
  EXPECT_NE(get("/v2/models/echo").find(R"("versions":["7"])"), std::string::npos);
  EXPECT_EQ(get("/v2/models/chain"), R"(400 {"error":"Request for unknown model: 'chain' is not found"})");
  EXPECT_EQ(post("/v2/repository/index"), R"(200 [{"name":"echo","version":"7","state":"READY"}])");
  principal_ = {.tenant = "default", .role = Role::caller};
  EXPECT_NE(get("/v2/models/echo").find(R"("versions":["1"])"), std::string::npos);
}

TEST_F(ScopeTest, CallsCarryWhoCalls) {
  principal_ = {.tenant = "acme", .role = Role::caller};
  Principal called;
  service_.when_called([&](const live::Call& call, RequestId id, const live::OnAnswer& answer) {
    called = call.principal;
    FakeService::echo(call, id, answer);
  });
  post("/v2/models/echo/infer", R"({"inputs":[{"name":"Y","shape":[1],"datatype":"FP32","data":[1]}]})");
  EXPECT_EQ(called, principal_);
}

TEST_F(ScopeTest, RequestsOfOthersAreAsIfTheyWereNotThere) {
  principal_ = {.tenant = "rival", .role = Role::deployer};
  const std::string unknown = get("/v1/requests/00000000000000a2");
  for (const std::string& what : {get(kTheirs), get(std::string(kTheirs) + "/trace"), remove(kTheirs)}) {
    std::string same = what;
    same.replace(same.find("a1"), 2, "a2");
    EXPECT_EQ(same, unknown);
  }
  EXPECT_TRUE(service_.cancelled().empty());
  get("/v1/requests");
  EXPECT_EQ(service_.asked.tenant, "rival");
  principal_ = {.tenant = "acme", .role = Role::caller};
  EXPECT_EQ(get(kTheirs).substr(0, 3), "200");
}

TEST_F(ScopeTest, PagesTellATenantOfItself) {
  principal_ = {.tenant = "acme", .role = Role::deployer};
  EXPECT_EQ(get("/v1/applications").find("chain"), std::string::npos);
  EXPECT_NE(get("/v1/applications").find("echo"), std::string::npos);
  EXPECT_EQ(get("/v1/status"), R"(200 {"version":"1.2.3","uptime_s":2.5,"scheduler":"sluice","applications":1})");
  EXPECT_NE(get("/v1/nodes").find("secret"), std::string::npos);
  EXPECT_EQ(get("/v1/nodes").find("label"), std::string::npos);
  const std::string metrics = get("/metrics");
  EXPECT_NE(metrics.find("nv_inference_count{tenant=\"acme\",model=\"echo\""), std::string::npos);
  EXPECT_EQ(metrics.find("chain"), std::string::npos);
  EXPECT_EQ(metrics.find("default"), std::string::npos);
  EXPECT_NE(metrics.find("sluice_in_system_requests"), std::string::npos);
  router_ = make_router(service_, identity_, {.open_metrics = OpenMetrics::none});
  EXPECT_EQ(get("/metrics").find("sluice_in_system_requests"), std::string::npos);
}

TEST_F(ScopeTest, MetricsTellAPasserByOfTheServerAlone) {
  principal_ = {.tenant = "", .role = Role::caller};
  const std::string page = get("/metrics");
  EXPECT_NE(page.find("sluice_in_system_requests 7\n"), std::string::npos);
  EXPECT_NE(page.find("sluice_node_ready{node=\"local\"} 1\n"), std::string::npos);
  for (const std::string_view theirs : {"tenant=", "application=", "chain", "echo", "acme"}) {
    EXPECT_EQ(page.find(theirs), std::string::npos) << theirs;
  }
}

TEST_F(ScopeTest, AdminsSeeEverythingAndActForOthers) {
  principal_ = {.role = Role::admin};
  EXPECT_NE(get("/v1/applications").find(R"("tenant":"acme")"), std::string::npos);
  EXPECT_NE(get("/v1/nodes").find("label"), std::string::npos);
  EXPECT_NE(get("/v2/models/echo").find(R"("versions":["1"])"), std::string::npos);
  EXPECT_NE(get("/v2/models/echo?tenant=acme").find(R"("versions":["7"])"), std::string::npos);
  EXPECT_EQ(get("/v1/applications?tenant=acme").find("chain"), std::string::npos);
  service_.on_remove = [](const std::string&) { return Status(Done{}); };
  remove("/v1/applications/echo?tenant=acme");
  EXPECT_EQ(service_.removed_from, "acme");
}

TEST_F(ScopeTest, NobodyElseActsForOthers) {
  for (const Role role : {Role::guest, Role::caller, Role::deployer}) {
    principal_ = {.tenant = "default", .role = role};
    EXPECT_EQ(get("/v2/models/echo?tenant=acme"), R"(403 {"error":"only an admin acts for another tenant"})");
    EXPECT_EQ(get("/v2/models/echo?tenant=default").substr(0, 3), "200");
  }
}

// --- ids

// The published test vector of Speck64/128.
TEST(RequestIds, AreTheCipherTheySayTheyAre) {
  const RequestIds ids("1b1a1918131211100b0a090803020100");
  EXPECT_EQ(ids.outer(0x3b7265747475432d), 0x8c6fa548454e028bu);
  EXPECT_EQ(ids.inner(0x8c6fa548454e028b), 0x3b7265747475432du);
}

TEST(RequestIds, AreNotGuessedFromOneAnother) {
  const RequestIds ids("000102030405060708090a0b0c0d0e0f");
  std::set<std::string> seen;
  for (std::uint64_t id = (7ull << 40); id < (7ull << 40) + 1000; ++id) {
    const std::string text = ids.text(RequestId(id));
    EXPECT_EQ(ids.parse(text), RequestId(id));
    EXPECT_TRUE(seen.insert(text.substr(0, 8)).second);  // the first half alone differs
  }
  EXPECT_EQ(ids.parse("123"), std::nullopt);
  EXPECT_EQ(ids.parse("000000000000000g"), std::nullopt);
}

}  // namespace
}  // namespace sluice::gateway
