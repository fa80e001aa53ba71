"""What GDB sees at the marked lines of a program: run by GDB's own Python, in batch.

Reads a JSON request {"breakpoints": [{"mark", "at"}...], "extra": {mark: [expressions]}, "most": arrivals of a mark} from the
file that $TRACEWELL_REQUEST names, runs the program, and writes one JSON object a line to the descriptor 3 for each arrival;
the program goes on when a line comes in answer:

  {"mark", "pc", "pid", "registers": {name: number}, "objects": [{"path", "text": where its code is}], "language", "values": [{"name", "kind": "argument" | "local" | "global" | "expression",
                                         "text": what print says, "absent": true if that is <optimized out>,
                                         "error": why there is no value,
                                         "uncollected": why no tracepoint of GDB's can collect it}]}
"""

import json
import os
import sys
import traceback

import gdb


def text_of(expression):
    text = gdb.execute("print " + expression, to_string=True)
    text = text.split(" = ", 1)[1].rstrip("\n")
    return {"text": text, "absent": text == "<optimized out>"}


def describe(name, kind):
    answer = {"name": name, "kind": kind}
    try:
        answer.update(text_of(name))
    except gdb.error as error:
        answer["error"] = str(error)
    try:
        gdb.execute("maintenance agent " + name, to_string=True)
    except gdb.error as error:
        answer["uncollected"] = str(error)
    return answer


def variables(frame):
    """The names that mean something at the frame, innermost first, each with its kind."""
    seen = set()
    block = frame.block()
    inside = True
    while block is not None:
        for symbol in block:
            if not (symbol.is_variable or symbol.is_argument) or symbol.name in seen:
                continue
            seen.add(symbol.name)
            if block.is_static or block.is_global:
                yield symbol.name, "global"
            elif inside:
                yield symbol.name, "argument" if symbol.is_argument else "local"
        if block.function is not None:
            inside = False  # what is around an inlined function is not named in it
        block = block.superblock


def registers(frame):
    """The registers that are numbers, and the vectors of 16 bytes, which the list of all does not always have."""
    values = {}
    listed = [register.name for register in frame.architecture().registers()]
    for name in listed + ["fs_base", "gs_base"] + ["xmm%d" % i for i in range(16)]:
        try:
            value = frame.read_register(name)
            if value.type.sizeof == 16 and value.type.code == gdb.TYPE_CODE_UNION:
                halves = [int(value["v2_int64"][i]) % 2**64 for i in range(2)]
                values[name] = hex(halves[0] + (halves[1] << 64))
            elif value.type.code == gdb.TYPE_CODE_FLT:
                text = gdb.execute("info registers " + name, to_string=True)
                values[name] = text.split("(raw ")[1].split(")")[0]
            else:
                values[name] = hex(int(value) % 2**64)
        except gdb.error:
            pass
    return values


def objects():
    """The files that the program has, and where the code of each is."""
    found = []
    for line in gdb.execute("info files", to_string=True).splitlines():
        words = line.split()
        if len(words) >= 5 and words[3:5] == ["is", ".text"]:
            path = words[6] if len(words) > 6 else gdb.current_progspace().filename
            found.append({"path": path, "text": int(words[0], 16)})
    return found


def arrival(mark, extra):
    frame = gdb.selected_frame()
    found = [describe(name, kind) for name, kind in variables(frame)]
    found += [describe(expression, "expression") for expression in extra]
    return {
        "mark": mark,
        "pc": frame.pc(),
        "pid": gdb.selected_inferior().pid,
        "registers": registers(frame),
        "objects": objects(),
        "function": frame.name(),
        "language": gdb.execute("show language", to_string=True).strip(),
        "values": found,
    }


def main():
    with open(os.environ["TRACEWELL_REQUEST"], encoding="utf-8") as file:
        request = json.load(file)
    marks = {}
    for entry in request["breakpoints"]:
        breakpoint = gdb.Breakpoint(entry["at"])
        marks[breakpoint.number] = entry["mark"]
    arrivals = {}
    with os.fdopen(3, "w", encoding="utf-8") as answers:
        stopped = []
        gdb.events.stop.connect(stopped.append)
        gdb.execute("run < /dev/null > /dev/null")
        while gdb.selected_inferior().pid:
            for breakpoint in getattr(stopped[-1], "breakpoints", []):
                mark = marks[breakpoint.number]
                arrivals[mark] = arrivals.get(mark, 0) + 1
                if arrivals[mark] <= request["most"]:
                    answers.write(json.dumps(arrival(mark, request["extra"].get(mark, []))) + "\n")
                    answers.flush()
                    sys.stdin.readline()
                if arrivals[mark] >= request["most"]:
                    breakpoint.enabled = False
            gdb.execute("continue")


try:
    main()
except BaseException:
    traceback.print_exc()
    gdb.execute("quit 1")
