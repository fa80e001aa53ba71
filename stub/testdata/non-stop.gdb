set confirm off
set pagination off
set architecture i386:x86-64
set non-stop on
target extended-remote stub
info threads
continue
continue
attach 42
p $rip
detach
info inferiors
