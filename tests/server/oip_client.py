#!/usr/bin/env python3
"""A client of the Open Inference Protocol v2 with Triton's extensions, written from their public texts, plays all endpoints.

usage: oip_client.py
It knows nothing of Sluice but how to start a server and deploy: replies are judged by the schemas of oip_schema.py, and by what
the texts say of counts, ids, bytes after the JSON and compression. Exact texts of errors are in golden.py.
"""
import gzip
import json
import struct
import sys
import zlib

import oip_schema as oip
from serving import HERE, Failure, Server, run_in_folder, wait_until

JSON_SAMPLES = {"BOOL": [True, False], "UINT8": [0, 255], "UINT16": [0, 65535], "UINT32": [0, 2**32 - 1], "UINT64": [0, 2**64 - 1],
                "INT8": [-128, 127], "INT16": [-2**15, 2**15 - 1], "INT32": [-2**31, 2**31 - 1], "INT64": [-2**63, 2**63 - 1],
                "FP32": [-1.5, 0.25], "FP64": [1e300, -0.1], "BYTES": ["", "é\n\"x\""]}
FORMATS = {"BOOL": "?", "UINT8": "B", "UINT16": "H", "UINT32": "I", "UINT64": "Q", "INT8": "b", "INT16": "h", "INT32": "i",
           "INT64": "q", "FP16": "e", "FP32": "f", "FP64": "d"}


def equal(got, expected, where):
    if got != expected:
        raise Failure(f"{where}: expected {expected!r}, got {got!r}")


def packed(datatype, values):
    """Little-endian, row major; a text has its length before it."""
    if datatype == "BYTES":
        texts = [value.encode() for value in values]
        return b"".join(struct.pack("<I", len(text)) + text for text in texts)
    return struct.pack(f"<{len(values)}{FORMATS[datatype]}", *values)


class Client:
    def __init__(self, server):
        self.server = server

    def get(self, path, schema):
        """A reply of 200 that is JSON as the schema says, and comes as it is, whatever the client could unpack."""
        status, headers, body = self.server.call("GET", path, headers={"Accept-Encoding": "gzip, deflate"})
        return self.judged(f"GET {path}", status, headers, body, schema)

    def post(self, path, body, schema):
        status, headers, got = self.server.call("POST", path, body, {"Accept-Encoding": "gzip, deflate"})
        return self.judged(f"POST {path}", status, headers, got, schema)

    @staticmethod
    def judged(where, status, headers, body, schema):
        equal(status, 200, f"{where}: {body[:300]!r}")
        equal(headers.get("Content-Type"), "application/json", f"{where}: Content-Type")
        equal(headers.get("Content-Encoding"), None, f"{where}: Content-Encoding")
        equal(int(headers["Content-Length"]), len(body), f"{where}: Content-Length")
        parsed = json.loads(body)
        oip.check(parsed, schema, where)
        return parsed

    def refused(self, method, path, body=None, headers=None):
        """A status of 4xx and the error object."""
        status, _, got = self.server.call(method, path, body, headers)
        if not 400 <= status < 500:
            raise Failure(f"{method} {path}: expected 4xx, got {status} {got[:300]!r}")
        oip.check(json.loads(got), {**oip.ERROR, "name?": str, "ready?": bool}, f"{method} {path}")

    def infer(self, model, request, tensors=b"", headers=None):
        """The response object and the bytes of each output that came as bytes."""
        text, sent = json.dumps(request).encode(), dict(headers or {})
        if tensors:
            sent["Inference-Header-Content-Length"] = str(len(text))
        encoding = sent.get("Content-Encoding")
        body = text + tensors
        body = gzip.compress(body) if encoding == "gzip" else zlib.compress(body) if encoding == "deflate" else body
        return self.answer(f"infer {model}", *self.server.call("POST", f"/v2/models/{model}/infer", body, sent))

    @staticmethod
    def answer(where, status, headers, body):
        equal(status, 200, f"{where}: {body[:300]!r}")
        if headers.get("Content-Encoding") == "gzip":
            body = gzip.decompress(body)
        elif headers.get("Content-Encoding") == "deflate":
            body = zlib.decompress(body)
        length = headers.get("Inference-Header-Content-Length")
        equal(headers.get("Content-Type"), "application/octet-stream" if length else "application/json", f"{where}: Content-Type")
        text, rest = (body[:int(length)], body[int(length):]) if length else (body, b"")
        response = json.loads(text)
        oip.check(response, oip.INFERENCE, where)
        bytes_of = {}
        for output in response["outputs"]:
            size = output.get("parameters", {}).get("binary_data_size")
            equal("data" in output, size is None, f"{where}: '{output['name']}' has either data or bytes; has data")
            if size is not None:
                bytes_of[output["name"]], rest = rest[:size], rest[size:]
                equal(len(bytes_of[output["name"]]), size, f"{where}: bytes of '{output['name']}'")
        equal(rest, b"", f"{where}: bytes after the last output")
        equal(bool(bytes_of), bool(length), f"{where}: the header for bytes is there where there are some")
        return response, bytes_of


