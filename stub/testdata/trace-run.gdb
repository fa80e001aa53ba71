set confirm off
set pagination off
set architecture i386:x86-64
target remote stub
info registers rip rax
info threads
x/4xb 0x404010
trace *0x401010 if $rax > 1
actions
collect $regs
collect *(int *) 0x404010
end
trace *0x401080
tvariable $hits = 7
trace *0x401012
tstart
continue
tstatus
tstop
info tracepoints
tfind 0
print $rax
print *(int *) 0x404010
print *(int *) 0x404020
tdump
tfind
print $rax
print *(int *) 0x404010
tfind
tfind none
print $rax
tsave frames
info tvariables
kill
target tfile frames
tfind 0
print $rax
print *(int *) 0x404010
