"""Writes quantized hub folders of all schemes with numpy, and decodes them in the plainest way. Thread rule: none.
Flow: imported by the tests of this folder. A `Linear` holds the raw tensors and the float32 weights that they mean."""
import json
import pathlib
import struct

import numpy as np

NAMES = {"int32": "I32", "int64": "I64", "int8": "I8", "uint8": "F8_E4M3", "float16": "F16", "uint16": "BF16",
         "float32": "F32"}  # uint16 holds bfloat16 and uint8 an FP8


def write_safetensors(path, tensors, metadata=None):
    """`tensors`: name -> array, or (dtype name, shape, bytes) for what numpy cannot say or should not be right."""
    header, data = {"__metadata__": metadata} if metadata else {}, b""
    for name, value in tensors.items():
        dtype, shape, raw = value if isinstance(value, tuple) else (NAMES[str(value.dtype)], list(value.shape),
                                                                    value.tobytes())
        header[name] = {"dtype": dtype, "shape": shape, "data_offsets": [len(data), len(data) + len(raw)]}
        data += raw
    text = json.dumps(header).encode()
    pathlib.Path(path).write_bytes(struct.pack("<Q", len(text)) + text + data)


def write_folder(path, tensors, quantization):
    path.mkdir(parents=True, exist_ok=True)
    config = {"model_type": "llama", "hidden_size": 64, "quantization_config": quantization}
    (path / "config.json").write_text(json.dumps(config))
    write_safetensors(path / "model.safetensors", tensors, {"format": "pt"})


def bf16(values):
    bits = np.asarray(values, np.float32).view(np.uint32)
    return ((bits + 0x7fff + (bits >> 16 & 1)) >> 16).astype(np.uint16)


def wide(stored):
    """The float32 of stored f16, bf16 or f32."""
    if stored.dtype == np.uint16:
        return (stored.astype(np.uint32) << 16).view(np.float32)
    return stored.astype(np.float32)


def random_scales(rng, shape, kind):
    values = rng.uniform(1e-3, 0.1, shape) * rng.choice([1, -1, 1e-4], shape)
    return bf16(values) if kind == "bf16" else values.astype(kind)


def pack(codes, bits, axis, order=None):
    """Codes to int32 words along `axis`; `order[i]` is the position within the word's codes that nibble i holds."""
    per = 32 // bits
    codes = np.moveaxis(np.asarray(codes).astype(np.uint64), axis, -1)
    missing = -codes.shape[-1] % per
    codes = np.pad(codes, [(0, 0)] * (codes.ndim - 1) + [(0, missing)])
    codes = codes.reshape(*codes.shape[:-1], -1, per)
    words = np.zeros(codes.shape[:-1], np.uint64)
    for i, at in enumerate(order or range(per)):
        words |= codes[..., at] << np.uint64(bits * i)
    return np.ascontiguousarray(np.moveaxis(words.astype(np.uint32).view(np.int32), -1, axis))


def awq_of(q, z, s, of):
    """(raw tensors by suffix, weights) of codes [in, out], zero points and scales [groups, out]; of[k]: k's group."""
    order = (0, 2, 4, 6, 1, 3, 5, 7)
    return ({"qweight": pack(q, 4, 1, order), "qzeros": pack(z, 4, 1, order), "scales": s},
            ((q - z[of]).astype(np.float32) * wide(s)[of]).T)