def tensor(name, datatype, values, **more):
    return {"name": name, "datatype": datatype, "shape": [len(values)], **({"data": values} if not more else more)}


# --- what is played

def health_and_metadata(client):
    client.get("/v2/health/live", oip.LIVE)
    client.get("/v2/health/ready", oip.READY)
    server = client.get("/v2", oip.SERVER)
    for extension in ("binary_tensor_data", "model_configuration", "model_repository", "parameters", "statistics"):
        if extension not in server["extensions"]:
            raise Failure(f"the server does not report '{extension}', which is played here")
    for model in ("declared", "plain", "declared.label"):
        described = client.get(f"/v2/models/{model}", oip.MODEL)
        equal(described["name"], model, "name of a model")
        for version in described["versions"]:
            equal(client.get(f"/v2/models/{model}/versions/{version}", oip.MODEL), described, f"{model} version {version}")
            ready = client.get(f"/v2/models/{model}/versions/{version}/ready", oip.MODEL_READY)
            equal(ready["name"], model, "name of a model that is ready")
        equal(client.get(f"/v2/models/{model}/ready", oip.MODEL_READY)["name"], model, "name of a model that is ready")
    for what in ("", "/ready", "/config", "/stats", "/versions/99", "/versions/99/ready"):
        client.refused("GET", f"/v2/models/{'declared' if '99' in what else 'nobody'}{what}")


def configuration(client):
    """Names and types are those of the message ModelConfig, whose scheduling choice is one of three."""
    for model in ("declared", "plain", "declared.label"):
        config = client.get(f"/v2/models/{model}/config", oip.CONFIG)
        equal(config["name"], model, "name in a configuration")
        chosen = [choice for choice in oip.SCHEDULING if choice in config]
        equal(len(chosen), 1, f"scheduling choices of '{model}': {chosen}")
        equal(config.get("platform") == "ensemble", chosen == ["ensemble_scheduling"], f"'{model}' is an ensemble and says so")
        metadata = client.get(f"/v2/models/{model}", oip.MODEL)
        equal(metadata["platform"], config["platform"], f"platform of '{model}'")
        for field, list_of in (("input", "inputs"), ("output", "outputs")):
            for described, configured in zip(metadata[list_of], config[field], strict=True):
                equal(configured["name"], described["name"], f"tensor of '{model}'")
                batch = [-1] if config["max_batch_size"] > 0 else []
                equal(batch + configured["dims"], described["shape"], f"shape of '{model}' with its batch dimension")
        for step in config.get("ensemble_scheduling", {}).get("step", []):
            client.get(f"/v2/models/{step['model_name']}/config", oip.CONFIG)  # what it is made of is a model


