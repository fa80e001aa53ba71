package record

import (
	"encoding/binary"
	"encoding/hex"
	"encoding/xml"
	"errors"
	"fmt"
	"net"
	"os"
	"strconv"
	"strings"
	"sync"
	"time"

	"tracewell/arch"
	"tracewell/arch/amd64"
	"tracewell/ax"
	"tracewell/rsp"
	"tracewell/symbol"
	"tracewell/target"
	"tracewell/tdesc"
	"tracewell/trace"
)

// Remote is a run on a server that has tracepoints of its own, such as gdbserver: it is given the definitions, and the frames are
// fetched from its buffer. But for Feed its methods are for one goroutine.
//
// Where the server knows non-stop mode, frames are fetched while the program runs. A buffer that fills up faster than that ends
// the run; one that drops its oldest frames is read when the run has ended.
type Remote struct {
	resolver
	config      Config
	conn        net.Conn
	client      *rsp.Client
	features    rsp.Features
	chunk       int
	description *tdesc.Target
	layout      *tdesc.Layout
	pid         int
	process     *process
	objects     []string
	warnings    []error

	nonStop bool
	stops   []string // what notifications have told
	result  Result
	stream  *stream
	fetched int64  // bytes of the server's buffer
	part    []byte // of a frame, whose rest is still to come
	taken   int64  // frames that were given to the stream
	made    map[trace.Number]uint64

	mu   sync.Mutex
	feed Feed
}

// dialPatience is how long a connection may take.
const dialPatience = 10 * time.Second

// OpenRemote connects to a server and gives it the plan. The program of the server stands still, and its libraries are loaded.
func OpenRemote(c Config) (*Remote, error) {
	network, address := "tcp", c.Remote
	if path, ok := strings.CutPrefix(c.Remote, "unix:"); ok {
		network, address = "unix", path
	}
	conn, err := net.DialTimeout(network, address, dialPatience)
	if err != nil {
		return nil, err
	}
	r := &Remote{config: c, conn: conn, client: rsp.NewClient(conn), made: make(map[trace.Number]uint64)}
	r.client.Notify = func(payload []byte) { r.stops = append(r.stops, string(payload)) }
	if err := r.open(); err != nil {
		return nil, errors.Join(fmt.Errorf("%s: %w", c.Remote, err), conn.Close())
	}
	return r, nil
}

func (r *Remote) open() error {
	if err := r.greet(); err != nil {
		return err
	}
	if err := r.describe(); err != nil {
		return err
	}
	if err := r.identify(); err != nil {
		return err
	}
	r.resolver = newResolver(r.config.Plan, r.layout, amd64.ISA.PC)
	found, warnings, err := r.resolve(r.process)
	if err != nil {
		return err
	}
	r.warnings = append(r.warnings, warnings...)
	r.complete(found)
	r.defined = found
	r.stream = newStream(amd64.ISA.Order, r.layout.Size)
	r.stream.show = r.config.Frames
	return r.define(found)
}

// ask sends a packet that the server must know.
func (r *Remote) ask(packet string) (string, error) {
	reply, err := r.client.Exchange(packet)
	name, _, _ := strings.Cut(packet, ":")
	switch {
	case err != nil:
		return "", fmt.Errorf("%s: %w", name, err)
	case reply == "":
		return "", fmt.Errorf("the server does not know %s", name)
	case strings.HasPrefix(reply, "E."):
		return "", fmt.Errorf("%s: %s", name, reply[2:])
	case len(reply) == 3 && reply[0] == 'E':
		return "", fmt.Errorf("%s: the server answers with error %s", name, reply[1:])
	}
	return reply, nil
}

// greet settles how the two sides talk, and finds out whether the server can trace.
func (r *Remote) greet() (err error) {
	r.features, err = r.client.Supported(rsp.Features{
		{Name: "multiprocess", Mark: rsp.Supported},
		{Name: "swbreak", Mark: rsp.Supported},
		{Name: "xmlRegisters", Mark: rsp.HasValue, Value: "i386"},
	})
	if err != nil {
		return err
	}
	size, err := strconv.ParseUint(r.features.Value("PacketSize"), 16, 31)
	if err != nil {
		size = 400
	}
	r.chunk = max(64, min(int(size)-64, 16<<10))
	if r.features.Has("QStartNoAckMode") {
		if err := r.client.StartNoAck(); err != nil {
			return err
		}
	}
	if _, err := r.ask("qTStatus"); err != nil {
		return fmt.Errorf("it has no tracepoints: %w", err)
	}
	if _, err := r.client.Exchange("!"); err != nil { // so that it stays when the program ends
		return err
	}
	if r.features.Has("QNonStop") {
		if _, err := r.ask("QNonStop:1"); err != nil {
			return err
		}
		r.nonStop = true
	}
	stop, err := r.ask("?")
	if err != nil || stop[0] == 'W' || stop[0] == 'X' {
		return errors.Join(err, errors.New("the server has no program"))
	}
	return r.acknowledge()
}

