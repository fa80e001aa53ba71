set confirm off
set pagination off
set architecture i386:x86-64
target remote stub
trace *0x401010
actions
collect $rax
end
passcount 2
set disconnected-tracing on
tstart
detach
shell sleep 0.3
delete
target remote stub
info tracepoints
tstatus
tfind 1
print $rax
tfind none
break *0x401020
delete 2
stepi
info registers rip
set var $rax = 99
p $rax
set var *(int*)0x404020 = 5
p *(int*)0x404020
monitor help
kill