def awq(rng, out, size, group, scale_kind="float16"):
    groups = 1 if group == -1 else size // group
    q, z = rng.integers(0, 16, (size, out)), rng.integers(0, 16, (groups, out))
    return awq_of(q, z, random_scales(rng, (groups, out), scale_kind), np.arange(size) // (size // groups))


def gptq_of(q, z, s, of, bits, version, with_index):
    """Version 1 stores zero - 1, counting whole words down."""
    zeros = pack(z, bits, 1)
    if version == 1:
        zeros = (zeros.view(np.uint32) - np.uint32(0x11111111 if bits == 4 else 0x01010101)).view(np.int32)
    raw = {"qweight": pack(q, bits, 0), "qzeros": zeros, "scales": s}
    if with_index:
        raw["g_idx"] = of.astype(np.int32)
    return raw, ((q - z[of]).astype(np.float32) * wide(s)[of]).T


def gptq(rng, out, size, group, bits=4, order="none", version=1, scale_kind="float16", low_zero=1):
    """order: none (no g_idx), plain, or shuffled."""
    group = size if group == -1 else group
    groups = -(-size // group)
    q, z = rng.integers(0, 2**bits, (size, out)), rng.integers(low_zero, 2**bits, (groups, out))
    of = np.arange(size, dtype=np.int32) // group
    if order == "shuffled":
        rng.shuffle(of)
    return gptq_of(q, z, random_scales(rng, (groups, out), scale_kind), of, bits, version, order != "none")


def rounded(weight, of, bits):
    """Codes [in, out], zero points and f16 scales [groups, out] of a weight [out, in], rounded to nearest."""
    groups, most = of.max() + 1, 2**bits - 1
    low = np.stack([np.minimum(weight[:, of == g].min(axis=1), 0) for g in range(groups)])
    high = np.stack([np.maximum(weight[:, of == g].max(axis=1), 0) for g in range(groups)])
    s = (np.maximum(high - low, 1e-5) / most).astype(np.float16)
    z = np.clip(np.rint(-low / s.astype(np.float32)), 0, most).astype(np.int64)
    q = np.clip(np.rint(weight.T / s.astype(np.float32)[of]) + z[of], 0, most).astype(np.int64)
    return q, z, s


def reach(out, size, strategy, group):
    """Rows and columns of a scale."""
    return {"tensor": (out, size), "channel": (1, size), "group": (1, group), "block": (group, group)}[strategy]


def spread(table, rows, columns, out, size, of=None):
    """A table of scales or zero points, repeated over the weight."""
    of = np.arange(size) // columns if of is None else of
    return table[np.arange(out) // rows][:, of]


def compressed(rng, out, size, layout, strategy, group, zeros="none", order="none", scale_kind="float16"):
    """layout: pack4, pack8, int8 or fp8. zeros: none, words or bytes."""
    rows, columns = reach(out, size, strategy, group)
    shape = (-(-out // rows), -(-size // columns))
    bits = 4 if layout == "pack4" else 8
    half = 2 ** (bits - 1)
    s = random_scales(rng, shape, scale_kind)
    z = np.zeros(shape, np.int8) if zeros == "none" else rng.integers(-half, half, shape).astype(np.int8)
    of = np.arange(size, dtype=np.int32) // columns
    if order == "shuffled":
        rng.shuffle(of)
    raw = {}
    if layout == "fp8":
        q = rng.integers(0, 256, (out, size)).astype(np.uint8)
        q[q % 128 == 127] = 0
        value = fp8_values()[q]
        raw["weight"] = q
    else:
        q = rng.integers(-half, half, (out, size))
        value = (q - spread(z.astype(np.int64), rows, columns, out, size, of)).astype(np.float32)
        if layout == "int8":
            raw["weight"] = q.astype(np.int8)
        else:
            raw["weight_packed"] = pack(q + half, bits, 1)
            raw["weight_shape"] = np.array([out, size], np.int64)
    raw["weight_scale"] = s.reshape(1) if strategy == "tensor" else s
    if zeros == "words":
        raw["weight_zero_point"] = pack(z.astype(np.int64) + half, bits, 0)
    elif zeros == "bytes":
        raw["weight_zero_point"] = z
    if order != "none":
        raw["weight_g_idx"] = np.full(size, -1, np.int32) if order == "unset" else of
    return raw, value * spread(wide(s), rows, columns, out, size, of)


def compressed_of(weight, layout, columns):
    """A weight [out, in] in pack4 with zero points per group, int8 per output, or FP8 in blocks of 128 x columns."""
    out, size = weight.shape
    if layout == "pack4":
        of = np.arange(size) // columns
        q, z, s = rounded(weight, of, 4)
        raw = {"weight_packed": pack(q.T, 4, 1), "weight_shape": np.array([out, size]), "weight_scale": s.T.copy(),
               "weight_zero_point": pack(z.T, 4, 0)}
        return raw, ((q - z[of]).astype(np.float32) * wide(s)[of]).T
    if layout == "int8":
        s = bf16(np.abs(weight).max(axis=1, keepdims=True) / 127)
        q = np.clip(np.rint(weight / wide(s)), -128, 127).astype(np.int8)
        return {"weight": q, "weight_scale": s}, q.astype(np.float32) * wide(s)
    values = fp8_values()
    up = np.argsort(values[:127])
    s = np.array([[np.abs(weight[r:r + columns, c:c + columns]).max() / 448 for c in range(0, size, columns)]
                  for r in range(0, out, columns)], np.float32)
    full = spread(s, columns, columns, out, size)
    near = np.searchsorted(values[up], np.abs(weight / full)).clip(0, 126)
    q = (up[near] | (weight < 0) * 128).astype(np.uint8)
    return {"weight": q, "weight_scale": s}, values[q] * full


def fp8_values():
    """The 256 values of E4M3 without infinities."""
    code = np.arange(256)
    exponent, mantissa = code >> 3 & 15, code & 7
    size = np.where(exponent == 0, mantissa / 8 * 2.0**-6, (1 + mantissa / 8) * 2.0 ** (exponent - 7))
    return np.where(code & 127 == 127, np.nan, np.where(code < 128, size, -size)).astype(np.float32)


def module(prefix, raw):
    return {f"{prefix}.{suffix}": value for suffix, value in raw.items()}


def ct_config(layout, strategy, group, zeros="none", order="none"):
    weights = {"num_bits": 4 if layout == "pack4" else 8, "type": "float" if layout == "fp8" else "int",
               "symmetric": zeros == "none", "strategy": strategy, "dynamic": False,
               "group_size": group if strategy == "group" else None,
               "block_structure": [group, group] if strategy == "block" else None,
               "actorder": None if order == "none" else "group"}
    form = {"pack4": "pack-quantized", "pack8": "pack-quantized", "int8": "int-quantized", "fp8": "float-quantized"}
    return {"quant_method": "compressed-tensors", "format": form[layout], "ignore": ["lm_head", "re:.*gate$"],
            "config_groups": {"group_0": {"targets": ["Linear"], "weights": weights, "input_activations": None}},
            "kv_cache_scheme": None, "quantization_status": "compressed"}
