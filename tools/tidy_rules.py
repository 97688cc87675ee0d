"""The tables of tidy.py: who may include whom, which words are forbidden where, and the limits on sizes.

The folders and their arrows are those of ARCHITECTURE.md; change both together.
"""
import re

# Folder of src/ → the folders it may include, besides all that those may include.
ARROWS = {folder: arrows.split() for folder, arrows in {
    "base": "",
    "domain": "base",
    "spec": "domain",
    "profile": "domain",
    "plan": "profile",
    "policy": "plan",
    "core": "policy",
    "record": "core",
    "workload": "domain",
    "sim": "record workload",
    "reproduce": "sim spec",
    # What decides is above, what acts is below.
    "data": "domain",
    "engine": "data",
    "wire": "data",
    "bus": "wire",
    "invoker": "bus engine profile",
    "store": "data",
    "live": "record invoker store spec",
    "gateway": "live spec",
    "report": "reproduce",
    "client": "data",
    "log": "wire",
    "cli": "gateway invoker report client log",
    "worker": "engine wire",  # apps/sluice_worker* counts as this folder
}.items()}
FOLDERS = set(ARROWS)
# Folders inside of folders → who may include them, besides their own files. Tests and benchmarks may include everything.
INNER = {folder: re.compile(pattern) for folder, pattern in {
    "spec/asl": r"src/spec/load\.cpp$",
    "spec/triton": r"src/spec/load\.cpp$",
    "spec/yaml": r"src/spec/(?:load|include|settings)\.cpp$",
    "spec/csv": r"src/(?:spec/yaml|reproduce|live|cli)/",
}.items()}
# Searches of other schedulers, and references that are exact but slow. What serves requests never includes them, also not
# by other headers; the policies of rivals, `reproduce` and `cli` do.
RIVALS = "plan/rivals/"
PRODUCTION = re.compile(r"src/(?:plan/[^/]+|policy/sluice[^/]*|core/.*|live/.*)$")
DECIDES = set("base domain spec profile plan policy core record workload sim reproduce".split())
PORTABLE = set("base domain data engine wire worker".split())  # built where there is only the standard library
ORDERED = set("profile plan policy core sim".split())  # a decision must not depend on the order of a hash table
CODE = ("src", "apps", "tests", "bench")

STANDARD = set("""
    algorithm any array atomic barrier bit bitset cassert cctype cerrno cfenv cfloat charconv chrono cinttypes climits
    clocale cmath codecvt compare complex concepts condition_variable coroutine csetjmp csignal cstdarg cstddef cstdint
    cstdio cstdlib cstring ctime cuchar cwchar cwctype deque exception execution filesystem forward_list fstream
    functional future initializer_list iomanip ios iosfwd iostream istream iterator latch limits list locale map memory
    memory_resource mutex new numbers numeric optional ostream queue random ranges ratio regex scoped_allocator
    semaphore set shared_mutex source_location span sstream stack stdexcept stop_token streambuf string string_view
    syncstream system_error thread tuple type_traits typeindex typeinfo unordered_map unordered_set utility valarray
    variant vector version""".split())
# System headers that data, engine, wire and the worker may use; other folders below the line may use any.
SYSTEM = re.compile(r"(sys|linux|net|netinet|arpa)/|"
                    r"(unistd|fcntl|dlfcn|sched|signal|poll|spawn|dirent|pthread|pwd|grp|ifaddrs|syscall)\.h$")
# Libraries that are slow to compile or belong to one task → where they may be included.
LIBRARIES = [(re.compile(pattern), folders) for pattern, folders in [
    (r"yaml-cpp/", {"spec"}),
    (r"nlohmann/", {"cli", "report", "gateway", "store", "sim", "reproduce"}),
    (r"CLI/|CLI11", {"cli"}),
    (r"boost/", {"gateway", "live", "bus", "invoker", "client"}),
    (r"simdjson\.h$", {"gateway"}),
    (r"zlib\.h$", {"gateway"}),
    (r"png\.h$", {"cli"}),
    (r"prometheus/", set()),  # metrics are written by hand (gateway/metrics.cpp)
    (r"(eigen3/)?(unsupported/)?Eigen/", {"plan"}),
    (r"(torch|ATen|c10|cuda)/|(cuda|cublas|cudnn|nvrtc|nvml)\w*\.h$", {"engine"}),
    (r"sqlite3\.h$", {"store"}),
    (r"openssl/", {"store", "gateway", "client"}),
    (r"fmt/", FOLDERS - PORTABLE),
    (r"spdlog/", {"log"}),
]]

CALL = r"(?<![\w.>:])(?:std::|::)?"  # before the name of a C function: no member, no function of another namespace
# Rule, pattern, folders of src/ where it is forbidden, what would help.
WORDS = [(rule, re.compile(pattern, re.X), folders, advice) for rule, pattern, folders, advice in [
    ("clock", rf"\b(?:chrono|clock_gettime|gettimeofday)\b | <ctime>"
              rf"| {CALL}time\s*\(\s*(?:nullptr|NULL|0|&\s*\w+)\s*\)",
     DECIDES, "take the instant as an argument (base/time.h)"),
    ("sleep", rf"\bsleep_(?:for|until)\b | \b(?:usleep|nanosleep|clock_nanosleep)\b | {CALL}sleep\s*\(",
     DECIDES, "return the instant to be woken at; the driver waits"),
    ("thread", r"""\bstd::(?:j?thread | (?:\w+_)?mutex | atomic\w* | condition_variable\w* | async | future | promise
                   | \w+_lock | lock_guard | latch | barrier | \w+_semaphore)\b | \bpthread_ | \bthread_local\b
                   | <(?:thread | (?:shared_)?mutex | atomic | condition_variable | future | latch | barrier
                   | semaphore | stop_token)>""",
     DECIDES, "take an executor as an argument; threads and locks live below the line"),
    ("random", rf"\bstd::random_device\b | <random> | {CALL}s?rand\s*\(",
     DECIDES, "take an Rng as an argument (base/rng.h)"),
    ("environment", r"\b(?:secure_)?getenv\b",
     DECIDES, "take the value as an argument; cli/ reads the environment"),
    ("output", rf"\bstd::w?(?:cout|cerr|clog)\b | {CALL}(?:v?printf|puts|putchar)\s*\( | \bfmt::print\s*\(",
     FOLDERS - {"cli"}, "return the text; cli/ prints it"),
    ("output", rf"{CALL}(?:v?fprintf|fputs)\s*\(",
     DECIDES, "return the text; for a bug use CHECK (base/check.h)"),
    ("throw", r"\bthrow\b",
     FOLDERS, "return a Result; for a bug use CHECK"),
]]
EXEMPT = {("output", "src/base/check.cpp")}  # prints what is needed to find a bug, then aborts

UNFINISHED = re.compile(r"\b(?:TODO|FIXME|XXX|HACK)\b")
ABSOLUTE = re.compile(r"(?<![\w.~})*-])/(?:work|root|home)/")
OUTSIDE = re.compile(r'=\s*"\.\./|SOURCE_DIR\)?\s*/\s*"\.\."|SOURCE_DIR\}?/\.\.')
VAGUE_FOLDERS = {"util", "misc", "common", "internal"}
ALLOWANCE = re.compile(r"tidy: allow\(([\w-]+)\)[ \t]*(.*)")
OWN = {f"tools/{name}.py" for name in ("tidy", "tidy_rules", "tidy_test")}  # hold patterns and planted faults

SOURCE_LINES_MAX = 500
HEADER_LINES_MAX = 200
FUNCTION_LINES_MAX = 70
PRIVATE_METHODS_MAX = 25
