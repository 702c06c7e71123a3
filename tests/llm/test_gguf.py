"""Headers of GGUF files, made here: what they say of a model, and one line for what is no header."""

import io
import random
import struct

import pytest

from gpumoat.llm.cache import CacheRules, bytes_per_token, state_bytes_per_sequence
from gpumoat.llm.counts import active_parameters, total_parameters
from gpumoat.llm.fields import ConfigError
from gpumoat.llm.gguf import read_gguf
from gpumoat.llm.load import load
from gpumoat.llm.quantization import named
from gpumoat.llm.weights import stored_bytes


def text(value):
    raw = value.encode()
    return struct.pack("<Q", len(raw)) + raw


def entry(key, value):
    if isinstance(value, str):
        return text(key) + struct.pack("<I", 8) + text(value)
    if isinstance(value, list) and value and isinstance(value[0], str):
        return text(key) + struct.pack("<IIQ", 9, 8, len(value)) + b"".join(text(one) for one in value)
    if isinstance(value, list):
        return text(key) + struct.pack("<IIQ", 9, 4, len(value)) + b"".join(struct.pack("<I", one) for one in value)
    return text(key) + struct.pack("<II", 4, value)


def header(entries, tensors):
    out = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(entries))
    out += b"".join(entry(key, entries[key]) for key in entries)
    for name, shape, kind in tensors:
        out += text(name) + struct.pack("<I", len(shape)) + b"".join(struct.pack("<Q", size) for size in shape)
        out += struct.pack("<IQ", kind, 0)
    return out


def small(**more):
    said = {
        "general.architecture": "llama",
        "general.name": "Small",
        "llama.block_count": 2,
        "llama.embedding_length": 256,
        "llama.feed_forward_length": 512,
        "llama.attention.head_count": 8,
        "llama.attention.head_count_kv": 2,
        "llama.context_length": 4096,
        "tokenizer.ggml.tokens": ["a", "b"],
    }
    tensors = [("token_embd.weight", [256, 1000], 12), ("output_norm.weight", [256], 0)]
    for place in range(2):
        tensors += [
            (f"blk.{place}.attn_q.weight", [256, 256], 12),
            (f"blk.{place}.attn_k.weight", [256, 64], 12),
            (f"blk.{place}.attn_v.weight", [256, 64], 14 if place else 12),
            (f"blk.{place}.attn_output.weight", [256, 256], 12),
            (f"blk.{place}.attn_norm.weight", [256], 0),
            (f"blk.{place}.ffn_up.weight", [256, 512], 12),
            (f"blk.{place}.ffn_gate.weight", [256, 512], 12),
            (f"blk.{place}.ffn_down.weight", [512, 256], 14),
        ]
    return {**said, **more}, tensors


def read(entries, tensors):
    return read_gguf(io.BytesIO(header(entries, tensors)), "small.gguf")


def test_a_header_is_read_to_the_byte():
    made = read(*small())
    values = 256 * 1000 + 256 + 2 * (2 * 256 * 256 + 2 * 64 * 256 + 256 + 3 * 256 * 512)
    assert total_parameters(made) == values
    assert made.tied, "no output tensor"
    assert made.vocabulary == 1000
    assert bytes_per_token(made) == 2 * 2 * 2 * 32 * 2
    sixes = 64 * 256 + 2 * 256 * 512
    floats = 3 * 256
    fours = values - sixes - floats
    assert stored_bytes(made, "fp16", named("none")) == fours * 144 // 256 + sixes * 210 // 256 + floats * 4


def test_key_lengths_heads_by_layer_and_windows():
    entries, tensors = small(**{"llama.attention.key_length": 64, "llama.attention.head_count_kv": [2, 4]})
    made = read(entries, tensors)
    assert [layer.mixer.kv_heads for layer in made.layers] == [2, 4]
    assert made.layers[0].mixer.key_dim == 64
    assert made.layers[0].mixer.value_dim == 32
    entries, tensors = small(**{"llama.attention.sliding_window": 128, "llama.attention.sliding_window_pattern": 2})
    assert [layer.mixer.window for layer in read(entries, tensors).layers] == [128, 0]


def test_experts_and_states():
    entries, tensors = small(**{"llama.expert_count": 8, "llama.expert_used_count": 2})
    tensors = [one for one in tensors if ".ffn_" not in one[0]]
    tensors += [(f"blk.{place}.ffn_up_exps.weight", [256, 128, 8], 12) for place in range(2)]
    made = read(entries, tensors)
    assert total_parameters(made) - active_parameters(made) == 2 * 6 * 256 * 128
    entries, tensors = small(**{"llama.ssm.inner_size": 512, "llama.ssm.state_size": 16, "llama.ssm.conv_kernel": 4})
    tensors.append(("blk.1.ssm_conv1d.weight", [4, 544], 0))
    state = state_bytes_per_sequence(read(entries, tensors), CacheRules(convolution_bytes=4))
    assert state == 544 * 3 * 4 + 512 * 16 * 4


def test_from_a_file(tmp_path):
    path = tmp_path / "small.gguf"
    path.write_bytes(header(*small()))
    assert load(str(path)).name == "Small"


@pytest.mark.parametrize(
    ("raw", "words"),
    [
        (b"GGML", "no GGUF file"),
        (b"GGUF\1\0\0\0" + bytes(16), "version 1"),
        (b"GGUF\3\0\0\0" + b"\xff" * 16, "which cannot be"),
        (header(*small())[:300], "cut off"),
        (header({"general.architecture": "llama"}, []), "block_count is missing"),
        (header({}, []), "no general.architecture"),
        (header(small()[0], [("x", [1], 99)]), "type of number 99"),
    ],
)
def test_what_is_no_header_is_one_line(raw, words):
    with pytest.raises(ConfigError, match=words):
        read_gguf(io.BytesIO(raw), "x")


def test_damaged_headers_give_a_result_or_one_line():
    chance = random.Random(7)
    good = header(*small())
    for _ in range(400):
        raw = bytearray(good)
        for _ in range(chance.choice((1, 2, 8))):
            raw[chance.randrange(len(raw))] = chance.randrange(256)
        line = ""
        try:
            assert total_parameters(read_gguf(io.BytesIO(bytes(raw)), "x")) >= 0
        except ConfigError as error:
            line = str(error)
        assert "\n" not in line