def repository(client):
    index = client.post("/v2/repository/index", None, oip.INDEX)
    names = {entry["name"] for entry in index}
    if not {"declared", "plain"} <= names:
        raise Failure(f"models that are served are not in the index: {sorted(names)}")
    equal(client.post("/v2/repository/index", {}, oip.INDEX), index, "the index for an empty object")
    ready = client.post("/v2/repository/index", {"ready": True}, oip.INDEX)
    equal(ready, [entry for entry in index if entry["state"] == "READY"], "the index of what is ready")
    for rubbish in (b"rubbish", b"[]", b'{"ready":1}'):
        client.refused("POST", "/v2/repository/index", rubbish)


def inference(client):
    for datatype, values in JSON_SAMPLES.items():
        request = {"id": f"of {datatype}", "inputs": [tensor("x", datatype, values)]}
        response, _ = client.infer("plain", request)
        equal(response["id"], f"of {datatype}", "the id comes back")
        equal(response["model_name"], "plain", "model_name")
        equal(response["outputs"], [tensor("x", datatype, values)], f"{datatype} as JSON")
    response, _ = client.infer("plain", {"inputs": [tensor("x", "FP32", [1])]})
    equal("id" in response, False, "there is an id where none was sent")
    nested = {"name": "image", "datatype": "FP32", "shape": [1, 2, 2], "data": [[[1, 2], [3, 4]]]}
    response, _ = client.infer("taking", {"inputs": [nested], "parameters": {"anything": True}})
    equal(response["outputs"][0]["data"], [1.0, 2.0, 3.0, 4.0], "data are flat and row major")
    equal(response["outputs"][0]["shape"], [1, 2, 2], "the shape has the batch dimension that was sent")


def rows(client):
    """Several rows in one request: each is answered as if it had come alone, in the order in which they were sent."""
    def ask(numbers, boxes, *more, **parameters):
        inputs = [{"name": "n", "datatype": "INT64", "shape": [len(numbers), 1], "data": numbers},
                  {"name": "boxes", "datatype": "FP32", "shape": [len(boxes), len(boxes[0]), 2], "data": boxes}]
        return {"inputs": inputs, "outputs": list(more), "parameters": parameters}

    boxes = [[[1, 2], [3, 4]], [[5, 6], [7, 8]], [[9, 10], [11, 12]]]
    for count in (1, 2, 3):
        response, _ = client.infer("rows", ask([3] * count, boxes[:count]))
        got = {output["name"]: (output["shape"], output["data"]) for output in response["outputs"]}
        equal(got["numbers"], ([count, 3], [0, 1, 2] * count), f"numbers of {count} rows")
        equal(got["text"], ([count, 1], ["3"] * count), f"texts of {count} rows")
        equal(got["box"], ([count, 2, 2], [float(x) for row in boxes[:count] for box in row for x in box]), f"items of {count} rows")
    text = {"name": "text"}
    response, _ = client.infer("rows", ask([1, 10], boxes[:2], text))
    equal(response["outputs"][0]["data"], ["1", "10"], "texts of different length")
    raw = packed("INT64", [4, 4]) + packed("FP32", range(1, 9))
    sent = [{"name": "n", "datatype": "INT64", "shape": [2, 1], "parameters": {"binary_data_size": 16}},
            {"name": "boxes", "datatype": "FP32", "shape": [2, 2, 2], "parameters": {"binary_data_size": 32}}]
    response, got = client.infer("rows", {"inputs": sent, "parameters": {"binary_data_output": True}}, raw)
    equal(got["numbers"], packed("INT64", [0, 1, 2, 3] * 2), "rows that came as bytes")
    equal(got["text"], packed("BYTES", ["4", "4"]), "texts of rows that came as bytes")
    equal(got["box"], packed("FP32", range(1, 9)), "items of rows that came as bytes")

    def refusal(request, expected):
        status, headers, body = client.server.call("POST", "/v2/models/rows/infer", request)
        equal(status, expected, f"status of {body[:300]!r}")
        return json.loads(body), headers

    said, _ = refusal(ask([1, 2], boxes[:2]), 400)
    equal("output 'numbers'" in said["error"] and "[1]" in said["error"] and "[2]" in said["error"], True, f"shapes in {said}")
    said, headers = refusal(ask([1, -1, 1], boxes), 500)
    equal((said["code"], said["row"], said["stage"]), ("STAGE_FAILED", 1, "count"), "the row that failed")
    equal("row 1: " in said["error"] and "-1 numbers" in said["error"], True, f"the error of the row: {said}")
    equal(headers["Sluice-Row-Request-Ids"].split(",")[1], headers["Sluice-Request-Id"], "the id of the row that failed")
    unequal = ask([1, 1], boxes[:2])
    unequal["inputs"][0].update(shape=[1, 1], data=[1])
    refusal(unequal, 400)
    refusal(ask([1] * 129, [boxes[0]] * 129), 400)
    response, _ = client.infer("rows", ask([2] * 128, [boxes[0]] * 128, text))
    equal(response["outputs"][0]["shape"], [128, 1], "as many rows as may come")


