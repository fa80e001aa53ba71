package stub

import (
	"tracewell/rsp/reply"
	"tracewell/rsp/request"
)

// auxvPackets have the auxiliary vector, by which GDB finds the bias of a program and the vDSO.
func auxvPackets() []packet {
	return []packet{
		{call: reads(request.ReadAuxv, (*session).auxvDocument), flags: forWatchers, tokens: "qXfer:auxv:read+",
			about:  "the auxiliary vector",
			errors: "an annex"},
	}
}

// execFilePackets have the program, which GDB then opens by itself ("set sysroot"), or by vFile.
func execFilePackets() []packet {
	return []packet{
		{call: reads(request.ReadExecFile, (*session).execFileDocument), flags: forWatchers, tokens: "qXfer:exec-file:read+",
			about: "the path of the program", errors: "no such process", differs: "OK for a process that is not its own"},
	}
}

// libraryPackets have the list that the dynamic linker keeps. Without them GDB reads it out of memory, two packets for each
// library.
func libraryPackets() []packet {
	return []packet{
		{call: reads(request.ReadLibraries, (*session).librariesDocument), flags: forWatchers,
			tokens: "qXfer:libraries-svr4:read+ augmented-libraries-svr4-read+",
			about:  "the dynamic linker's list, or a namespace's from one entry on, as XML",
			errors: "the list is not as the annex says, which makes GDB read all of it"},
	}
}

// siginfoPackets have what $_siginfo shows, in the layout of the machine.
func siginfoPackets() []packet {
	return []packet{
		{call: reads(request.ReadSiginfo, (*session).siginfoDocument), flags: whenStopped | forWatchers,
			tokens: "qXfer:siginfo:read+",
			about:  "siginfo_t of the signal that stopped the selected thread", errors: "an annex"},
		{call: on(request.WriteSiginfo, reply.Written, (*session).writeSiginfo), flags: whenStopped | outsideFrames,
			tokens: "qXfer:siginfo:write+", about: "change it", errors: "outside the 128 bytes"},
	}
}

// threadLocalPackets find variables of the storage class _Thread_local.
func threadLocalPackets() []packet {
	return []packet{
		{call: on(request.ThreadLocal, reply.Address, (*session).threadLocal), flags: whenStopped | forWatchers,
			about:   "the address of a thread's own variable in the object of that entry of the dynamic linker's list",
			errors:  "no such thread; no such entry; the C library is not known; the thread has not used the variable yet",
			differs: "asks libthread_db, and so needs that of the program's C library"},
	}
}

// osPackets have what "info os" prints.
func osPackets() []packet {
	return []packet{
		{call: reads(request.ReadOSTable, (*session).osDocument), flags: forWatchers, tokens: "qXfer:osdata:read+",
			about: "a table about the whole system, or the list of tables, as XML", errors: "an unknown table is empty"},
	}
}

// filePackets are File-I/O in the direction from GDB to the target (GDB manual, Host I/O Packets). Errors are numbers of its
// own.
func filePackets() []packet {
	return []packet{
		{call: raw(request.SetFileSystem, "F0", (*session).setFiles), flags: forWatchers,
			about: "choose whose files are meant; 0 for the server's own"},
		{call: onFile(request.OpenFile, "F DESCRIPTOR", (*session).openFile), watcher: openToRead, about: "open a file"},
		{call: onFile(request.CloseFile, "F0", (*session).closeFile), flags: forWatchers, about: "close it",
			differs: "another ERRNO for what is not open"},
		{call: onFile(request.ReadFile, "F COUNT;BINARY", (*session).readFile), flags: forWatchers, about: "read from it"},
		{call: onFile(request.WriteFile, "F COUNT", (*session).writeFile), about: "write to it"},
		{call: onFile(request.StatOpenFile, "F40;STAT", (*session).statOpenFile), flags: forWatchers,
			about: "ask for size, owner and so on"},
		{call: onFile(request.StatFile, "F40;STAT", (*session).statFile), flags: forWatchers,
			about:   "the same of a file that is not open",
			differs: "unknown"},
		{call: onFile(request.StatLink, "F40;STAT", (*session).statLink), flags: forWatchers,
			about:   "the same of a symbolic link itself",
			differs: "unknown"},
		{call: onFile(request.UnlinkFile, "F0", (*session).unlinkFile), about: "remove a file"},
		{call: onFile(request.ReadLink, "F COUNT;BINARY", (*session).readLink), flags: forWatchers, about: "read a symbolic link"},
	}
}

// linkerPackets find the dynamic linker's structure from the program's headers, which the auxiliary vector leads to.
func linkerPackets() []packet {
	return []packet{
		{call: on(request.LinkerPointer, reply.Address, (*session).linkerInfo), flags: forWatchers,
			about:  "where the dynamic linker stores the address of its list of libraries, for LLDB",
			errors: "a static program", differs: "unknown"},
	}
}

// regionPackets tell which memory there is.
func regionPackets() []packet {
	return []packet{
		{call: on(request.MemoryRegion, reply.Items, (*session).memoryRegion), flags: forWatchers,
			about:  "the mapping at an address with permissions and name, or the gap between two, for LLDB",
			errors: "no process", differs: "unknown"},
	}
}

// allocationPackets have the program map memory that the client writes code and data to.
func allocationPackets() []packet {
	return []packet{
		{call: on(request.Allocate, reply.Address, (*session).allocate), flags: whenStopped | outsideFrames,
			about: "map memory in the program, for LLDB's expressions", errors: "the kernel refuses it", differs: "unknown"},
		{call: does(request.Release, (*session).release), flags: whenStopped | outsideFrames,
			about: "unmap what _M has mapped", errors: "there is nothing such", differs: "unknown"},
	}
}
