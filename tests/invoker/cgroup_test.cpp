// Control groups of version 2 where the server itself sits in one, on a tree of plain files.
#include "invoker/cgroup.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace sluice::invoker {
namespace {

namespace fs = std::filesystem;

// A hierarchy as systemd makes it: this process is in `service`.
class Tree {
 public:
  Tree() {
    fs::remove_all(root_);
    fs::create_directories(service());
    write(root_ / "mounts", "none " + (root_ / "groups").string() + " cgroup2 rw 0 0\n");
    is_in("/service");
  }
  ~Tree() { fs::remove_all(root_); }

  [[nodiscard]] CgroupRoot::Sources sources() const {
    return {.mounts = (root_ / "mounts").string(), .groups = (root_ / "own").string()};
  }
  [[nodiscard]] fs::path service() const { return root_ / "groups" / "service"; }
  void is_in(const std::string& group) { write(root_ / "own", "0::" + group + "\n"); }
  static void write(const fs::path& file, const std::string& text) { std::ofstream(file) << text; }
  static std::string read(const fs::path& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  fs::path root_ = fs::path(testing::TempDir()) / ("sluice-tree-" + std::to_string(::getpid()));
};

// Nothing is handed on while there are processes in the group: here the file is there once `main` is.
TEST(CgroupTree, OfAServiceHasTheServerInAGroupOfItsOwnBesideTheWorkers) {
  Tree tree;
  Tree::write(tree.service() / "cgroup.procs", std::to_string(::getpid()));
  fs::create_symlink("main/handed-on", tree.service() / "cgroup.subtree_control");
  const CgroupRoot groups("sluice-1", tree.sources());
  EXPECT_EQ(groups.version(), 2);
  EXPECT_TRUE(groups.limits_cpu() && groups.limits_memory() && groups.limits_processes());
  EXPECT_EQ(Tree::read(tree.service() / "main/cgroup.procs"), std::to_string(::getpid()));
  EXPECT_EQ(Tree::read(tree.service() / "main/handed-on"), "+cpu +memory");
  ASSERT_TRUE(groups.open("t") && groups.enter("t/w", 77));
  EXPECT_TRUE(groups.set_cpus("t/w", 1.5) && groups.set_memory("t/w", Bytes(1000)) && groups.set_processes("t/w", 9));
  const fs::path tenant = tree.service() / "sluice-1/t", worker = tenant / "w";
  EXPECT_EQ(Tree::read(worker / "cgroup.procs"), "77");
  EXPECT_EQ(Tree::read(worker / "cpu.max"), "150000 100000");
  EXPECT_EQ(Tree::read(worker / "memory.max"), "1000");
  EXPECT_EQ(Tree::read(worker / "pids.max"), "9");
  EXPECT_EQ(Tree::read(tenant / "cgroup.subtree_control"), "+cpu +memory");
  EXPECT_TRUE(groups.set_cpus("t", 2) && groups.pin("t", {0, 3}));
  EXPECT_EQ(Tree::read(tenant / "cpu.max"), "200000 100000");
  EXPECT_EQ(Tree::read(tenant / "cpuset.cpus"), "0,3");
  EXPECT_TRUE(groups.set_cpus("t", std::nullopt));
  EXPECT_EQ(Tree::read(tenant / "cpu.max"), "max 100000");
}

TEST(CgroupTree, IsFoundAgainByAServerThatHasMovedAlready) {
  Tree tree;
  fs::create_directories(tree.service() / "main");
  tree.is_in("/service/main");
  const CgroupRoot groups("sluice-profile-1", tree.sources());
  EXPECT_EQ(groups.version(), 2);
  EXPECT_TRUE(fs::is_directory(tree.service() / "sluice-profile-1"));
  EXPECT_FALSE(fs::exists(tree.service() / "main/sluice-profile-1"));
}

TEST(CgroupTree, OfOthersIsLeftAsItIs) {
  Tree tree;
  Tree::write(tree.service() / "cgroup.procs", std::to_string(::getpid()) + "\n1\n");
  fs::create_symlink("main/handed-on", tree.service() / "cgroup.subtree_control");
  const CgroupRoot groups("sluice-1", tree.sources());
  EXPECT_EQ(groups.version(), 0);
  EXPECT_FALSE(fs::exists(tree.service() / "main"));
}

constexpr const char* kDead = "sluice-4194305";  // more than the system's highest number of a process

TEST(CgroupTree, OfAServerThatWasKilledGoes) {
  Tree tree;
  const std::string again = "sluice-" + std::to_string(::getpid());  // a number that is ours by now
  for (const char* left : {kDead, "sluice-profile-4194305", again.c_str()}) {
    fs::create_directories(tree.service() / left / "tenant-t/worker-1");
  }
  const CgroupRoot groups("sluice-1", tree.sources());
  EXPECT_FALSE(fs::exists(tree.service() / kDead));
  EXPECT_FALSE(fs::exists(tree.service() / "sluice-profile-4194305"));
  EXPECT_FALSE(fs::exists(tree.service() / again));
}

TEST(CgroupTree, OfSomebodyElseStays) {
  Tree tree;
  fs::create_directories(tree.service() / "sluice-of-somebody/tenant-t");
  fs::create_directories(tree.service() / "other-4194305/tenant-t");
  fs::create_directories(tree.service() / "sluice-4194306/main");  // a service's, named by a port
  fs::create_directories(tree.service() / "sluice-4194307/tenant-t");
  Tree::write(tree.service() / "sluice-4194307/cgroup.procs", "1\n");
  const CgroupRoot groups("sluice-1", tree.sources());
  for (const char* others :
       {"sluice-of-somebody/tenant-t", "other-4194305/tenant-t", "sluice-4194306/main", "sluice-4194307/tenant-t"}) {
    EXPECT_TRUE(fs::is_directory(tree.service() / others)) << others;
  }
}

// A server in another container has a number that says nothing here.
TEST(CgroupTree, OfAServerThatLivesWhereWeDoNotSeeItStays) {
  Tree tree;
  const CgroupRoot other(kDead, tree.sources());
  ASSERT_EQ(other.version(), 2);
  fs::create_directory(tree.service() / kDead / "tenant-t");
  const CgroupRoot groups("sluice-1", tree.sources());
  EXPECT_TRUE(fs::is_directory(tree.service() / kDead / "tenant-t"));
  EXPECT_EQ(fs::status(tree.service() / kDead).permissions(), fs::perms::owner_all);
}

}  // namespace
}  // namespace sluice::invoker
