package syscalls

import (
	"strings"
	"sync"
)

// signatures are the parameters of calls, in order: TYPE NAME, and behind them the type of a result that is no plain number.
// The types are those of kinds, in kinds.go. One that ends in [NAME] has its length in another argument, [*NAME] in what that
// points to, and [] in the result. A type that begins with > is what the call fills.
const signatures = `
read(fd fd, >text[] buf, size count)
write(fd fd, text[count] buf, size count)
open(path filename, open flags, mode mode) fd
close(fd fd)
stat(path filename, >stat statbuf)
fstat(fd fd, >stat statbuf)
lstat(path filename, >stat statbuf)
poll(polled[nfds] fds, uint nfds, int timeout) ready
lseek(fd fd, long offset, whence whence)
mmap(pointer addr, size length, prot prot, map flags, fd fd, hex offset) pointer
mprotect(pointer addr, size length, prot prot)
munmap(pointer addr, size length)
brk(pointer addr) pointer
rt_sigaction(signal sig, pointer act, pointer oldact, size sigsetsize)
rt_sigprocmask(sigmask how, sigset set, >sigset oldset, size sigsetsize)
rt_sigreturn()
ioctl(fd fd, hex request, hex arg)
pread64(fd fd, >text[] buf, size count, long offset)
pwrite64(fd fd, text[count] buf, size count, long offset)
readv(fd fd, pointer iov, int iovcnt)
writev(fd fd, vectors[iovcnt] iov, int iovcnt)
access(path pathname, access mode)
pipe(>fds fildes)
select(int nfds, pointer readfds, pointer writefds, pointer exceptfds, pointer timeout)
sched_yield()
mremap(pointer old_address, size old_size, size new_size, mremap flags, pointer new_address) pointer
msync(pointer addr, size length, hex flags)
madvise(pointer addr, size length, madvise advice)
dup(fd fildes) fd
dup2(fd oldfd, fd newfd) fd
pause()
nanosleep(timespec rqtp, >timespec rmtp)
alarm(uint seconds)
getpid()
sendfile(fd out_fd, fd in_fd, pointer offset, size count)
socket(domain domain, socktype type, int protocol) fd
connect(fd sockfd, address[addrlen] addr, int addrlen)
accept(fd sockfd, >address[*addrlen] addr, pointer addrlen) fd
sendto(fd sockfd, text[len] buf, size len, msg flags, address[addrlen] addr, int addrlen)
recvfrom(fd sockfd, >text[] buf, size len, msg flags, >address[*addrlen] addr, pointer addrlen)
sendmsg(fd sockfd, pointer msg, msg flags)
recvmsg(fd sockfd, pointer msg, msg flags)
shutdown(fd sockfd, shutdown how)
bind(fd sockfd, address[addrlen] addr, int addrlen)
listen(fd sockfd, int backlog)
getsockname(fd sockfd, >address[*addrlen] addr, pointer addrlen)
getpeername(fd sockfd, >address[*addrlen] addr, pointer addrlen)
socketpair(domain domain, socktype type, int protocol, >fds sv)
setsockopt(fd sockfd, int level, int optname, pointer optval, int optlen)
getsockopt(fd sockfd, int level, int optname, pointer optval, pointer optlen)
clone(clone flags, pointer child_stack, pointer parent_tid, pointer child_tid, pointer tls)
fork()
vfork()
execve(path filename, strings argv, environ envp)
exit(int status)
wait4(int upid, >status wstatus, wait options, pointer rusage)
kill(int pid, signal sig)
uname(pointer name)
fcntl(fd fd, fcntl cmd, hex arg)
flock(fd fd, hex operation)
fsync(fd fd)
fdatasync(fd fd)
truncate(path path, long length)
ftruncate(fd fd, long length)
getcwd(>path buf, size size)
chdir(path filename)
fchdir(fd fd)
rename(path oldname, path newname)
mkdir(path pathname, mode mode)
rmdir(path pathname)
creat(path pathname, mode mode) fd
link(path oldname, path newname)
unlink(path pathname)
symlink(path oldname, path newname)
readlink(path path, >text[] buf, size bufsiz)
chmod(path filename, mode mode)
fchmod(fd fd, mode mode)
chown(path filename, int user, int group)
fchown(fd fd, int user, int group)
lchown(path filename, int user, int group)
umask(mode mask) mode
gettimeofday(pointer tv, pointer tz)
getrlimit(resource resource, pointer rlim)
getrusage(int who, pointer usage)
sysinfo(pointer info)
times(pointer tbuf)
ptrace(long request, int pid, hex addr, hex data)
getuid()
getgid()
setuid(int uid)
setgid(int gid)
geteuid()
getegid()
setpgid(int pid, int pgid)
getppid()
getpgrp()
setsid()
getpgid(int pid)
getsid(int pid)
sigaltstack(pointer uss, pointer uoss)
statfs(path pathname, pointer buf)
fstatfs(fd fd, pointer buf)
prctl(int option, hex arg2, hex arg3, hex arg4, hex arg5)
arch_prctl(hex code, hex addr)
chroot(path filename)
sync()
mount(path dev_name, path dir_name, path type, hex flags, pointer data)
umount2(path name, hex flags)
gettid()
getxattr(path pathname, path name, pointer value, size size)
lgetxattr(path pathname, path name, pointer value, size size)
tkill(int pid, signal sig)
futex(pointer uaddr, futex op, uint val, pointer utime, pointer uaddr2, uint val3)
sched_setaffinity(int pid, uint len, pointer mask)
sched_getaffinity(int pid, uint len, pointer mask)
epoll_create(int size) fd
getdents64(fd fd, pointer dirent, uint count)
set_tid_address(pointer tidptr)
restart_syscall()
fadvise64(fd fd, long offset, size len, int advice)
clock_gettime(clock which_clock, >timespec tp)
clock_getres(clock which_clock, >timespec tp)
clock_nanosleep(clock which_clock, hex flags, timespec rqtp, >timespec rmtp)
exit_group(int status)
epoll_wait(fd epfd, >events[] events, int maxevents, int timeout)
epoll_ctl(fd epfd, epollctl op, fd fd, event[op] event)
tgkill(int tgid, int pid, signal sig)
waitid(int which, int upid, pointer infop, wait options, pointer ru)
inotify_init() fd
inotify_add_watch(fd fd, path pathname, hex mask)
inotify_rm_watch(fd fd, int wd)
openat(dirfd dfd, path filename, open flags, mode mode) fd
mkdirat(dirfd dfd, path pathname, mode mode)
fchownat(dirfd dfd, path filename, int user, int group, at flag)
newfstatat(dirfd dfd, path filename, >stat statbuf, at flag)
unlinkat(dirfd dfd, path pathname, at flag)
renameat(dirfd olddfd, path oldname, dirfd newdfd, path newname)
linkat(dirfd olddfd, path oldname, dirfd newdfd, path newname, at flags)
symlinkat(path oldname, dirfd newdfd, path newname)
readlinkat(dirfd dfd, path path, >text[] buf, size bufsiz)
fchmodat(dirfd dfd, path filename, mode mode)
faccessat(dirfd dfd, path filename, access mode)
pselect6(int n, pointer inp, pointer outp, pointer exp, timespec tsp, pointer sig)
ppoll(polled[nfds] ufds, uint nfds, timespec tsp, sigset sigmask, size sigsetsize) ready
set_robust_list(pointer head, size len)
get_robust_list(int pid, pointer head_ptr, pointer len_ptr)
utimensat(dirfd dfd, path filename, pointer utimes, at flags)
epoll_pwait(fd epfd, >events[] events, int maxevents, int timeout, sigset sigmask, size sigsetsize)
timerfd_create(clock clockid, hex flags) fd
eventfd(uint count) fd
fallocate(fd fd, hex mode, long offset, long len)
accept4(fd sockfd, >address[*addrlen] addr, pointer addrlen, socktype flags) fd
eventfd2(uint count, hex flags) fd
epoll_create1(epoll flags) fd
dup3(fd oldfd, fd newfd, opened flags) fd
pipe2(>fds fildes, opened flags)
inotify_init1(opened flags) fd
prlimit64(int pid, resource resource, pointer new_rlim, pointer old_rlim)
renameat2(dirfd olddfd, path oldname, dirfd newdfd, path newname, hex flags)
getrandom(pointer buf, size count, hex flags)
memfd_create(path uname, hex flags) fd
execveat(dirfd dfd, path filename, strings argv, environ envp, at flags)
pwritev(fd fd, vectors[iovcnt] iov, int iovcnt, long pos)
statx(dirfd dfd, path filename, at flags, hex mask, pointer buffer)
rseq(pointer rseq, uint rseq_len, hex flags, hex sig)
pidfd_open(int pid, hex flags) fd
clone3(pointer uargs, size size)
close_range(uint fd, uint max_fd, hex flags)
openat2(dirfd dfd, path filename, pointer how, size usize) fd
faccessat2(dirfd dfd, path filename, access mode, at flags)
`

