"""What is measured of the live platform, a function a topic: each gives a table and the numbers in it."""
import contextlib
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import time

from bench_live_world import floor, load, nginx, sluice

REQUEST = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}]})
ANSWER = json.dumps({"model_name": "noop", "model_version": "1",
                     "outputs": [{"name": "x", "datatype": "FP32", "shape": [1, 4], "data": [1, 2, 3, 4]}]})
NOOP_MS = 0.0001  # shorter than a worker needs to look at the clock: it never sleeps
FREE_BATCHES = (1, 2, 4, 8, 16, 32, 64)
CONNECTIONS = 64


@dataclasses.dataclass
class Topic:
    """A table of texts, and the same as numbers."""
    name: str
    title: str
    header: list
    rows: list = dataclasses.field(default_factory=list)
    notes: list = dataclasses.field(default_factory=list)
    numbers: dict = dataclasses.field(default_factory=dict)


def chain(name, stages, batches, slo="10s", milliseconds=lambda batch: NOOP_MS, deviation=0):
    """An application of emulated stages, one after the other, each a function of its own."""
    table = ", ".join(f"[{batch}, 1, 0, {milliseconds(batch)}, {deviation}]" for batch in batches)
    functions = "".join(f"  s{i}: {{runtime: emulated, memory: 10MB, profile: {{table: [{table}]}}}}\n" for i in range(stages))
    workflow = "".join(f"  s{i}: {{{'' if i == 0 else f'after: s{i - 1}'}}}\n" for i in range(stages))
    return f"application: {name}\nslo: {{latency: {slo}, percentile: 95}}\nfunctions:\n{functions}workflow:\n{workflow}"


def infer(name):
    return f"/v2/models/{name}/infer"


def p(figures, quantile, status="200"):
    return figures["statuses"].get(status, {}).get(f"{quantile}_us", float("nan"))


def per_cpu_second(figures):
    return figures["requests"] / max(sum(figures["server_cpu_s"]), 1e-9)


def settled(world, server, name, body, seconds=1.5, **options):
    """A closed-loop run with the CPU time of the server and the workers that a run before it had started."""
    load(world, server.port, infer(name), body, seconds=seconds / 2, connections=CONNECTIONS)
    return load(world, server.port, infer(name), body, seconds=seconds, pids=server.pids(), **options)


def best_of(runs, key, run):
    return max((run() for _ in range(runs)), key=key)


def throughput(world):
    """a: what the request path costs."""
    out = Topic("throughput", f"No-op function in a worker process, {CONNECTIONS} connections, closed loop",
                ["", "per CPU-second", "per second", "CPU server", "CPU workers", "CPU client", "batch"],
                notes=["per CPU-second: of all processes of Sluice together; best of 3 runs; target 20,000"])

    def row(name, figures, batch):
        server, workers = figures["server_cpu_s"][0], sum(figures["server_cpu_s"][1:])
        rate = figures["requests"] / figures["seconds"]
        out.rows.append([name, f"{per_cpu_second(figures):,.0f}", f"{rate:,.0f}", f"{server:.2f} s", f"{workers:.2f} s",
                         f"{figures['client_cpu_s']:.2f} s", f"{batch:.1f}"])
        out.numbers[name] = {"per_cpu_second": per_cpu_second(figures), "rate": rate, "server_cpu_s": server,
                             "workers_cpu_s": workers, "batch": batch}

    with sluice(world) as server:
        for name, batches in (("batch-1", (1,)), ("free-batching", FREE_BATCHES)):
            server.deploy(chain(name, 1, batches))
            figures = best_of(3, per_cpu_second, lambda n=name: settled(world, server, n, REQUEST, connections=CONNECTIONS))
            stats = server.get(f"/v2/models/{name}/stats")["model_stats"][0]
            row(name, figures, stats["inference_count"] / max(stats["execution_count"], 1))
    with floor(world, ANSWER) as beside:
        row("floor", best_of(3, per_cpu_second, lambda: load(
            world, beside.port, "/", REQUEST, seconds=1.5, connections=CONNECTIONS, pids=beside.pids)), 1)
        out.notes.append("floor: a server that only passes messages to a process and back")
    with nginx(world, ANSWER) as beside:
        if beside is None:
            out.notes.append("nginx is not installed (package nginx-light): nothing beside it")
        else:
            row("nginx", best_of(3, per_cpu_second, lambda: load(
                world, beside.port, "/", REQUEST, seconds=1.5, connections=CONNECTIONS, pids=[beside.pid])), 1)
    return out


