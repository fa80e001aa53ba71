"""Where GDB puts breakpoints: run by GDB's own Python, in batch.

Reads a JSON list of locations from the file that $TRACEWELL_REQUEST names and writes one JSON object to $TRACEWELL_ANSWER, from
each location to the list of its addresses; the list is empty for what GDB does not know.
"""

import json
import os

import gdb


def places(spec):
    try:
        breakpoint = gdb.Breakpoint(spec)
    except gdb.error:
        return []
    found = sorted(l.address for l in breakpoint.locations)
    breakpoint.delete()
    return found


with open(os.environ["TRACEWELL_REQUEST"]) as request:
    specs = json.load(request)
gdb.execute("set breakpoint pending off")
answer = {spec: places(spec) for spec in specs}
with open(os.environ["TRACEWELL_ANSWER"], "w") as out:
    json.dump(answer, out)
