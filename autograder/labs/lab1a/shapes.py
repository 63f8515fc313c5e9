"""On what the tasks of Lab 1A are tried: shapes, machines and models, public and hidden."""

from __future__ import annotations

from typing import Any

from lab_utils.instruments.roofline import A100, H100, ORIN_NANO, Machine
from lab_utils.instruments.shapes import LLAMA2_70B, LLAMA3_8B, LLAMA_7B, Transformer

TOY = Machine("a toy", {"fp32": 100.0, "bf16": 400.0}, 20.0, 1000.0, 10.0)
#: Slow memory, fast memory, and one that knows a single type.
NARROW = Machine("narrow", {"fp32": 7e12, "bf16": 28e12, "int8": 90e12}, 45e9, 6e9, 900e6)
BROAD = Machine("broad", {"fp64": 2e12, "fp32": 3e12, "fp16": 11e12}, 2500e9, 24e9, 1300e6)
LAPTOP = Machine("laptop", {"fp32": 151e9}, 23e9, 16e9, 2600e6)

TINY = Transformer("tiny", 2, 8, 4, 2, 2, 12, True, 10, 16)
#: Heads that are together wider than the model; one key for all; two matrices.
WIDE_HEADS = Transformer("wide heads", 28, 3072, 16, 16, 256, 24576, True, 256000, 8192)
ONE_KEY = Transformer("one key", 18, 2048, 8, 1, 256, 16384, True, 256128, 8192)
SMALL_SHARED = Transformer("small and shared", 22, 2048, 32, 4, 64, 5632, True, 32003, 2048)
PLAIN = Transformer("plain", 48, 1600, 25, 25, 64, 6400, False, 50257, 1024)
SHARED_PLAIN = Transformer("shared and plain", 60, 6144, 48, 12, 96, 20480, False, 65024, 2048)

Given = dict[str, dict[str, tuple[Any, ...]]]

PUBLIC: Given = {
    "1.1": {
        "softmax [2, 3]": ("softmax", 2, 3),
        "layernorm [2, 3, 4]": ("layernorm", 2, 3, 4),
        "gemm [2, 3, 4, 5]": ("gemm", 2, 3, 4, 5),
        "attention [2, 3, 4, 5]": ("attention", 2, 3, 4, 5),
    },
    "1.2": {
        "gemm [1, 1, 1, 4], a dot product": (1, 1, 1, 4),
        "gemm [2, 3, 4, 5]": (2, 3, 4, 5),
        "gemm [32, 16, 8, 32]": (32, 16, 8, 32),
    },
    "1.3": {
        "softmax [1, 4], w = 1": (1, 4, 1),
        "softmax [2, 3], w = 5": (2, 3, 5),
        "softmax [2, 256], w = 12": (2, 256, 12),
    },
    "1.4": {
        "layernorm [1, 1, 4], w = 1": (1, 1, 4, 1),
        "layernorm [2, 3, 5], w = 4": (2, 3, 5, 4),
        "layernorm [2, 8, 512], w = 12": (2, 8, 512, 12),
    },
    "1.5": {
        "attention [1, 2, 3, 4], w = 1": (1, 2, 3, 4, 1),
        "attention [2, 3, 4, 5], w = 6": (2, 3, 4, 5, 6),
        "attention [1, 256, 384, 12], w = 12": (1, 256, 384, 12, 12),
    },
    "2.1": {
        "1200 operations on 40 elements of bf16, on a toy": (1200, 40, "bf16", TOY, 0.75, 0.5),
        "1200 operations on 40 elements of fp32, on a toy": (1200, 40, "fp32", TOY, 0.75, 0.5),
        "a GEMM of 4096 in bf16, on an A100": (
            2 * 4096**3 - 4096**2,
            3 * 4096**2,
            "bf16",
            A100,
            0.75,
            0.7,
        ),
    },
    "2.2": {
        "2 items, 3 tokens, 4 wide, then 5, inside 7": (2, 3, 4, 5, 7),
        "LLaMA-7B-like, prefill of 512 tokens": (64, 512, 4096, 4096, 11008),
        "GPT-3-like, decode of one token": (64, 1, 2048, 12288, 49152),
    },
    "2.3": {
        "30 operations on 4 + 2 + 4 elements, on a toy": (30, (4, 2, 4), "fp32", TOY, 0.75, 0.5),
        "softmax [2, 256] on an A100": (12_798, (512, 0, 512), "fp32", A100, 0.75, 0.7),
        "gemm [32, 16, 8, 32] on a Jetson": (
            258_048,
            (16_384, 256, 4_096),
            "fp32",
            ORIN_NANO,
            0.85,
            0.75,
        ),
    },
    "2.4": {
        "a tiny layer, prefill": (TINY, 1, 3, 0),
        "a tiny layer, decode": (TINY, 2, 1, 4),
        "LLaMA-7B, prefill of 512": (LLAMA_7B, 1, 512, 0),
    },
    "2.5": {
        "a tiny layer, prefill": (TINY, 1, 3, 0),
        "a tiny layer, decode": (TINY, 2, 1, 4),
        "LLaMA-7B, decode with 16 sequences": (LLAMA_7B, 16, 1, 511),
    },
    "2.6": {
        "a tiny model": (TINY, 3, 5, "fp32"),
        "LLaMA-7B in bf16, one sequence of 2048": (LLAMA_7B, 1, 2048, "bf16"),
    },
    "2.7": {
        "64 by 64 in fp32, on a toy": (64, 64, "fp32", TOY),
        "4096 by 4096 in bf16, on an A100": (4096, 4096, "bf16", A100),
        "512 by 512 in bf16, on an H100": (512, 512, "bf16", H100),
    },
}

