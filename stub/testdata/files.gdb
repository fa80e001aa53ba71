set confirm off
set pagination off
set architecture i386:x86-64
target remote stub
info proc mappings
remote get /etc/motd motd
shell cat motd
shell printf 'a#}$*\n%0300000d' 0 > big
remote put big /tmp/big
remote get /tmp/big again
shell cmp big again && echo the same
remote delete /tmp/big
python
for command in ["remote get /tmp/big again", "remote delete /etc"]:
  try:
    gdb.execute(command)
  except gdb.error as e:
    print("%s: %s" % (command, e))
end
kill
