"""Has GDB finish the first call of each function: run by GDB's own Python, in batch. In front of it stands FUNCTIONS, their names.
Prints a line "call of NAME" for each that is called, and behind it what finish prints.
"""

import gdb

gdb.execute("tbreak main", to_string=True)
gdb.execute("run", to_string=True)  # libraries are where they will be
for name in FUNCTIONS:
    try:
        gdb.execute("tbreak *'%s'" % name, to_string=True)
        gdb.execute("run", to_string=True)
        if gdb.selected_inferior().pid:
            gdb.write("call of %s\n" % name)
            gdb.execute("finish")
    except gdb.error as error:
        gdb.write("%s: %s\n" % (name, error))
    gdb.execute("delete")
