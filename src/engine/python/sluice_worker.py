"""Runs Python functions for the server that started it: python3 sluice_worker.py --socket FD

The model file defines `run(inputs)`, which takes and returns a dict of arrays whose first dimension is the rows of the
batch, and optionally `load()`, which is called once before. Inputs are views of shared memory and cannot be written to.
Elements of type BYTES are `bytes` in arrays of objects; BF16, which numpy does not have, comes and goes as float32. Rows of
different shapes come one at a time. An exception fails the batch; the error is called by the name of its class. A function runs one batch at a time; different functions of one process may run at once,
each in a thread of its own. `load()` and the file itself run in the main thread.

Speaks the protocol of src/wire/messages.h, like sluice-worker. Needs numpy and the standard library.
"""
import ctypes
import importlib.machinery
import importlib.metadata
import importlib.util
import mmap
import os
import queue
import re
import signal
import socket
import struct
import sys
import threading
import time
import traceback

VERSION = 5
MESSAGE_BYTES_MAX = 128 << 10
ERROR_LENGTH = 2048
ROWS_MAX = 4096
DIMENSIONS_MAX = 17
ALIGNMENT = 64
ALL_ROWS = -1
HOST = -1
LANES_MAX = 64
FUNCTIONS_MAX = 256
HELLO, LOAD, UNLOAD, RUN, GRANT, CANCEL, STOP, MOVE = range(8)  # the others are of devices
LOADED, UNLOADED, RAN, WANTED, MOVED = range(5)
TYPES = ["?", "u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f2", "bf16", "f4", "f8", "bytes"]  # by their numbers
BF16, BYTES = TYPES.index("bf16"), TYPES.index("bytes")
NAMES = "BOOL UINT8 UINT16 UINT32 UINT64 INT8 INT16 INT32 INT64 FP16 BF16 FP32 FP64 BYTES".split()

np = None  # imported once the number of threads is known


class ProtocolError(Exception):
    """The server sent what makes no sense: the worker ends."""


class BatchError(Exception):
    """The batch fails, and the worker goes on."""


class Stopped(Exception):
    """The server is gone, or wants us to stop."""


class Reader:
    def __init__(self, data):
        self.data, self.at = data, 0

    def take(self, form):
        if len(self.data) - self.at < struct.calcsize(form):
            raise ProtocolError("a message is too short")
        values = struct.unpack_from(form, self.data, self.at)
        self.at += struct.calcsize(form)
        return values[0] if len(values) == 1 else values

    def text(self):
        length = self.length()
        self.at += length
        return self.data[self.at - length:self.at].decode("utf-8", "replace")

    def list(self, item):
        return [item() for _ in range(self.length())]

    def length(self):
        length = self.take("<Q")
        if length > len(self.data) - self.at:
            raise ProtocolError("a message is too short")
        return length

    def number(self):
        return self.take("<q")

    def type(self):
        number = self.take("<B")
        if number >= len(TYPES):
            raise ProtocolError("a type that does not exist")
        return number

    def port(self):
        name, kind, shape = self.text(), self.type(), self.list(self.number)
        if self.take("<B"):
            self.number()
        return name, kind, shape

    def placed(self):
        name, kind, shape = self.text(), self.type(), self.list(self.number)
        return (name, kind, shape, *self.take("<iQQi"))

    def end(self):
        if self.at != len(self.data):
            raise ProtocolError("a message is too long")


def text(value):
    data = value.encode("utf-8", "replace")
    return struct.pack("<Q", len(data)) + data


def shorten(value, length):
    return value if len(value) <= length else value[:length] + "…"


class Channel:
    def __init__(self, descriptor):
        os.set_inheritable(descriptor, False)
        self.socket = socket.socket(fileno=descriptor)

    def receive(self):
        """The number of a message, its content and the descriptors that came along."""
        data, descriptors, flags, _ = socket.recv_fds(self.socket, MESSAGE_BYTES_MAX, 4)
        if not data or flags & socket.MSG_TRUNC:
            raise Stopped()
        if data[0] == STOP:
            raise Stopped()
        return data[0], Reader(data[1:]), descriptors

    def send(self, number, content):
        try:
            self.socket.sendall(bytes([number]) + content)
        except OSError as error:
            raise Stopped() from error


