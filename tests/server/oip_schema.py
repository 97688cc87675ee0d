"""What the Open Inference Protocol and Triton's extensions say replies look like, written down from their public texts.

A schema is a type, a list with the schema of its elements, a dictionary of fields (a name that ends in `?` is optional), or a
function that says what is wrong. Fields that a text does not name are refused: a strict parser would refuse them as well.
"""
from serving import Failure

DATATYPES = {"BOOL", "UINT8", "UINT16", "UINT32", "UINT64", "INT8", "INT16", "INT32", "INT64", "FP16", "FP32", "FP64", "BYTES",
             "BF16"}
CONFIG_TYPES = {f"TYPE_{name}" for name in DATATYPES - {"BYTES"}} | {"TYPE_STRING"}


def check(value, schema, where):
    """Raises a Failure that says where the value is not what the schema says."""
    if callable(schema) and not isinstance(schema, type):
        wrong = schema(value)
        if wrong:
            raise Failure(f"{where}: {wrong}: {value!r}")
    elif isinstance(schema, list):
        check(value, list, where)
        for index, element in enumerate(value):
            check(element, schema[0], f"{where}[{index}]")
    elif isinstance(schema, dict):
        check(value, dict, where)
        known = {name.rstrip("?"): inner for name, inner in schema.items()}
        for name in schema:
            if not name.endswith("?") and name not in value:
                raise Failure(f"{where}: '{name}' is missing: {value!r}")
        for name, inner in value.items():
            if name not in known:
                raise Failure(f"{where}: no text knows '{name}'")
            check(inner, known[name], f"{where}.{name}")
    elif not isinstance(value, schema) or (schema is int and isinstance(value, bool)):
        raise Failure(f"{where}: expected {schema.__name__}, got {value!r}")


def one_of(names):
    return lambda value: None if isinstance(value, str) and value in names else f"expected one of {sorted(names)}"


def truth(expected):
    return lambda value: None if value is expected else f"expected {expected}"


def count(value):
    return None if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else "expected a count"


def size(value):
    return None if isinstance(value, int) and not isinstance(value, bool) and value >= -1 else "expected a size, or -1"


def map_of(schema):
    def judge(value):
        check(value, dict, "map")
        for name, inner in value.items():
            check(inner, schema, name)
    return judge


ERROR = {"error": str}
LIVE = {"live": truth(True)}
READY = {"ready": truth(True)}
MODEL_READY = {"name": str, "ready": truth(True)}
SERVER = {"name": str, "version": str, "extensions": [str]}
TENSOR_METADATA = {"name": str, "datatype": one_of(DATATYPES), "shape": [size]}
MODEL = {"name": str, "versions?": [str], "platform": str, "inputs": [TENSOR_METADATA], "outputs": [TENSOR_METADATA]}
OUTPUT = {"name": str, "shape": [count], "datatype": one_of(DATATYPES), "parameters?": dict, "data?": list}
INFERENCE = {"model_name": str, "model_version?": str, "id?": str, "parameters?": dict, "outputs": [OUTPUT]}
INDEX = [{"name": str, "version?": str, "state?": one_of({"READY", "UNAVAILABLE", "LOADING", "UNLOADING"}), "reason?": str}]

DURATION = {"count": count, "ns": count}
STATISTICS = {"model_stats": [{
    "name": str, "version?": str, "last_inference": count, "inference_count": count, "execution_count": count,
    "inference_stats": {"success": DURATION, "fail": DURATION, "queue": DURATION, "compute_input": DURATION,
                        "compute_infer": DURATION, "compute_output": DURATION, "cache_hit": DURATION, "cache_miss": DURATION},
    "response_stats?": dict,
    "batch_stats": [{"batch_size": count, "compute_input": DURATION, "compute_infer": DURATION, "compute_output": DURATION}],
    "memory_usage?": [{"type": str, "id": count, "byte_size": count}]}]}

# Of the message ModelConfig those fields that a server without Triton's backends can have.
CONFIG_TENSOR = {"name": str, "data_type": one_of(CONFIG_TYPES), "dims": [size], "format?": str, "optional?": bool}
STEP = {"model_name": str, "model_version": int, "input_map?": map_of(str), "output_map?": map_of(str)}
SCHEDULING = ("dynamic_batching", "sequence_batching", "ensemble_scheduling")
CONFIG = {"name": str, "platform?": str, "backend?": str, "version_policy?": {"latest": {"num_versions": count}},
          "max_batch_size": count, "input": [CONFIG_TENSOR], "output": [CONFIG_TENSOR],
          "dynamic_batching?": {"preferred_batch_size?": [count], "max_queue_delay_microseconds?": count},
          "ensemble_scheduling?": {"step": [STEP]}, "parameters?": map_of({"string_value": str})}