def binary_data(client):
    """Inputs and outputs as bytes after the JSON, in the order of the JSON; what one output says wins over the request."""
    for datatype, values in {**JSON_SAMPLES, "FP16": [1.5, -2.0]}.items():
        raw = packed(datatype, values)
        sent = tensor("x", datatype, values, parameters={"binary_data_size": len(raw)})
        _, got = client.infer("plain", {"inputs": [sent], "parameters": {"binary_data_output": True}}, raw)
        equal(got, {"x": raw}, f"{datatype} as bytes")
    a, b = tensor("a", "INT32", [1, 2]), tensor("b", "UINT8", [3, 4])
    raw_a, raw_b = packed("INT32", [1, 2]), packed("UINT8", [3, 4])

    def ask(everything, *outputs):
        wanted = [{"name": name, **({} if says is None else {"parameters": {"binary_data": says}})} for name, says in outputs]
        request = {"inputs": [a, b], "outputs": wanted, "parameters": {"binary_data_output": everything}}
        response, got = client.infer("plain", request)
        equal([output["name"] for output in response["outputs"]], [name for name, _ in outputs], "the outputs that were asked for")
        return got

    equal(ask(True, ("b", None), ("a", None)), {"b": raw_b, "a": raw_a}, "all as bytes")
    equal(ask(True, ("a", False), ("b", None)), {"b": raw_b}, "one that wants JSON")
    equal(ask(False, ("a", True), ("b", None)), {"a": raw_a}, "one that wants bytes")
    equal(ask(True, ("a", False), ("b", False)), {}, "none as bytes")
    values = [1.0, 2.0, 3.0, 4.0]  # a body of nothing but the only input
    status_headers_body = client.server.call("POST", "/v2/models/taking/infer", packed("FP32", values),
                                             {"Inference-Header-Content-Length": "0"})
    response, got = client.answer("raw binary", *status_headers_body)
    equal(response["outputs"][0]["shape"], [1, 2, 2], "the shape of a raw input is deduced")
    equal(got, {"image": packed("FP32", values)}, "outputs of a raw request")


def compression(client):
    values = [0.5] * 4000
    request = {"inputs": [tensor("x", "FP32", values)]}
    for encoding in ("gzip", "deflate"):
        body = json.dumps(request).encode()
        status, headers, got = client.server.call("POST", "/v2/models/plain/infer", body, {"Accept-Encoding": encoding})
        equal(headers.get("Content-Encoding"), encoding, "an answer to an inference is packed")
        if len(got) > 1000:
            raise Failure(f"{len(got)} bytes are not packed")
        response, _ = client.answer(f"infer, {encoding}", status, headers, got)
        equal(response["outputs"][0]["data"], values, f"data in {encoding}")
        response, _ = client.infer("plain", request, headers={"Content-Encoding": encoding})
        equal(response["outputs"][0]["data"], values, f"data sent in {encoding}")
    status, headers, got = client.server.call("GET", "/metrics", headers={"Accept-Encoding": "gzip, deflate"})
    equal((status, headers.get("Content-Encoding")), (200, None), "metrics come as they are")
    if len(got) < 5000 or not got.startswith(b"# HELP"):
        raise Failure(f"these are no metrics: {got[:100]!r}")