class Batch:
    """A batch from Run until it is answered."""

    def __init__(self, reader):
        self.number, self.function, self.rows, _, _, _, _, _ = reader.take("<QIIIqqHQ")
        self.inputs = reader.list(reader.placed)
        self.offset, self.size, _ = reader.take("<QQB")
        reader.end()
        self.begun = False
        self.wants = False
        self.grants = queue.SimpleQueue()  # of those that read messages for several batches


class Space:
    """Where outputs may be written: more is asked for where it is too small."""

    def __init__(self, worker, batch):
        self.worker, self.batch, self.offset, self.size = worker, batch, batch.offset, batch.size
        self.waited = 0

    def take(self, size):
        if size > self.size:
            began = time.perf_counter_ns()
            self.batch.wants = True
            self.worker.channel.send(WANTED, struct.pack("<QQ", self.batch.number, size))
            self.offset, self.size = self.worker.granted(self.batch)
            self.waited += time.perf_counter_ns() - began
        if size > self.size or self.offset + self.size > len(self.worker.memory):
            raise BatchError(f"there is no room for outputs of {size} bytes")
        return self.offset


def count(shape):
    total = 1
    for length in shape:
        total *= length
    return total


def elements(data, number):
    """The first `number` texts of `data`, which has to hold no more."""
    found, at = [], 0
    for _ in range(number):
        length = int.from_bytes(data[at:at + 4], "little")
        if at + 4 + length > len(data):
            return None
        found.append(bytes(data[at + 4:at + 4 + length]))
        at += 4 + length
    return found if at == len(data) else None


def objects(values, shape):
    array = np.empty(len(values), dtype=object)
    array[:] = values
    return array.reshape(shape)


def to_array(memory, name, kind, shape, offset, size):
    """A view of shared memory; a copy where numpy has no such type."""
    if offset + size > len(memory):
        raise BatchError(f"input `{name}` is outside of the shared memory")
    wrong = BatchError(f"input `{name}` has {size} bytes, which its shape does not have")
    if len(shape) > DIMENSIONS_MAX:
        raise BatchError(f"input `{name}` has too many dimensions")
    if any(length < 0 for length in shape):
        raise wrong
    part = memory[offset:offset + size]
    if kind == BYTES:
        texts = elements(part.tobytes(), count(shape)) if count(shape) * 4 <= size else None
        if texts is None:
            raise wrong
        return objects(texts, shape)
    stored = np.dtype("u2" if kind == BF16 else TYPES[kind])
    if count(shape) * stored.itemsize != size:
        raise wrong
    array = part.view(stored).reshape(shape)
    if kind == BF16:
        array = (array.astype("u4") << 16).view("f4")
    array.flags.writeable = False
    return array


def type_of(array, name):
    if array.dtype.kind in "OSU":
        return BYTES
    form = array.dtype.newbyteorder("=").str[1:]
    form = "?" if form == "b1" else form
    if form not in TYPES:
        raise BatchError(f"output `{name}` is an array of {array.dtype}, which tensors cannot hold")
    return TYPES.index(form)


def as_declared(array, name, kind):
    """The array as one of another type, unless that would change what it says."""
    if kind == BYTES or type_of(array, name) == BYTES:
        if kind != BYTES or array.dtype.kind not in "OSU":
            raise BatchError(f"output `{name}` is an array of {array.dtype}, declared is {NAMES[kind]}")
        return array
    wanted = np.dtype("f4" if kind == BF16 else TYPES[kind])
    if array.dtype == wanted:
        return array
    with np.errstate(all="ignore"):
        changed = array.astype(wanted)
    if not np.can_cast(array.dtype, wanted, "same_kind") and not np.array_equal(changed, array):
        raise BatchError(f"output `{name}` is an array of {array.dtype}, declared is {NAMES[kind]}")
    return changed


def stored_bytes(array, name):
    parts = []
    for element in array.reshape(-1).tolist():
        data = element.encode() if isinstance(element, str) else element
        if not isinstance(data, (bytes, bytearray)):
            raise BatchError(f"output `{name}` is an array of objects that are neither bytes nor texts")
        parts.append(struct.pack("<I", len(data)) + data)
    return np.frombuffer(b"".join(parts), dtype="u1")


