"""What GDB's backtrace has of each frame of a trace: run by GDB's own Python, in batch. In front of it stand FRAMES, their
numbers, REGISTERS, the names of those to look at, and NAMED, whether to stop at code that has no name, where GDB would guess.

Prints one JSON object a line for each: {"calls": [{"type", "pc", "name", "line": "FILE:LINE" or "", "registers": {name: number}}],
"stop": why there are no more}.
"""

import json
import os

import gdb

TYPES = {gdb.NORMAL_FRAME: "normal", gdb.INLINE_FRAME: "inline", gdb.TAILCALL_FRAME: "tailcall", gdb.SIGTRAMP_FRAME: "signal"}


def call(frame):
    answer = {"type": TYPES.get(frame.type(), "other"), "pc": frame.pc(), "name": frame.name() or "", "line": "", "registers": {}}
    function, place = frame.function(), frame.find_sal()
    if function is not None:
        answer["name"] = function.print_name
    if place.symtab is not None:
        answer["line"] = "%s:%d" % (os.path.basename(place.symtab.filename), place.line)
    for name in REGISTERS:
        try:
            value = frame.read_register(name)
            answer["registers"][name] = int(value) & (1 << 8 * value.type.sizeof) - 1
        except (gdb.error, TypeError):
            pass  # not saved, or its memory was not collected
    return answer


def stack():
    calls, frame = [], gdb.newest_frame()
    try:
        while frame is not None:
            calls.append(call(frame))
            if NAMED and not frame.name():
                return {"calls": calls, "stop": "code without a name"}
            last, frame = frame, frame.older()
        stop = gdb.frame_stop_reason_string(last.unwind_stop_reason())
    except gdb.error as error:
        stop = str(error)
    return {"calls": calls, "stop": stop}


gdb.execute("set backtrace past-main on")
gdb.execute("set backtrace past-entry on")
for number in FRAMES:
    gdb.execute("tfind %d" % number, to_string=True)
    print(json.dumps(stack()))