def added_latency(world):
    """b: what Sluice adds to what the function takes."""
    out = Topic("added-latency", "Added latency, open loop (Poisson) at half of the peak rate",
                ["", "rate", "p50", "p99", "worker", "nginx p50", "nginx p99", "added p50", "added p99"],
                notes=["added: client latency less the worker's mean time and nginx's percentile at the same rate;"
                       " best of 3 runs; targets 100 and 500 us",
                       "free batching waits for batches to fill, since the objective of 10 s lets it: that is not the path"])

    def run(port, target, rate):
        options = {"rate": rate, "poisson": True, "connections": CONNECTIONS} if rate else {"connections": 1}
        return best_of(3, lambda f: -p(f, "p99"), lambda: load(world, port, target, REQUEST, seconds=1.5, **options))

    def row(title, name, server, beside, rate):
        count, ns = server.compute(name)
        figures = run(server.port, infer(name), rate)
        count_after, ns_after = server.compute(name)
        worker = (ns_after - ns) / max(count_after - count, 1) / 1e3
        under = run(beside.port, "/", rate) if beside else None
        base = {q: p(under, q) if under else 0.0 for q in ("p50", "p99")}
        added = {q: p(figures, q) - worker - base[q] for q in ("p50", "p99")}
        out.rows.append([title, f"{figures['requests'] / figures['seconds']:,.0f}/s", *(f"{x:.0f} us" for x in (
            p(figures, "p50"), p(figures, "p99"), worker, base["p50"], base["p99"], added["p50"], added["p99"]))])
        out.numbers[title] = {"rate": rate, "p50_us": p(figures, "p50"), "p99_us": p(figures, "p99"), "worker_us": worker,
                              "nginx_p50_us": base["p50"], "nginx_p99_us": base["p99"],
                              "added_p50_us": added["p50"], "added_p99_us": added["p99"]}

    with sluice(world) as server, nginx(world, ANSWER) as beside:
        for name, batches in (("batch-1", (1,)), ("free-batching", FREE_BATCHES)):
            server.deploy(chain(name, 1, batches))
            peak = best_of(2, lambda f: f["requests"], lambda n=name: settled(
                world, server, n, REQUEST, connections=CONNECTIONS))
            if name == "batch-1":
                row("batch-1, one connection, closed loop", name, server, beside, 0)
            row(f"{name}, half of the peak", name, server, beside, peak["requests"] / peak["seconds"] / 2)
        if beside is None:
            out.notes.append("nginx is not installed (package nginx-light): nothing was taken off for it")
    return out


HOPS = 10


def stage_hop(world):
    """c: what one more stage costs."""
    out = Topic("stage-hop", f"Stage hop: a chain of {HOPS} no-op stages against one stage, one connection",
                ["", "p50", "p99"], notes=[f"hop: the difference over {HOPS - 1}; best of 3 runs; target 50 us"])
    p50 = {}
    with sluice(world) as server:
        for stages in (1, HOPS):
            server.deploy(chain(f"chain-{stages}", stages, (1,)))
            load(world, server.port, infer(f"chain-{stages}"), REQUEST, seconds=1, connections=4)  # workers start
            figures = best_of(3, lambda f: -p(f, "p50"), lambda n=stages: load(
                world, server.port, infer(f"chain-{n}"), REQUEST, seconds=1, connections=1))
            p50[stages] = p(figures, "p50")
            out.rows.append([f"{stages} stage{'s' if stages > 1 else ''}", f"{p50[stages]:.0f} us",
                             f"{p(figures, 'p99'):.0f} us"])
    hop = (p50[HOPS] - p50[1]) / (HOPS - 1)
    out.rows.append(["hop", f"{hop:.1f} us", ""])
    out.numbers = {"p50_1_us": p50[1], f"p50_{HOPS}_us": p50[HOPS], "hop_us": hop}
    return out