def rounded_to_bf16(array):
    bits = np.ascontiguousarray(array).view("u4")
    rounded = ((bits + 0x7FFF + ((bits >> 16) & 1)) >> 16).astype("u2")  # to the nearest, halves to even
    return np.where(np.isnan(array), np.uint16(0x7FC0), rounded)


class Function:
    def __init__(self, number, path, outputs):
        sys.path.insert(0, os.path.dirname(os.path.abspath(path)))  # for what lies beside it
        sys.dont_write_bytecode = True
        loader = importlib.machinery.SourceFileLoader(f"sluice_function_{number}", path)
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
        sys.modules[loader.name] = module
        loader.exec_module(module)
        if not callable(getattr(module, "run", None)):
            raise BatchError(f"`{path}` does not define run(inputs)")
        self.run, self.outputs = module.run, outputs
        self.one_at_a_time = threading.Lock()
        if callable(getattr(module, "load", None)):
            module.load()

    def call(self, inputs, rows):
        """Outputs as (name, type, array), each with a row for every row."""
        answer = self.run(inputs)
        if not isinstance(answer, dict):
            raise BatchError(f"run(inputs) has to return a dict, not {type(answer).__name__}")
        if not self.outputs:
            arrays = [(str(name), np.asarray(value)) for name, value in answer.items()]
            outputs = [(name, type_of(array, name), array) for name, array in arrays]
        else:
            outputs = [self.declared(answer, *port, rows) for port in self.outputs]
        for name, _, array in outputs:
            if array.ndim == 0 or array.shape[0] != rows:
                raise BatchError(f"output `{name}` has shape {list(array.shape)}, its first dimension has to be the {rows} rows")
        return outputs

    @staticmethod
    def declared(answer, name, kind, shape, rows):
        if name not in answer:
            raise BatchError(f"run(inputs) returned no output `{name}`")
        array = as_declared(np.asarray(answer[name]), name, kind)
        wanted = [rows, *shape]
        if array.ndim != len(wanted) or any(want not in (-1, have) for want, have in zip(wanted, array.shape)):
            raise BatchError(f"output `{name}` has shape {list(array.shape)}, declared is {wanted}")
        return name, kind, array


def version_key(version):
    """Orders versions: numbers by value, 1.0 as 1, what comes before a release before it."""
    epoch, _, rest = version.partition("!") if "!" in version else ("0", "", version)
    release, at = [], 0
    for part in re.finditer(r"(\d+)(?:\.|$)?", rest):
        if part.start() != at:
            break
        release.append(int(part.group(1)))
        at = part.end()
    while release and release[-1] == 0:
        release.pop()
    suffix = rest[at:].lstrip(".-_").split("+")[0]
    stage = 1 if not suffix else 2 if suffix.startswith("post") else 0
    return int(epoch), release, stage, suffix


def begins(have, wanted):
    """Whether a version begins with those numbers: 1.24.2 with 1.24."""
    number = [int(part) for part in wanted.split(".")]
    found = [int(part) for part in re.match(r"[\d.]*", have).group().split(".") if part]
    return (found + [0] * len(number))[:len(number)] == number


def satisfies(have, comparison):
    operator, wanted = re.match(r"(==|!=|>=|<=|~=|>|<)(.*)", comparison).groups()
    if wanted.endswith(".*"):
        return begins(have, wanted[:-2]) == (operator == "==")
    if operator == "~=":
        return version_key(have) >= version_key(wanted) and begins(have, wanted.rpartition(".")[0])
    first, second = version_key(have), version_key(wanted)
    return {"==": first == second, "!=": first != second, ">=": first >= second, "<=": first <= second,
            ">": first > second, "<": first < second}[operator]


def check_requirements(requirements):
    """Everything of the list that this interpreter does not have, in one error."""
    lacking = []
    for requirement in requirements:
        name, comparisons = re.match(r"([A-Za-z0-9._-]+)(.*)", requirement).groups()
        try:
            have = importlib.metadata.version(name)
        except importlib.metadata.PackageNotFoundError:
            lacking.append(f"{requirement} (is not installed)")
            continue
        if not all(satisfies(have, comparison) for comparison in comparisons.split(",") if comparison):
            lacking.append(f"{requirement} (installed is {have})")
    if lacking:
        raise BatchError(f"the interpreter {sys.executable} lacks {', '.join(lacking)}")