// acknowledge takes the rest of what a server in non-stop mode tells of stops.
func (r *Remote) acknowledge() error {
	for r.nonStop {
		stop, err := r.ask("vStopped")
		if err != nil {
			return err
		}
		if stop == "OK" {
			return nil
		}
		r.stops = append(r.stops, "Stop:"+stop)
	}
	return nil
}

// describe learns the registers.
func (r *Remote) describe() error {
	if _, err := r.client.Exchange("Hgp0.0"); err != nil { // gdbserver has no description for nobody
		return err
	}
	read := func(annex string) ([]byte, error) { return r.transfer("features", annex) }
	document, err := read("target.xml")
	if err != nil {
		return err
	}
	if r.description, _, err = tdesc.Parse(document, read); err != nil {
		return err
	}
	if name := r.description.Architecture; name != "i386:x86-64" {
		return fmt.Errorf("its processor is %q: only i386:x86-64 is supported yet", name)
	}
	r.layout, err = r.description.Layout()
	return err
}

// transfer reads an object as a whole.
func (r *Remote) transfer(object, annex string) ([]byte, error) {
	const most = 16 << 20
	var b []byte
	for len(b) < most {
		reply, err := r.ask(fmt.Sprintf("qXfer:%s:read:%s:%x,%x", object, annex, len(b), r.chunk))
		if err != nil {
			return nil, fmt.Errorf("reading %s: %w", object, err)
		}
		b = append(b, reply[1:]...)
		if reply[0] == 'l' {
			return b, nil
		}
		if len(reply) == 1 {
			break
		}
	}
	return nil, fmt.Errorf("reading %s: it does not end", object)
}

// identify finds out what the process consists of.
func (r *Remote) identify() error {
	thread, err := r.ask("qC")
	if err != nil {
		return err
	}
	if r.pid, _, err = rsp.ParseThreadID(strings.TrimPrefix(thread, "QC")); err != nil {
		return err
	}
	path := r.config.Program.Path
	if path == "" {
		name, err := r.transfer("exec-file", strconv.FormatInt(int64(r.pid), 16))
		if err != nil {
			return err
		}
		path = string(name)
	}
	program, err := symbol.Open(path, r.config.Symbols)
	if errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("%w (name the file of the program that the server runs)", err)
	}
	if err != nil {
		return err
	}
	auxv, err := r.transfer("auxv", "")
	if err != nil {
		return err
	}
	entry := auxvValue(auxv, atEntry)
	program.Rebase(entry - program.Main().Entry() + program.Main().Bias())
	r.process = &process{pid: r.pid, path: path, program: program, sites: make(map[arch.Addr]bool)}
	r.objects = append(r.objects, objectComment(program.Main()))
	if auxvValue(auxv, atBase) == 0 {
		return nil // nothing is linked dynamically
	}
	return r.libraries(entry)
}

func auxvValue(auxv []byte, key uint64) arch.Addr {
	for ; len(auxv) >= 16; auxv = auxv[16:] {
		if binary.LittleEndian.Uint64(auxv) == key {
			return arch.Addr(binary.LittleEndian.Uint64(auxv[8:]))
		}
	}
	return 0
}

// libraryList is the document of qXfer:libraries-svr4 (GDB manual, Library List Format for SVR4 Targets).
type libraryList struct {
	Libraries []struct {
		Name string `xml:"name,attr"`
		Addr string `xml:"l_addr,attr"`
	} `xml:"library"`
}

// libraries adds the libraries of the process. One that has just been started is led to where its own code begins, when the
// dynamic linker has loaded them.
func (r *Remote) libraries(entry arch.Addr) error {
	list, err := r.libraryList()
	if err == nil && len(list.Libraries) == 0 {
		if err := r.runTo(entry); err != nil {
			return err
		}
		list, err = r.libraryList()
	}
	if err != nil {
		r.warnings = append(r.warnings, fmt.Errorf("nothing in shared libraries is found: %w", err))
		return nil
	}
	for _, l := range list.Libraries {
		bias, err := strconv.ParseUint(l.Addr, 0, 64)
		if err != nil {
			continue
		}
		if o, err := r.process.program.Add(l.Name, arch.Addr(bias)); err == nil {
			r.objects = append(r.objects, objectComment(o))
		}
	}
	return nil
}

