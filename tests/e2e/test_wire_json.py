# SPDX-License-Identifier: BSD-3-Clause
"""libheapwatch's JSON against protobuf's own, for messages with every field of the schema set."""

import ctypes
import json
import math
import random

import pytest
from google.protobuf import json_format
from google.protobuf.descriptor import FieldDescriptor as F

import subscriber
from harness import BUILD


@pytest.fixture(scope="module")
def library():
    if BUILD.name == "asan":
        pytest.skip("AddressSanitizer cannot be loaded into Python; the same code is under it in every client")
    lib = ctypes.CDLL(str(BUILD / "libheapwatch.so"))
    for name in ("update", "reply", "request"):
        f = getattr(lib, "hw_%s_unpack" % name)
        f.restype = ctypes.c_void_p
        f.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.POINTER(ctypes.c_char_p)]
    lib.hw_json.restype = ctypes.c_void_p
    lib.hw_json.argtypes = [ctypes.c_void_p, ctypes.c_bool]
    return lib


def our_json(lib, kind, message, plain=False):
    reason = ctypes.c_char_p()
    data = message.SerializeToString()
    unpacked = getattr(lib, "hw_%s_unpack" % kind)(data, len(data), ctypes.byref(reason))
    assert unpacked, reason.value
    text = lib.hw_json(unpacked, plain)
    return ctypes.string_at(text).decode("utf-8")


def number(field, rng):
    if field.type == F.TYPE_DOUBLE:
        return rng.choice([0.1, 1e300, -2.5, 1 / 3, 5e-324, math.inf, -math.inf, math.nan, 0.0, 1e22])
    if field.type in (F.TYPE_UINT64, F.TYPE_FIXED64):
        return rng.choice([0, 1, 2**53 + 1, 2**64 - 1])
    if field.type in (F.TYPE_UINT32, F.TYPE_FIXED32):
        return rng.choice([0, 7, 2**32 - 1])
    if field.type == F.TYPE_BOOL:
        return rng.choice([True, False])
    if field.type == F.TYPE_ENUM:
        return rng.choice(field.enum_type.values).number
    if field.type == F.TYPE_BYTES:
        return rng.choice([b"", b"a", b"\xff\x00", bytes(range(256))])
    assert field.type == F.TYPE_STRING, field.type
    return rng.choice(["", "plain", "\u00e9\u20ac\U0001f600", "q\"\\\n\t\x01\x7f\u009b\u202e"])


def fill(message, rng):
    """Sets every field (of a oneof: one)."""
    one = {o.name: rng.choice(o.fields) for o in message.DESCRIPTOR.oneofs}
    for field in message.DESCRIPTOR.fields:
        if field.containing_oneof and one[field.containing_oneof.name] is not field:
            continue
        if field.label == F.LABEL_REPEATED:
            for _ in range(2):
                if field.message_type:
                    fill(getattr(message, field.name).add(), rng)
                else:
                    getattr(message, field.name).append(number(field, rng))
        elif field.message_type:
            getattr(message, field.name).SetInParent()
            fill(getattr(message, field.name), rng)
        else:
            setattr(message, field.name, number(field, rng))
    fix(message)


def fix(message):
    """What the schema's comments require beyond types."""
    name = message.DESCRIPTOR.name
    if name == "Update":
        message.target = "" if message.HasField("daemon") else "api-1"
    elif name in ("Band", "Stack"):
        message.id = 3
    elif name == "Trend":
        if message.slope > 0:
            message.ClearField("band")
        else:
            message.ClearField("series")
            message.band = 3
    elif name == "Alert":
        message.rule = "leak"
    elif name == "Census":
        message.band[:] = [1, 2]
    elif name == "EventType":
        message.id = 7
    elif name == "Events":
        message.type[:] = [7, 65535]
    elif name == "Generation":
        message.bucket[:] = [3, 900]
    elif name == "DaemonState":
        message.targets[:] = ["a", "b.c_d-1"]
    elif name == "SnapshotRequest":
        message.targets[:] = ["a"]
    elif name in ("AddTargetRequest", "EndTargetRequest", "RemoveTargetRequest"):
        message.name = "a"
    elif name in ("HistoryRequest", "History"):
        message.target = "a"


def same(a, b):
    """Equal, numbers compared as numbers (1e22 and 10000000000000000000000 are one)."""
    if isinstance(a, dict):
        return isinstance(b, dict) and a.keys() == b.keys() and all(same(a[k], b[k]) for k in a)
    if isinstance(a, list):
        return isinstance(b, list) and len(a) == len(b) and all(map(same, a, b))
    return type(a) in (int, float) and type(b) in (int, float) and a == b or (type(a) is type(b) and a == b)


@pytest.mark.parametrize("kind", ["update", "reply", "request"])
def test_equals_protobuf(library, kind):
    pb = subscriber.schema()
    rng = random.Random(1)
    seen = set()
    for _ in range(300):
        message = getattr(pb, kind.capitalize())()
        fill(message, rng)
        seen.add(message.WhichOneof(message.DESCRIPTOR.oneofs[0].name))
        ours = json.loads(our_json(library, kind, message))
        theirs = json.loads(json_format.MessageToJson(message))
        assert same(ours, theirs), (ours, theirs)
    assert seen == {f.name for f in getattr(pb, kind.capitalize()).DESCRIPTOR.oneofs[0].fields}


def test_absent_and_plain(library):
    pb = subscriber.schema()
    u = pb.Update(epoch=2**64 - 1, sequence=3, target="a", heap=pb.Heap(live_bytes=0))
    assert json.loads(our_json(library, "update", u)) == {"epoch": str(2**64 - 1), "sequence": "3", "target": "a",
                                                          "heap": {"liveBytes": "0"}}
    assert json.loads(our_json(library, "update", u, True)) == {"epoch": 2**64 - 1, "sequence": 3, "target": "a",
                                                                "heap": {"liveBytes": 0}}
    assert "\n" not in our_json(library, "update", u)
