"""Changes a GGUF v3 file: values of scalar keys, or their removal, a copied tensor, a file in parts. A plain reader and
writer of its own, so that tests do not depend on the code they test. Flow: imported by tests that need a file that
nobody ships."""
import struct

ALIGN = 32
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
    """The file with `changes`: key -> new value (its type kept; bytes: type and value as they are to stand), or None to
    drop it. Data moves with the alignment."""
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
            if isinstance(new, bytes):
                pairs.append(data[begin:value - 4] + new)
                continue
            raw = (struct.pack("<Q", len(new)) + new.encode()) if kind == 8 else struct.pack("<" + SIZES[kind], new)
            pairs.append(data[begin:value] + raw)
    infos, start = tensors_of(data, tensors, at)
    head = data[:4] + struct.pack("<IQQ", version, tensors, len(pairs)) + b"".join(pairs) + b"".join(infos.values())
    return head + b"\0" * (-len(head) % ALIGN) + data[start:]


def tensors_of(data, count, at):
    """(name -> description as it stands in the file, where the data begins)."""
    out = {}
    for _ in range(count):
        begin = at
        name, at = text(data, at)
        at += 4 + 8 * struct.unpack_from("<I", data, at)[0] + 4 + 8
        out[name.decode()] = data[begin:at]
    return out, (at + ALIGN - 1) // ALIGN * ALIGN


def header(data):
    """(the bytes before the descriptions of tensors, those descriptions, where the data begins)."""
    count, keys = struct.unpack_from("<QQ", data, 8)
    at = 24
    for _ in range(keys):
        at = text(data, at)[1]
        at = skip(data, at + 4, struct.unpack_from("<I", data, at)[0])
    return data[:at], *tensors_of(data, count, at)


def with_copy(data, name, copy):
    """The file with tensor `name` once more, as `copy`: two descriptions of other bytes that are equal."""
    head, infos, start = header(data)
    offset = struct.unpack("<Q", infos[name][-8:])[0]
    later = [o for o in (struct.unpack("<Q", info[-8:])[0] for info in infos.values()) if o > offset]
    size = min(later, default=len(data) - start) - offset
    padding = -(len(data) - start) % ALIGN
    body = infos[name][8 + len(name):-8] + struct.pack("<Q", len(data) - start + padding)
    infos = {**infos, copy: struct.pack("<Q", len(copy)) + copy.encode() + body}
    head = head[:8] + struct.pack("<Q", len(infos)) + head[16:] + b"".join(infos.values())
    return head + b"\0" * (-len(head) % ALIGN) + data[start:] + b"\0" * padding + data[start + offset:][:size]


def parts(data, count):
    """The file as a split of `count` parts: the tensors in turn, all metadata in the first part."""
    head, infos, start = header(data)
    begin = {name: struct.unpack("<Q", info[-8:])[0] for name, info in infos.items()}
    ends = sorted([*begin.values(), len(data) - start])
    keys = struct.unpack_from("<Q", data, 16)[0]
    out = []
    for number in range(count):
        mine = list(infos)[number::count]
        body, described = b"", b""
        for name in mine:
            described += infos[name][:-8] + struct.pack("<Q", len(body))
            end = next(e for e in ends if e > begin[name])
            body += data[start + begin[name]:start + end]
            body += b"\0" * (-len(body) % ALIGN)
        split = b"".join(struct.pack("<Q", len(key)) + key.encode() + struct.pack("<I" + form, kind, value)
                         for key, kind, form, value in (("split.no", 2, "H", number), ("split.count", 2, "H", count),
                                                        ("split.tensors.count", 5, "i", len(infos))))
        meta = head[24:] if number == 0 else b""
        top = data[:8] + struct.pack("<QQ", len(mine), 3 + (keys if number == 0 else 0)) + meta + split + described
        out.append(top + b"\0" * (-len(top) % ALIGN) + body)
    return out