// signature is the parameters and the result of one call.
type signature struct {
	parameters []parameter
	result     string // a kind; "" for a number
}

// parameter is one parameter as the table has it.
type parameter struct {
	kind, name string
	out        bool   // the call fills what it points to
	length     string // the argument that has the length; with * in front, that points to it
	bounded    bool   // there is a length; if length is "", the result is
}

// known are the calls of the table, by name.
var known = sync.OnceValue(func() map[string]signature {
	all := make(map[string]signature)
	for line := range strings.Lines(strings.TrimSpace(signatures)) {
		name, rest, _ := strings.Cut(line, "(")
		list, result, _ := strings.Cut(rest, ")")
		s := signature{result: strings.TrimSpace(result)}
		for text := range strings.SplitSeq(list, ", ") {
			if kind, called, ok := strings.Cut(text, " "); ok {
				s.parameters = append(s.parameters, newParameter(kind, called))
			}
		}
		all[name] = s
	}
	return all
})

func newParameter(kind, name string) parameter {
	p := parameter{name: name}
	kind, p.out = strings.CutPrefix(kind, ">")
	p.kind, p.length, p.bounded = strings.Cut(strings.TrimSuffix(kind, "]"), "[")
	return p
}

// unknown is what is assumed of a call that the table lacks.
var unknown = signature{parameters: []parameter{
	{kind: "hex", name: "arg0"}, {kind: "hex", name: "arg1"}, {kind: "hex", name: "arg2"},
	{kind: "hex", name: "arg3"}, {kind: "hex", name: "arg4"}, {kind: "hex", name: "arg5"},
}}
