package stub

import "tracewell/rsp/request"

func auxvPackets() []packet {
	return []packet{
		{
			call:   reads(request.ReadAuxv, (*session).auxvDocument),
			tokens: "qXfer:auxv:read+",
			about:  "the auxiliary vector",
			reply:  "m BINARY or l BINARY",
			errors: "an annex; OFFSET behind the end",
		},
	}
}

func execFilePackets() []packet {
	return []packet{
		{
			call:    reads(request.ReadExecFile, (*session).execFileDocument),
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
			call:   reads(request.ReadLibraries, (*session).librariesDocument),
			tokens: "qXfer:libraries-svr4:read+ augmented-libraries-svr4-read+",
			about:  "the dynamic linker's list, or a namespace's from one entry on, as XML",
			reply:  "m BINARY or l BINARY",
			errors: "the list is not as the annex says, which makes GDB read all of it; OFFSET behind the end",
		},
	}
}

func siginfoPackets() []packet {
	return []packet{
		{
			call: reads(request.ReadSiginfo, (*session).siginfoDocument), flags: whenStopped,
			tokens: "qXfer:siginfo:read+",
			about:  "siginfo_t of the signal that stopped the selected thread",
			reply:  "m BINARY or l BINARY",
			errors: "an annex; OFFSET behind the end",
		},
		{
			call: on(request.WriteSiginfo, (*session).writeSiginfo), flags: whenStopped | outsideFrames,
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
			call: on(request.ThreadLocal, (*session).threadLocal), flags: whenStopped,
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
			call:   reads(request.ReadOSTable, (*session).osDocument),
			tokens: "qXfer:osdata:read+",
			about:  "a table about the whole system, or the list of tables, as XML",
			reply:  "m BINARY or l BINARY",
			errors: "OFFSET behind the end; an unknown table is empty",
		},
	}
}

func filePackets() []packet {
	return []packet{
		{
			call:  on(request.SetFileSystem, (*session).setFiles),
			about: "choose whose files are meant; 0 for the server's own",
			reply: "F0",
		},
		{
			call:   on(request.OpenFile, (*session).openFile),
			about:  "open a file",
			reply:  "F DESCRIPTOR or F-1,ERRNO",
			errors: "ERRNO",
		},
		{
			call:    on(request.CloseFile, (*session).closeFile),
			about:   "close it",
			reply:   "F0 or F-1,ERRNO",
			errors:  "ERRNO",
			differs: "another ERRNO for what is not open",
		},
		{
			call:   on(request.ReadFile, (*session).readFile),
			about:  "read from it",
			reply:  "F COUNT;BINARY or F-1,ERRNO",
			errors: "ERRNO",
		},
		{
			call:   on(request.WriteFile, (*session).writeFile),
			about:  "write to it",
			reply:  "F COUNT or F-1,ERRNO",
			errors: "ERRNO",
		},
		{
			call:   on(request.StatOpenFile, (*session).statOpenFile),
			about:  "ask for size, owner and so on",
			reply:  "F40;STAT or F-1,ERRNO",
			errors: "ERRNO",
		},
		{
			call:    on(request.StatFile, (*session).statFile),
			about:   "the same of a file that is not open",
			reply:   "F40;STAT or F-1,ERRNO",
			errors:  "ERRNO",
			differs: "unknown",
		},
		{
			call:    on(request.StatLink, (*session).statLink),
			about:   "the same of a symbolic link itself",
			reply:   "F40;STAT or F-1,ERRNO",
			errors:  "ERRNO",
			differs: "unknown",
		},
		{
			call:   on(request.UnlinkFile, (*session).unlinkFile),
			about:  "remove a file",
			reply:  "F0 or F-1,ERRNO",
			errors: "ERRNO",
		},
		{
			call:   on(request.ReadLink, (*session).readLink),
			about:  "read a symbolic link",
			reply:  "F COUNT;BINARY or F-1,ERRNO",
			errors: "ERRNO",
		},
	}
}