def statistics(client):
    """Rows of requests of an application are counted once, and functions inside of it on their own names."""
    names = ("declared", "declared.shrink", "declared.label")

    def counts():
        out = {}
        for name in names:
            entry, = client.get(f"/v2/models/{name}/stats", oip.STATISTICS)["model_stats"]
            equal(entry["name"], name, "name in the statistics")
            out[name] = (entry["inference_count"], entry["execution_count"], entry["inference_stats"]["success"]["count"])
            executed = sum(batch["compute_infer"]["count"] for batch in entry["batch_stats"])
            equal(executed, entry["execution_count"], f"executions of '{name}' by batch size")
            rows = sum(batch["batch_size"] * batch["compute_infer"]["count"] for batch in entry["batch_stats"])
            equal(rows, entry["inference_count"], f"inferences of '{name}' by batch size")
            for what in ("queue", "compute_input", "compute_infer", "compute_output"):
                equal(entry["inference_stats"][what]["count"], entry["inference_count"], f"{what} of '{name}'")
        return out

    def quiet():
        return client.server.get("/v1/status")["in_system"] == 0

    wait_until("nothing runs", quiet)
    before = counts()
    for _ in range(3):
        client.infer("declared", {"inputs": [{"name": "image", "datatype": "FP32", "shape": [1, 2, 1], "data": [1, 2]}]})
    client.infer("declared", {"inputs": [{"name": "image", "datatype": "FP32", "shape": [2, 2, 1], "data": [1, 2, 3, 4]}]})
    expected = {name: tuple(number + 5 for number in numbers) for name, numbers in before.items()}
    wait_until(f"three requests of one row and one of two are counted: {expected}, not {counts()}", lambda: counts() == expected)
    everything = client.get("/v2/models/stats", oip.STATISTICS)["model_stats"]
    if not set(names) <= {entry["name"] for entry in everything}:
        raise Failure(f"statistics of all models lack some: {[entry['name'] for entry in everything]}")


def errors(client):
    image = {"name": "image", "datatype": "FP32", "shape": [1, 2, 1], "data": [1, 2]}
    path = "/v2/models/declared/infer"
    for body in (b"", b"{", b"[]", {}, {"inputs": 1}, {"inputs": []}, {"inputs": [{**image, "name": "x"}]},
                 {"inputs": [{**image, "datatype": "FP64"}]}, {"inputs": [{**image, "datatype": "float"}]},
                 {"inputs": [{**image, "shape": [1, 3, 1], "data": [1, 2, 3]}]}, {"inputs": [{**image, "data": [1]}]},
                 {"inputs": [{**image, "data": [1, 2, 3]}]}, {"inputs": [{**image, "data": "text"}]}, {"inputs": [image, image]},
                 {"inputs": [image], "outputs": [{"name": "nothing"}]}, {"inputs": [image], "outputs": [{"name": "image"}] * 2}):
        client.refused("POST", path, body)
    for length in ("1000000", "-1", "x"):
        client.refused("POST", path, {"inputs": [image]}, {"Inference-Header-Content-Length": length})
    client.refused("POST", "/v2/models/nobody/infer", {"inputs": [image]})
    client.refused("POST", "/v2/models/declared/versions/99/infer", {"inputs": [image]})
    client.refused("GET", path)
    client.refused("POST", "/v2/models/declared")


def play(folder, _):
    with Server(folder) as server:
        server.deploy("plain.yaml", "declared.yaml", "taking.yaml")
        server.deploy("rows.yaml", files={"rows.py": (HERE / "documents/rows.py").read_text()})
        client = Client(server)
        for part in (health_and_metadata, configuration, repository, inference, rows, binary_data, compression, statistics, errors):
            part(client)


if __name__ == "__main__":
    sys.exit(run_in_folder(play, None))
