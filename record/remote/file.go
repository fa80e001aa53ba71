package remote

import (
	"errors"
	"fmt"
	"os"

	"tracewell/rsp/client"
	"tracewell/rsp/request"
)

// copyFile copies a file of the server's machine into a folder here, by host I/O. The copy has a name of its own: the
// server chooses the path, and must not choose where something is written. Files are read in pieces of half a packet,
// since bytes may be escaped to twice their length.
func (s *server) copyFile(path, folder string) (copied string, err error) {
	fd, _, err := client.File(s.Client, request.OpenFile, request.FileOpen{Path: path})
	if err != nil {
		return "", fmt.Errorf("%s on the server's machine: %w", path, err)
	}
	out, err := os.CreateTemp(folder, "")
	if err != nil {
		return "", err
	}
	// A descriptor that is not closed stays open at the server until the connection ends.
	defer func() {
		_, _, closed := client.File(s.Client, request.CloseFile, int(fd))
		err = errors.Join(err, closed, out.Close())
	}()
	// The size that a server would give for a file is not relied upon: the file ends where a read brings nothing.
	for at := int64(0); at < mostFile; {
		// Half a packet: every byte may take two.
		part := request.FileRead{Descriptor: int(fd), Count: uint64(s.PacketSize() / 2), Offset: at}
		_, content, err := client.File(s.Client, request.ReadFile, part)
		if err != nil {
			return "", fmt.Errorf("%s on the server's machine: %w", path, err)
		}
		// The end of the file: a server may reply with fewer bytes than asked for at any place, but with none only there.
		if len(content) == 0 {
			return out.Name(), nil
		}
		if _, err := out.Write(content); err != nil {
			return "", err
		}
		at += int64(len(content))
	}
	return "", fmt.Errorf("%s on the server's machine is larger than %d bytes", path, int64(mostFile))
}
