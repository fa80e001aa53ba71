package stub

func auxvPackets() []packet {
	return []packet{
		{
			prefix: "qXfer:auxv:read:", syntax: ":OFFSET,LENGTH",
			handler: reads("auxv", (*session).auxvDocument),
			tokens:  "qXfer:auxv:read+",
			about:   "the auxiliary vector",
			reply:   "m BINARY or l BINARY",
			errors:  "an annex; OFFSET behind the end",
		},
	}
}

func execFilePackets() []packet {
	return []packet{
		{
			prefix: "qXfer:exec-file:read:", syntax: "[PID]:OFFSET,LENGTH",
			handler: reads("exec-file", (*session).execFileDocument),
			tokens:  "qXfer:exec-file:read+",
			about:   "the path of the program",
			reply:   "m BINARY or l BINARY",
			errors:  "no such process; OFFSET behind the end",
			differs: "OK for a process that is not its own",
		},
	}
}

func libraryPackets() []packet {
	return []packet{
		{
			prefix: "qXfer:libraries-svr4:read:", syntax: "[start=ADDRESS;prev=ADDRESS;lmid=ADDRESS]:OFFSET,LENGTH",
			handler: reads("libraries-svr4", (*session).librariesDocument),
			tokens:  "qXfer:libraries-svr4:read+ augmented-libraries-svr4-read+",
			about:   "the dynamic linker's list, or a namespace's from one entry on, as XML",
			reply:   "m BINARY or l BINARY",
			errors:  "the list is not as the annex says, which makes GDB read all of it; OFFSET behind the end",
		},
	}
}

func siginfoPackets() []packet {
	return []packet{
		{
			prefix: "qXfer:siginfo:read:", syntax: ":OFFSET,LENGTH",
			handler: reads("siginfo", (*session).siginfoDocument), flags: whenStopped,
			tokens: "qXfer:siginfo:read+",
			about:  "siginfo_t of the signal that stopped the selected thread",
			reply:  "m BINARY or l BINARY",
			errors: "an annex; OFFSET behind the end",
		},
		{
			prefix: "qXfer:siginfo:write:", syntax: ":OFFSET:BINARY",
			handler: (*session).writeSiginfo, flags: whenStopped | outsideFrames | binaryArguments,
			tokens: "qXfer:siginfo:write+",
			about:  "change it",
			reply:  "bytes written, in hex",
			errors: "outside the 128 bytes",
		},
	}
}

func threadLocalPackets() []packet {
	return []packet{
		{
			prefix: "qGetTLSAddr:", syntax: "THREAD,OFFSET,LINKMAP",
			handler: (*session).threadLocal, flags: whenStopped,
			about:   "the address of a thread's own variable in the object of that entry of the dynamic linker's list",
			reply:   "ADDRESS",
			errors:  "no such thread; no such entry; the C library is not known; the thread has not used the variable yet",
			differs: "asks libthread_db, and so needs that of the program's C library",
		},
	}
}

func osPackets() []packet {
	return []packet{
		{
			prefix: "qXfer:osdata:read:", syntax: "[TABLE]:OFFSET,LENGTH",
			handler: reads("osdata", (*session).osDocument),
			tokens:  "qXfer:osdata:read+",
			about:   "a table about the whole system, or the list of tables, as XML",
			reply:   "m BINARY or l BINARY",
			errors:  "OFFSET behind the end; an unknown table is empty",
		},
	}
}

func filePackets() []packet {
	return []packet{
		{
			prefix: "vFile:setfs:", syntax: "PID",
			handler: (*session).setFiles,
			about:   "choose whose files are meant; 0 for the server's own",
			reply:   "F0",
		},
		{
			prefix: "vFile:open:", syntax: "HEXPATH,FLAGS,MODE",
			handler: (*session).openFile,
			about:   "open a file",
			reply:   "F DESCRIPTOR or F-1,ERRNO",
			errors:  "ERRNO",
		},
		{
			prefix: "vFile:close:", syntax: "DESCRIPTOR",
			handler: (*session).closeFile,
			about:   "close it",
			reply:   "F0 or F-1,ERRNO",
			errors:  "ERRNO",
			differs: "another ERRNO for what is not open",
		},
		{
			prefix: "vFile:pread:", syntax: "DESCRIPTOR,COUNT,OFFSET",
			handler: (*session).readFile,
			about:   "read from it",
			reply:   "F COUNT;BINARY or F-1,ERRNO",
			errors:  "ERRNO",
		},
		{
			prefix: "vFile:pwrite:", syntax: "DESCRIPTOR,OFFSET,BINARY",
			handler: (*session).writeFile, flags: binaryArguments,
			about:  "write to it",
			reply:  "F COUNT or F-1,ERRNO",
			errors: "ERRNO",
		},
		{
			prefix: "vFile:fstat:", syntax: "DESCRIPTOR",
			handler: (*session).statOpenFile,
			about:   "ask for size, owner and so on",
			reply:   "F40;STAT or F-1,ERRNO",
			errors:  "ERRNO",
		},
		{
			prefix: "vFile:stat:", syntax: "HEXPATH",
			handler: (*session).statFile,
			about:   "the same of a file that is not open",
			reply:   "F40;STAT or F-1,ERRNO",
			errors:  "ERRNO",
			differs: "unknown",
		},
		{
			prefix: "vFile:lstat:", syntax: "HEXPATH",
			handler: (*session).statLink,
			about:   "the same of a symbolic link itself",
			reply:   "F40;STAT or F-1,ERRNO",
			errors:  "ERRNO",
			differs: "unknown",
		},
		{
			prefix: "vFile:unlink:", syntax: "HEXPATH",
			handler: (*session).unlinkFile,
			about:   "remove a file",
			reply:   "F0 or F-1,ERRNO",
			errors:  "ERRNO",
		},
		{
			prefix: "vFile:readlink:", syntax: "HEXPATH",
			handler: (*session).readLink,
			about:   "read a symbolic link",
			reply:   "F COUNT;BINARY or F-1,ERRNO",
			errors:  "ERRNO",
		},
	}
}
