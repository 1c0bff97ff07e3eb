"""For schemathesis: bodies that a schema cannot describe well enough.

A module_index must exist in the memoryMap, and frames are useful only if their
module has symbols.  Nothing here repairs a body that violates the schema.
"""

import re

import schemathesis

KNOWN = ["linux_inline", "BBA6FA10B8AAB33D00000000000000000"]
END = 0x20000  # of its code
NAME = re.compile(r"[A-Za-z0-9_.+{}@<> ~-]*\Z")
ID = re.compile(r"[A-Fa-f0-9]*\Z")


def is_module(module):
    return (
        isinstance(module, list)
        and len(module) == 2
        and all(isinstance(text, str) for text in module)
        and NAME.match(module[0]) is not None
        and ID.match(module[1]) is not None
    )


def lists(value):
    return value if isinstance(value, list) else []


def is_index(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def frame_of(frame, count):
    if not isinstance(frame, list) or len(frame) != 2 or count == 0:
        return frame
    index, offset = frame
    if is_index(index):
        index %= count
    if index == 0 and is_index(offset):
        offset %= END
    return [index, offset]


def job_of(job):
    if not isinstance(job, dict) or not isinstance(job.get("stacks"), list):
        return job
    modules = lists(job.get("memoryMap"))
    stacks = [
        [frame_of(frame, len(modules)) for frame in stack]
        if isinstance(stack, list)
        else stack
        for stack in job["stacks"]
    ]
    job = {**job, "stacks": stacks}
    if modules and is_module(modules[0]):
        job["memoryMap"] = [KNOWN] + modules[1:]
    return job


@schemathesis.hook
def map_body(context, body):
    if not isinstance(body, dict):
        return body
    if isinstance(body.get("jobs"), list):
        return {**body, "jobs": [job_of(job) for job in body["jobs"]]}
    return job_of(body)
