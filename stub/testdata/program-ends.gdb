set confirm off
set pagination off
set architecture i386:x86-64
target extended-remote stub
trace *0x401010
actions
collect $rax
end
set disconnected-tracing on
tstart
continue
continue
tstatus
python
for command in ["tfind 0", "tdump", "run"]:
  try:
    gdb.execute(command)
  except gdb.error as e:
    print("%s: %s" % (command, e))
end
disconnect
python
try:
  gdb.execute("target remote stub")
except gdb.error as e:
  print(e)
end
target extended-remote stub
tstatus
tsave frames
target tfile frames
tstatus
tfind 2
print $rax
