// Package serving is where clients of the remote protocol connect: the COMM of gdbserver's command line, one listener and one
// accept loop (Server) for everything that Tracewell serves.
//
// The protocol has no password, and whoever speaks it commands the program and the files of the server's user. So a listener
// does not give every connection to a session. It admits one client at a time to control the program, under three rules:
//
//   - A connection begins with a byte with which the protocol begins: an acknowledgment, the start of a packet or of a
//     notification, or Ctrl-C. No request of HTTP or TLS does, so a web page that is open in a browser cannot pass packets
//     off as the body of a request.
//   - A peer on this machine is a process of the server's own user, of root, or of the user who ran sudo, unless the server
//     was told to serve any user. Other machines reach only a server that was told to listen on other addresses than the
//     loopback address.
//   - A second client watches what the first does, where the server has a session for that (Server.Watch). Otherwise it is told at
//     once that another one is served, by an error reply that GDB prints, and disconnected.
//
// Serial lines and standard input and output have one peer, which was there before the server; nothing is asked of it.
package serving
