set confirm off
set pagination off
set architecture i386:x86-64
target extended-remote stub
info inferiors
kill
set remote exec-file /toy
set args a b
python
for command in ["run", "info inferiors", "attach 42", "info threads", "detach", "run", "continue"]:
  try:
    gdb.execute(command)
  except gdb.error as e:
    print("%s: %s" % (command, e))
end
