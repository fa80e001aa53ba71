package remote

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
)

// copyFile copies a file of the server's machine into a folder here.
func (s *server) copyFile(path, folder string) (copied string, err error) {
	fd, _, err := s.file(fmt.Sprintf("vFile:open:%x,0,0", path))
	if err != nil {
		return "", fmt.Errorf("%s on the server's machine: %w", path, err)
	}
	out, err := os.CreateTemp(folder, "")
	if err != nil {
		return "", err
	}
	defer func() {
		_, _, closed := s.file(fmt.Sprintf("vFile:close:%x", fd))
		err = errors.Join(err, closed, out.Close())
	}()
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

// file does something with a file. The reply is F, a number and perhaps content; -1 and the number of an error if it failed.
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
