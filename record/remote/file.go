package remote

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// copyFile copies a file of the server's machine into a folder here, by host I/O. The copy has a name of its own: the
// server chooses the path, and must not choose where something is written. Files are read in pieces of half a packet,
// since bytes may be escaped to twice their length.
func (s *server) copyFile(path, folder string) (copied string, err error) {
	fd, _, err := s.file(fmt.Sprintf("vFile:open:%x,0,0", path))
	if err != nil {
		return "", fmt.Errorf("%s on the server's machine: %w", path, err)
	}
	out, err := os.CreateTemp(folder, "")
	if err != nil {
		return "", err
	}
	// A descriptor that is not closed stays open at the server until the connection ends.
	defer func() {
		_, _, closed := s.file(fmt.Sprintf("vFile:close:%x", fd))
		err = errors.Join(err, closed, out.Close())
	}()
	// The size that a server would give for a file is not relied upon: the file ends where a read brings nothing.
	for at := int64(0); at < mostFile; {
		_, content, err := s.file(fmt.Sprintf("vFile:pread:%x,%x,%x", fd, s.packet/2, at))
		if err != nil {
			return "", fmt.Errorf("%s on the server's machine: %w", path, err)
		}
		if len(content) == 0 {
			return out.Name(), nil
		}
		if _, err := out.WriteString(content); err != nil {
			return "", err
		}
		at += int64(len(content))
	}
	return "", fmt.Errorf("%s on the server's machine is larger than %d bytes", path, int64(mostFile))
}

// file executes one host I/O packet. The reply is F, a result in hex and, behind a semicolon, the content; -1 with
// the number of an error behind a comma if it failed (GDB manual, Host I/O Packets).
func (s *server) file(packet string) (result int64, content string, err error) {
	reply, err := s.ask(packet)
	if err != nil {
		return 0, "", err
	}
	head, content, _ := strings.Cut(reply, ";")
	number, code, failed := strings.Cut(strings.TrimPrefix(head, "F"), ",")
	result, err = strconv.ParseInt(number, 16, 64)
	switch {
	case reply[0] != 'F' || err != nil:
		return 0, "", fmt.Errorf("%s: the server answers %.40q", nameOf(packet), reply)
	case failed || result < 0:
		return 0, "", fmt.Errorf("%s fails with error %s of the protocol", nameOf(packet), code)
	}
	return result, content, nil
}