func (r *Remote) libraryList() (list libraryList, err error) {
	document, err := r.transfer("libraries-svr4", "")
	if err == nil {
		err = xml.Unmarshal(document, &list)
	}
	return list, err
}

// runTo lets the program run to an address.
func (r *Remote) runTo(addr arch.Addr) error {
	breakpoint := fmt.Sprintf("0,%x,1", uint64(addr))
	if _, err := r.ask("Z" + breakpoint); err != nil {
		return err
	}
	if err := r.resume(); err != nil {
		return err
	}
	stop, err := r.stopped()
	if err != nil {
		return err
	}
	if strings.HasPrefix(stop, "W") || strings.HasPrefix(stop, "X") {
		return errors.New("the program has ended before its own code could run")
	}
	_, err = r.ask("z" + breakpoint)
	return err
}

// resume lets all threads go on.
func (r *Remote) resume() error {
	const everything = "vCont;c"
	if !r.nonStop {
		return r.client.Send([]byte(everything))
	}
	_, err := r.ask(everything)
	return err
}

// stopped waits for the program to stop.
func (r *Remote) stopped() (string, error) {
	const pause = 2 * time.Millisecond
	if !r.nonStop {
		return r.reply()
	}
	for len(r.stops) == 0 {
		time.Sleep(pause)
		if _, err := r.ask("qTStatus"); err != nil { // notifications come along with replies
			return "", err
		}
	}
	stop := strings.TrimPrefix(r.stops[0], "Stop:")
	err := r.acknowledge()
	r.stops = nil
	return stop, err
}

// reply receives a stop reply; what programs print comes in between.
func (r *Remote) reply() (string, error) {
	for {
		reply, err := r.client.Receive()
		if err != nil || len(reply) > 0 && reply[0] != 'O' {
			return string(reply), err
		}
	}
}

// define gives the server the variables and tracepoints.
func (r *Remote) define(found []trace.Tracepoint) error {
	packets := []string{"QTinit"}
	for _, v := range r.compiler.definitions() {
		packets = append(packets, "QTDV:"+v.String())
	}
	for i := range found {
		if err := r.serves(&found[i]); err != nil {
			return err
		}
		for _, packet := range found[i].Packets() {
			if r.features.Has("TracepointSource") || !strings.HasPrefix(packet, "QTDPsrc") {
				packets = append(packets, packet)
			}
		}
	}
	circular := 0
	if r.config.Circular {
		circular = 1
	}
	packets = append(packets, fmt.Sprintf("QTBuffer:circular:%x", circular))
	if r.config.Buffer > 0 {
		packets = append(packets, fmt.Sprintf("QTBuffer:size:%x", r.config.Buffer))
	}
	for _, packet := range packets {
		if _, err := r.ask(packet); err != nil {
			return err
		}
	}
	for name, text := range map[string]string{"user": r.config.User, "notes": r.config.Notes} {
		if text != "" { // a server may have no place for it
			if _, err := r.client.Exchange("QTNotes:" + name + ":" + hex.EncodeToString([]byte(text))); err != nil {
				return err
			}
		}
	}
	return nil
}

// serves reports what of a tracepoint the server has no means for.
func (r *Remote) serves(d *trace.Tracepoint) error {
	if d.Condition != nil && !r.features.Has("ConditionalTracepoints") {
		return fmt.Errorf("tracepoint %d: the server knows no conditions", d.Number)
	}
	if r.features.Has("tracenz") {
		return nil
	}
	for _, a := range d.Actions {
		if p, err := ax.Decode(a.Code); err == nil && a.Kind == trace.CollectExpression && strings.Contains(p.String(), "tracenz") {
			return fmt.Errorf("tracepoint %d: the server collects no strings", d.Number)
		}
	}
	return nil
}

// Warnings returns what OpenRemote could not do as it was asked to.
func (r *Remote) Warnings() []error { return r.warnings }

// Close ends the connection.
func (r *Remote) Close() error { return r.conn.Close() }

// passedOn is the signal that ended a program, by the number in its stop reply.
func passedOn(number string) target.Signal {
	n, _ := strconv.ParseUint(number, 16, 16)
	return target.Signal(n)
}