MEGABYTE = 1 << 20
LARGE_STAGES = 5


def large_tensors(world):
    """d: whether large tensors are copied between stages."""
    out = Topic("large-tensors", f"Tensors of 1 MB through {LARGE_STAGES} stages, binary extension",
                ["", "requests", "p50", "p99", "bytes in", "bytes out", "gathered", "gathers", "batches"],
                notes=["the emulated function copies its input to its output once a stage, in the worker;"
                       " gathered: copied because the members of a batch changed"])
    head = json.dumps({"inputs": [{"name": "x", "datatype": "FP32", "shape": [1, MEGABYTE // 4],
                                   "parameters": {"binary_data_size": MEGABYTE}}],
                       "parameters": {"binary_data_output": True}})
    headers = [f"Inference-Header-Content-Length: {len(head)}", "Content-Type: application/octet-stream"]
    body = head.encode() + bytes(MEGABYTE)
    with sluice(world) as server:
        for connections, batches in ((1, (1,)), (8, (1, 2, 4))):
            name = f"large-{connections}"
            server.deploy(chain(name, LARGE_STAGES, batches, slo="1s"))
            load(world, server.port, infer(name), body, headers=headers, seconds=0.5, connections=connections)
            before = server.objects()
            figures = load(world, server.port, infer(name), body, headers=headers, seconds=2, connections=connections)
            after = server.objects()
            grown = {k: after[k] - before[k] for k in ("bytes_in", "bytes_out", "bytes_gathered", "gathers", "batches")}
            out.rows.append([f"{connections} at a time", figures["requests"], f"{p(figures, 'p50') / 1e3:.2f} ms",
                             f"{p(figures, 'p99') / 1e3:.2f} ms",
                             *(f"{grown[k] / 1e6:,.0f} MB" for k in ("bytes_in", "bytes_out", "bytes_gathered")),
                             grown["gathers"], grown["batches"]])
            out.numbers[f"{connections}"] = {"requests": figures["requests"], "p50_us": p(figures, "p50"),
                                             "p99_us": p(figures, "p99"), **grown}
    return out


def cold_start(world):
    """f: how long a torch function takes to its first answer."""
    out = Topic("cold-start", "Cold start of a torch function (small CNN): from the command to its first answer",
                ["from", "median"], notes=["20 repetitions; target from the parked parent 25 ms"])
    program = world.program("bench/cold_start_bench")
    try:
        ran = subprocess.run(world.command([program, world.program("sluice-worker"),
                                            world.program("tests/worker/make_model"), world.folder]),
                             check=True, stdout=subprocess.PIPE, text=True)
    except FileNotFoundError:
        out.notes.append("this build has no libtorch: nothing was measured")
        return out
    out.numbers = json.loads(ran.stdout)
    for name, key in (("disk", "disk_ms"), ("page cache, a fresh process", "page_cache_ms"), ("the parked parent", "parked_ms")):
        out.rows.append([name, f"{out.numbers[key]:.1f} ms"])
    out.notes.append(f"{out.numbers['disk_stayed']:.0%} of the libraries' bytes could not be dropped from the page cache:"
                     " other processes have them mapped")
    return out


OVERLOAD_SLO_MS = 200
OVERLOAD_VCPU = 8
OVERLOAD_TIMES = {1: 20, 2: 23, 4: 29, 8: 41}  # batch: ms


OVERLOAD_HEADER = ["load", "asked", "goodput", "of peak", "late", "expired", "of accepted", "refused", "refusal p50", "refusal p99", "other",
                   "p99 of 200"]


def overload_row(out, key, load, rate, figures, peak):
    """What became of the requests of one run; goodput is compared with `peak`."""
    count = {status: s["count"] for status, s in figures["statuses"].items()}
    goodput = figures["in_time"] / figures["seconds"]
    late, refused = count.get("200", 0) - figures["in_time"], count.get("429", 0)
    expired = count.get("504", 0)
    accepted = max(count.get("200", 0) + expired, 1)
    other = figures["requests"] + figures["unanswered"] - count.get("200", 0) - refused - expired
    refusal = [p(figures, q, "429") / 1e3 for q in ("p50", "p99")]
    out.rows.append([load, f"{rate:,.0f}/s", f"{goodput:,.0f}/s", f"{goodput / peak:.1%}", late, expired,
                     f"{expired / accepted:.2%}", refused, *(f"{ms:.2f} ms" for ms in refusal), other,
                     f"{p(figures, 'p99') / 1e3:.0f} ms"])
    out.numbers[key] = {"rate": rate, "goodput": goodput, "of_peak": goodput / peak, "late": late, "expired": expired,
                        "expired_of_accepted": expired / accepted, "refused": refused, "refusal_p50_ms": refusal[0],
                        "refusal_p99_ms": refusal[1], "other": other}


def goodput_of(figures):
    return figures["in_time"] / figures["seconds"]


def overload(world):
    """e: what is left of the goodput when far too much is asked."""
    out = Topic("overload", f"Overload: 2 stages of 20 ms (batches to 8) on {OVERLOAD_VCPU} emulated vCPUs, SLO "
                f"{OVERLOAD_SLO_MS} ms, open loop (Poisson)", OVERLOAD_HEADER,
                notes=["goodput: answered with 200 within the SLO; targets: at 3 x within 5 % of the peak, refusals p99 < 5 ms"])
    cluster = world.file("cluster.yaml", f"cluster: {{invokers: 1, vcpu: {OVERLOAD_VCPU}}}\n")
    document = chain("overload", 2, OVERLOAD_TIMES, f"{OVERLOAD_SLO_MS}ms", OVERLOAD_TIMES.get, 0.2)
    bound = OVERLOAD_VCPU / 2 * max(batch / ms for batch, ms in OVERLOAD_TIMES.items()) * 1000

    def run(server, rate, seconds):
        return load(world, server.port, infer("overload"), REQUEST, seconds=seconds, warmup=1, connections=64, rate=rate,
                    poisson=True, slo_ms=OVERLOAD_SLO_MS)

    with sluice(world, "--cluster", cluster) as server:
        server.deploy(document)
        run(server, bound / 2, 2)  # workers start
        peak = max(goodput_of(run(server, bound * part, 2)) for part in (0.8, 0.9, 1.0))
        sweep = {times: run(server, peak * times, 4) for times in (0.5, 0.8, 1, 1.5, 2, 3)}
    best = max(goodput_of(figures) for figures in sweep.values())
    for times, figures in sweep.items():
        overload_row(out, f"{times}", f"{times} x", peak * times, figures, best)
    out.notes.append(f"the machines could at best do {bound:,.0f}/s")
    return out


DEMO, DEMO_SLO_MS = "expanded-image-classification", 250
# In turns: what the host gives changes from minute to minute, and every rate has its part of all of them. A window in which it
# gave more than this many CPUs to others is measured again, twice at most; the calmest counts.
DEMO_ROUNDS, DEMO_SECONDS, DEMO_OTHERS, DEMO_TRIES = 4, 5, 0.05, 3


def merged(windows):
    """Several windows of one rate as one; percentiles are the medians of theirs, CPUs are means."""
    statuses = {}
    for status in sorted({status for figures in windows for status in figures["statuses"]}):
        those = [figures["statuses"][status] for figures in windows if status in figures["statuses"]]
        statuses[status] = {"count": sum(one["count"] for one in those),
                            **{q: statistics.median(one[q] for one in those) for q in ("p50_us", "p99_us")}}
    out = {key: sum(figures[key] for figures in windows) for key in ("in_time", "seconds", "requests", "unanswered")}
    cpus = {key: sum(figures["cpus"][key] for figures in windows) / len(windows) for key in windows[0]["cpus"]}
    return {**out, "statuses": statuses, "cpus": cpus, "goodputs": [goodput_of(figures) for figures in windows]}


def stolen_s():
    """CPU seconds that the host gave to others while something was to run here, since it started."""
    with open("/proc/stat", encoding="ascii") as file:
        return int(file.readline().split()[8]) / os.sysconf("SC_CLK_TCK")


def with_cpus(measure, server):
    """One window, and who used how many CPUs in it: functions, the server, the load generator; what others took."""
    stolen, began = stolen_s(), time.monotonic()
    figures = measure(server.pids())
    stolen, passed = stolen_s() - stolen, time.monotonic() - began
    own, *workers = figures["server_cpu_s"]
    seconds = figures["seconds"]
    figures["cpus"] = {"functions": sum(workers) / seconds, "server": own / seconds,
                       "load generator": figures["client_cpu_s"] / seconds, "others": stolen / passed}
    return figures


def calmest(measure, server):
    tries = []
    while len(tries) < DEMO_TRIES and all(one["cpus"]["others"] > DEMO_OTHERS for one in tries):
        tries.append(with_cpus(measure, server))
    return min(tries, key=lambda one: one["cpus"]["others"])


@contextlib.contextmanager
def burner():
    """Another program that takes a core."""
    process = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    try:
        yield
    finally:
        process.kill()
        process.wait()


def overload_torch(world):
    """f: the same with real functions, whose times under load nobody knows ahead."""
    out = Topic("overload-torch", f"Overload of the demo: five TorchScript stages, SLO {DEMO_SLO_MS} ms, requests as JSON, "
                f"{DEMO_ROUNDS} turns of {DEMO_SECONDS} s a rate, open loop (Poisson)", OVERLOAD_HEADER,
                notes=["targets above the peak: goodput at least 95 % of it (90 % beside a program that takes a core, of a new peak), "
                       "expired at most 1 % of what was accepted, refusals p99 < 10 ms"])
    with sluice(world, "--demo") as server:
        body = (server.data / "demo" / "request.json").read_bytes()

        def run(rate, seconds=DEMO_SECONDS, pids=()):
            return load(world, server.port, infer(DEMO), body, seconds=seconds, warmup=1, connections=64, rate=rate,
                        poisson=True, slo_ms=DEMO_SLO_MS, pids=list(pids))

        def sweep(name):
            run(100, 5)  # workers start, and what they take is learned
            peak = max(goodput_of(run(rate, 6)) for rate in (150, 250, 350, 450))
            windows = {times: [] for times in (0.25, 0.5, 0.75, 1, 1.5, 2, 3)}
            for _ in range(DEMO_ROUNDS):
                for times, those in windows.items():
                    those.append(calmest(lambda pids, rate=peak * times: run(rate, pids=pids), server))
            runs = {times: merged(those) for times, those in windows.items()}
            best = max(goodput_of(figures) for figures in runs.values())
            for times, figures in runs.items():
                overload_row(out, f"{name}{times}", f"{name}{times} x", peak * times, figures, best)
                out.numbers[f"{name}{times}"] |= {"cpus": figures["cpus"], "goodputs": figures["goodputs"]}
                if times >= 1:
                    out.notes.append(f"{name}{times} x: CPUs of " +
                                     ", ".join(f"{who} {cpus:.2f}" for who, cpus in figures["cpus"].items()) +
                                     "; goodput by turns " + ", ".join(f"{one:.0f}" for one in figures["goodputs"]))

        sweep("")
        with burner():
            sweep("burning, ")
    return out


TOPICS = {"throughput": throughput, "added-latency": added_latency, "stage-hop": stage_hop, "large-tensors": large_tensors,
          "overload": overload, "overload-torch": overload_torch, "cold-start": cold_start}