HIDDEN: Given = {
    "1.1": {
        "many short vectors": ("softmax", 917, 31),
        "a norm over a batch": ("layernorm", 7, 129, 770),
        "a product with few outputs": ("gemm", 19, 37, 3, 411),
        "a feed-forward product": ("gemm", 48, 384, 11010, 4098),
        "attention with a narrow head": ("attention", 11, 203, 17, 333),
        "attention with a wide head": ("attention", 13, 41, 1030, 59),
        "attention over a long text": ("attention", 3, 2050, 66, 129),
        "attention of two tokens": ("attention", 29, 2, 35, 47),
    },
    "1.2": {
        "few outputs, long sums": (19, 37, 3, 411),
        "many outputs, short sums": (23, 5, 1103, 29),
        "a single vector": (1, 1, 257, 131),
        "a large batch": (513, 9, 11, 13),
        "a feed-forward product": (48, 384, 11010, 4098),
    },
    "1.3": {
        "one long vector": (1, 32009, 7),
        "many short vectors": (917, 31, 11),
        "attention's rows": (4096, 519, 4),
        "light exponentials": (37, 101, 3),
        "heavy exponentials": (53, 67, 20),
    },
    "1.4": {
        "a norm over a batch": (7, 129, 770, 9),
        "narrow vectors": (31, 33, 9, 5),
        "one wide vector": (1, 1, 12290, 8),
        "light roots": (5, 64, 1026, 3),
        "heavy roots": (11, 13, 258, 20),
    },
    "1.5": {
        "a narrow head": (11, 203, 17, 333, 7),
        "a wide head": (13, 41, 1030, 59, 11),
        "two tokens": (29, 2, 35, 47, 4),
        "a long sequence": (3, 2050, 66, 129, 8),
        "heavy divisions": (17, 72, 24, 100, 19),
    },
    "2.1": {
        "long sums on slow memory": (9_170_000_033, 5_100_017, "bf16", NARROW, 0.6, 0.9),
        "a sum of two tensors": (31_000_007, 93_000_021, "fp32", NARROW, 0.55, 0.8),
        "whole numbers": (71_000_000_019, 640_000_013, "int8", NARROW, 0.9, 0.65),
        "a copy: no operation at all": (0, 77_000_003, "fp16", BROAD, 0.7, 0.85),
        "double precision": (45_000_000_011, 90_000_049, "fp64", BROAD, 0.8, 0.6),
        "half precision on fast memory": (45_000_000_011, 90_000_049, "fp16", BROAD, 0.8, 0.95),
        "a small computer": (2_500_000_007, 1_700_003, "fp32", LAPTOP, 0.5, 0.7),
        "at its best": (123_000_000_007, 470_000_003, "fp8", H100, 1.0, 1.0),
    },
    "2.2": {
        "one item": (1, 77, 640, 1280, 3456),
        "a step of decoding": (37, 1, 1536, 2560, 6912),
        "it becomes narrower": (5, 33, 2304, 1152, 4610),
        "an even width": (9, 130, 896, 896, 4866),
        "narrow inside": (3, 258, 514, 1026, 322),
    },
    "2.3": {
        "long sums": (9_170_000_033, (4_100_017, 700_001, 300_007), "bf16", NARROW, 0.6, 0.9),
        "a sum of two tensors": (31_000_007, (62_000_014, 0, 31_000_007), "fp32", NARROW, 0.5, 0.8),
        "a large weight": (71_000_000_019, (13_007, 640_000_013, 9_001), "int8", NARROW, 0.9, 0.65),
        "double precision": (45_000_000_011, (90_000_049, 11, 7_003), "fp64", BROAD, 0.8, 0.6),
        "fast memory": (45_000_000_011, (70_000_049, 3_001, 20_000_003), "fp16", BROAD, 0.8, 0.95),
        "a small computer": (2_500_000_007, (1_000_003, 500_009, 200_003), "fp32", LAPTOP, 0.5, 1),
    },
    "2.4": {
        "shared keys, prefill": (SMALL_SHARED, 3, 129, 0),
        "shared keys, decode": (SMALL_SHARED, 5, 1, 1402),
        "a few tokens behind a long past": (LLAMA3_8B, 7, 9, 3001),
        "heads wider than the model": (WIDE_HEADS, 2, 65, 700),
        "one key for all": (ONE_KEY, 11, 1, 515),
        "two matrices": (PLAIN, 13, 3, 257),
        "shared keys and two matrices": (SHARED_PLAIN, 6, 1, 1999),
    },
    "2.5": {
        "shared keys, prefill": (SMALL_SHARED, 3, 129, 0),
        "shared keys, decode": (SMALL_SHARED, 5, 1, 1402),
        "a few tokens behind a long past": (LLAMA3_8B, 7, 9, 3001),
        "heads wider than the model": (WIDE_HEADS, 2, 65, 700),
        "one key for all": (ONE_KEY, 11, 1, 515),
        "two matrices": (PLAIN, 13, 3, 257),
        "shared keys and two matrices": (SHARED_PLAIN, 6, 1, 1999),
    },
    "2.6": {
        "shared keys": (LLAMA2_70B, 3, 4001, "bf16"),
        "shared keys, small": (SMALL_SHARED, 9, 1501, "int8"),
        "heads wider than the model": (WIDE_HEADS, 5, 777, "fp32"),
        "two matrices": (SHARED_PLAIN, 7, 1999, "fp16"),
        "one key for all": (ONE_KEY, 21, 8191, "bf16"),
    },
    "2.7": {
        "a small computer": (1030, 3074, "fp32", LAPTOP),
        "whole numbers": (8194, 28674, "int8", NARROW),
        "too small to cross": (386, 514, "int8", NARROW),
        "as large as it must not be": (20, 20, "fp32", TOY),
        "fast memory": (2050, 130, "fp16", BROAD),
        "a narrow output": (16386, 402, "bf16", H100),
        "too shallow to cross": (770, 6146, "int8", NARROW),
        "too narrow to cross": (16386, 290, "bf16", H100),
    },
}
