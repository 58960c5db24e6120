"""Changes metadata of a GGUF v3 file: values of scalar keys, or their removal. A plain reader and writer of its own,
so that tests do not depend on the code they test. Flow: imported by tests of damaged files."""
import struct

SIZES = {0: "B", 1: "b", 2: "H", 3: "h", 4: "I", 5: "i", 6: "f", 7: "?", 10: "Q", 11: "q", 12: "d"}


def text(data, at):
    size = struct.unpack_from("<Q", data, at)[0]
    return data[at + 8:at + 8 + size], at + 8 + size


def skip(data, at, kind):
    """The offset behind a value."""
    if kind in SIZES:
        return at + struct.calcsize("<" + SIZES[kind])
    if kind == 8:
        return text(data, at)[1]
    inner, count = struct.unpack_from("<IQ", data, at)
    at += 12
    if inner in SIZES:
        return at + count * struct.calcsize("<" + SIZES[inner])
    for _ in range(count):
        at = text(data, at)[1]
    return at


def edited(data, changes):
    """The file with `changes`: key -> new value (its type kept), or None to drop it. Data moves with the alignment."""
    version, tensors, keys = struct.unpack_from("<IQQ", data, 4)
    at, pairs = 24, []
    for _ in range(keys):
        begin = at
        key, at = text(data, at)
        kind = struct.unpack_from("<I", data, at)[0]
        value = at + 4
        at = skip(data, value, kind)
        name = key.decode()
        if name not in changes:
            pairs.append(data[begin:at])
        elif changes[name] is not None:
            new = changes[name]
            raw = (struct.pack("<Q", len(new)) + new.encode()) if kind == 8 else struct.pack("<" + SIZES[kind], new)
            pairs.append(data[begin:value] + raw)
    begin = at
    for _ in range(tensors):
        at = text(data, at)[1]
        at += 4 + 8 * struct.unpack_from("<I", data, at)[0] + 4 + 8
    head = data[:4] + struct.pack("<IQQ", version, tensors, len(pairs)) + b"".join(pairs) + data[begin:at]
    align = 32
    start = (at + align - 1) // align * align
    return head + b"\0" * (-len(head) % align) + data[start:]
