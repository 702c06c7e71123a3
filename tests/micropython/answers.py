"""Evaluate expressions and write each answer as text that is the same wherever the values are the same.

This file runs on CPython and on MicroPython. Whole numbers that cross to JavaScript are cut to 32 bits, hence
text. The two write some floats and the repr of some letters differently, so a float is written as its eight
bytes, a string as it is, and an object as its fields.
"""

import binascii
import struct


def text(value):
    if value is None or isinstance(value, bool):
        return str(value)
    if isinstance(value, str):
        return "'" + value + "'"
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return "float " + binascii.hexlify(struct.pack(">d", value)).decode()
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join([text(item) for item in value]) + "]"
    if isinstance(value, dict):
        return "{" + ", ".join(sorted([text(key) + ": " + text(value[key]) for key in value])) + "}"
    return type(value).__name__ + text(value.__dict__)


def answers(setup, expressions):
    names = {}
    exec(setup, names)
    found = []
    for expression in expressions:
        try:
            found.append(text(eval(expression, names)))
        except Exception as error:
            found.append(type(error).__name__ + ": " + str(error))
    return found