def import_numpy():
    try:
        import numpy
    except ImportError as error:
        raise BatchError(f"the interpreter {sys.executable} has no numpy, which runs of Python functions need ({error}); "
                         "install it there, or make the environment with --system-site-packages") from error
    return numpy


def held_memory():
    with open("/proc/self/statm") as statm:
        _, resident, shared = statm.read().split()[:3]
    return (int(resident) - int(shared)) * mmap.PAGESIZE


def said(error):
    """What a function's failure is reported as; the rest goes to the log."""
    if isinstance(error, BatchError):
        return str(error)
    traceback.print_exception(error, file=sys.stderr)
    name, what = type(error).__name__, str(error).strip()
    return f"{name}: {what}" if what else name


class Worker:
    """Holds functions and runs batches. Who reads messages while a batch runs is the business of its two kinds."""

    def __init__(self, channel, memory):
        self.channel, self.memory_file, self.memory, self.functions = channel, memory, None, {}

    def load(self, reader):
        global np
        number = reader.take("<I")
        reader.text()
        reader.take("<B")
        model, command = reader.text(), reader.list(reader.text)
        reader.take("<BBBB")  # of a GPU
        _, outputs = reader.list(reader.port), reader.list(reader.port)
        threads, device, limited = reader.take("<IiB")
        if limited:
            reader.take("<q")
        reader.end()
        if number in self.functions or len(self.functions) >= FUNCTIONS_MAX:
            raise ProtocolError(f"Load of function {number} is out of turn")
        began, before, error = time.perf_counter_ns(), held_memory(), ""
        try:
            if device != HOST:
                raise BatchError(f"runtime python runs on CPUs only, device {device} was asked for")
            if np is None:
                for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
                    os.environ[variable] = str(max(threads, 1))
                np = import_numpy()
            if self.memory is None:
                self.memory = np.frombuffer(self.memory_file, dtype="u1")
            check_requirements(command[1:])
            self.functions[number] = Function(number, model, outputs)
        except (Exception, SystemExit) as problem:
            error = said(problem)
        took = time.perf_counter_ns() - began
        self.channel.send(LOADED, struct.pack("<I", number) + text(shorten(error, ERROR_LENGTH)) +
                          struct.pack("<IqqBBBBq", 1, max(held_memory() - before, 0), took, 0, 0, 0, 0, 0))

    def move(self, reader):
        number, _ = reader.take("<IB")
        reader.end()
        if number not in self.functions:
            raise ProtocolError(f"Move of function {number} is out of turn")
        self.channel.send(MOVED, struct.pack("<I", number) + text("it is on no device") + struct.pack("<q", 0))

    def unload(self, reader):
        number = reader.take("<I")
        reader.end()
        function = self.functions.pop(number, None)
        if function is None:
            raise ProtocolError(f"Unload of function {number} is out of turn")
        with function.one_at_a_time:  # after the batch that runs
            sys.modules.pop(f"sluice_function_{number}", None)
        del function
        self.channel.send(UNLOADED, struct.pack("<I", number))

    def begin(self, reader):
        batch = Batch(reader)
        function = self.functions.get(batch.function)
        if function is None:
            raise ProtocolError(f"Run of function {batch.function} is out of turn")
        return batch, function

    def run(self, batch, function):
        space = Space(self, batch)
        began, error, row_errors, placed = time.perf_counter_ns(), "", [], []
        try:
            outputs, row_errors = self.outputs_of(function, batch.inputs, batch.rows)
            placed = self.place(outputs, space)
        except (Stopped, ProtocolError):
            raise
        except (Exception, SystemExit) as problem:
            error = said(problem)
        sys.stdout.flush()
        took = time.perf_counter_ns() - began - space.waited
        self.answer(batch.number, error, row_errors, placed, took)

    def cancelled(self, number):
        self.channel.send(RAN, struct.pack("<QBQQQqqBIBB", number, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0))

    def answer(self, batch, error, row_errors, placed, took):
        length = min(ERROR_LENGTH, MESSAGE_BYTES_MAX // 8 // max(len(row_errors), 1))
        content = struct.pack("<QB", batch, 0) + text(shorten(error, ERROR_LENGTH))
        content += struct.pack("<Q", len(row_errors)) + b"".join(text(shorten(e, length)) for e in row_errors)
        content += struct.pack("<Q", len(placed)) + b"".join(placed) + struct.pack("<qqBIBB", took, 0, 0, 0, 0, 0)
        if len(content) >= MESSAGE_BYTES_MAX:
            self.answer(batch, f"an answer of {len(content)} bytes does not fit a message", [], [], took)
        else:
            self.channel.send(RAN, content)

    def outputs_of(self, function, inputs, rows):
        """Outputs as (name, type, row, array), and errors of rows."""
        if not 1 <= rows <= ROWS_MAX:
            raise BatchError(f"a batch has {rows} rows, it may have 1 to {ROWS_MAX}")
        stacked, apart = self.inputs_of(inputs, rows)
        if not apart:
            return [(name, kind, ALL_ROWS, array) for name, kind, array in function.call(stacked, rows)], []
        outputs, errors = [], [""] * rows
        for row in range(rows):
            alone = {name: array[row:row + 1] for name, array in stacked.items()}
            alone.update((name, arrays[row][None]) for name, arrays in apart.items() if row in arrays)
            try:
                outputs += [(name, kind, row, array[0]) for name, kind, array in function.call(alone, 1)]
            except (Exception, SystemExit) as problem:
                errors[row] = said(problem)
        return outputs, errors if any(errors) else []

    def inputs_of(self, inputs, rows):
        """Arrays of the whole batch by name, and those that cannot be stacked: name → row → array."""
        stacked, apart = {}, {}
        for name, kind, shape, row, offset, size, device in inputs:
            if device != HOST:
                raise BatchError(f"input `{name}` is on device {device}, and this worker has none")
            array = to_array(self.memory, name, kind, shape, offset, size)
            if row == ALL_ROWS:
                if not shape or shape[0] != rows:
                    raise BatchError(f"input `{name}` does not have the {rows} rows of the batch")
                stacked[name] = array
            elif 0 <= row < rows:
                apart.setdefault(name, {})[row] = array
            else:
                raise BatchError(f"input `{name}` is of row {row} of {rows}")
        for name, arrays in list(apart.items()):
            if len(arrays) == rows and len({(array.shape, array.dtype.str) for array in arrays.values()}) == 1:
                stacked[name] = np.stack([arrays[row] for row in range(rows)])
                del apart[name]
        return stacked, apart

    def place(self, outputs, space):
        """Copies outputs to where the server reads them; the answer's records of them."""
        stored, total = [], 0
        for name, kind, _, array in outputs:
            data = stored_bytes(array, name) if kind == BYTES else rounded_to_bf16(array) if kind == BF16 else array
            total = -(-total // ALIGNMENT) * ALIGNMENT
            stored.append((total, data))
            total += data.nbytes
        base = space.take(total)
        records = []
        for (name, kind, row, array), (offset, data) in zip(outputs, stored):
            target = self.memory[base + offset:base + offset + data.nbytes]
            target.view(data.dtype.newbyteorder("<")).reshape(data.shape)[...] = data
            records.append(text(name) + struct.pack("<BQ", kind, array.ndim) + struct.pack(f"<{array.ndim}q", *array.shape) +
                           struct.pack("<iQQi", row, base + offset, data.nbytes, HOST))
        return records


class Alone(Worker):
    """One batch at a time, in the thread that reads messages."""

    def __init__(self, channel, memory):
        super().__init__(channel, memory)
        self.kept = []  # messages that came while a batch waited for its grant

    def granted(self, batch):
        while True:
            number, reader, _ = self.channel.receive()
            if number == GRANT:
                granted, offset, size = reader.take("<QQQ")
                reader.end()
                if granted != batch.number:
                    raise ProtocolError("Grant of another batch")
                return offset, size
            self.keep(number, reader)

    def keep(self, number, reader):
        if number != CANCEL:
            self.kept.append((number, reader))
            return
        batch = reader.take("<Q")
        reader.end()
        for at, (kind, run) in enumerate(self.kept):
            if kind == RUN and struct.unpack_from("<Q", run.data)[0] == batch:
                del self.kept[at]
                self.cancelled(batch)
                return

    def serve(self):
        while True:
            number, reader = self.kept.pop(0) if self.kept else self.channel.receive()[:2]
            if number == LOAD:
                self.load(reader)
            elif number == UNLOAD:
                self.unload(reader)
            elif number == MOVE:
                self.move(reader)
            elif number == RUN:
                self.run(*self.begin(reader))
            elif number == CANCEL:
                reader.take("<Q")  # that batch is over
                reader.end()
            else:
                raise ProtocolError(f"message {number} is out of turn")


class Lanes(Worker):
    """Several batches at once: a thread reads messages, one a lane runs batches, the main thread loads and unloads."""

    def __init__(self, channel, memory, lanes):
        super().__init__(channel, memory)
        self.under_way, self.lock = {}, threading.Lock()
        self.batches, self.loads = queue.SimpleQueue(), queue.SimpleQueue()
        self.threads = [threading.Thread(target=self.guarded, args=(task,), daemon=True) for task in [self.read] + [self.lane] * lanes]

    def guarded(self, task):
        try:
            task()
        except BaseException as problem:  # the main thread ends with it
            self.loads.put(problem)

    def granted(self, batch):
        return batch.grants.get()

    def lane(self):
        while True:
            batch, function = self.batches.get()
            with self.lock:
                if batch.number not in self.under_way:
                    continue  # cancelled
                batch.begun = True
            with function.one_at_a_time:
                self.run(batch, function)

    def answer(self, batch, *rest):
        with self.lock:
            self.under_way.pop(batch, None)
        super().answer(batch, *rest)

    def read(self):
        while True:
            number, reader, _ = self.channel.receive()
            if number in (LOAD, UNLOAD, MOVE):
                self.loads.put((number, reader))
            elif number == RUN:
                batch, function = self.begin(reader)
                with self.lock:
                    if batch.number in self.under_way:
                        raise ProtocolError(f"batch {batch.number} twice")
                    self.under_way[batch.number] = batch
                self.batches.put((batch, function))
            elif number == GRANT:
                self.grant(reader)
            elif number == CANCEL:
                self.cancel(reader)
            else:
                raise ProtocolError(f"message {number} is out of turn")

    def grant(self, reader):
        number, offset, size = reader.take("<QQQ")
        reader.end()
        with self.lock:
            batch = self.under_way.get(number)
            if batch is None or not batch.wants:
                raise ProtocolError("Grant to nothing wanted")
            batch.wants = False
        batch.grants.put((offset, size))

    def cancel(self, reader):
        number = reader.take("<Q")
        reader.end()
        with self.lock:
            batch = self.under_way.get(number)
            if batch is None or batch.begun:
                return
            del self.under_way[number]
        self.cancelled(number)

    def serve(self):
        for thread in self.threads:
            thread.start()
        while True:
            task = self.loads.get()
            if isinstance(task, BaseException):
                raise task
            number, reader = task
            {LOAD: self.load, UNLOAD: self.unload, MOVE: self.move}[number](reader)


def serve(descriptor):
    channel = Channel(descriptor)
    number, reader, descriptors = channel.receive()
    if number != HELLO:
        raise ProtocolError(f"message {number} is out of turn")
    version, size, lanes, _, _, _ = reader.take("<IQIBIB")
    reader.end()
    if version != VERSION:
        raise ProtocolError(f"the server speaks version {version} of the worker protocol, this worker {VERSION}; both have to be of one build")
    if not 1 <= lanes <= LANES_MAX:
        raise ProtocolError(f"the server asks for {lanes} lanes, there may be 1 to {LANES_MAX}")
    if len(descriptors) != 1 or os.fstat(descriptors[0]).st_size < size or size == 0:
        raise ProtocolError(f"no shared memory of {size} bytes came along")
    memory = mmap.mmap(descriptors[0], size)
    os.close(descriptors[0])
    worker = Alone(channel, memory) if lanes == 1 else Lanes(channel, memory, lanes)
    worker.serve()


def main():
    if len(sys.argv) != 3 or sys.argv[1] != "--socket" or not sys.argv[2].isdigit():
        print("usage: sluice_worker.py --socket FD; it is started by `sluice`", file=sys.stderr)
        return 1
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG: a worker does not outlive its server
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        serve(int(sys.argv[2]))
        status = 0
    except Stopped:
        status = 0
    except ProtocolError as error:
        print(f"sluice_worker.py: {error}", file=sys.stderr)
        status = 1
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # whatever threads are still running


if __name__ == "__main__":
    sys.exit(main())
