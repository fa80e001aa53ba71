package trackevent

// The numbers of the fields that are written, by message, as Perfetto's descriptions (protos/perfetto/trace) have them.
const (
	TracePacket = 1

	PacketClocks     = 6 // a ClockSnapshot
	PacketTimestamp  = 8
	PacketSequence   = 10
	PacketEvent      = 11
	PacketDescriptor = 60

	SnapshotClock  = 1
	ClockID        = 1
	ClockTimestamp = 2

	DescriptorUUID    = 1
	DescriptorName    = 2
	DescriptorProcess = 3
	DescriptorThread  = 4
	DescriptorParent  = 5
	DescriptorCounter = 8

	ProcessPID  = 1
	ProcessName = 6

	ThreadPID  = 1
	ThreadTID  = 2
	ThreadName = 5

	EventAnnotation     = 4
	EventType           = 9
	EventTrack          = 11
	EventCounters       = 12 // values of the tracks of EventCounterTracks, one by one
	EventCategory       = 22
	EventName           = 23
	EventCounterTracks  = 31
	EventDoubleTracks   = 45
	EventDoubleCounters = 46
	EventFlow           = 47

	AnnotationBool    = 2
	AnnotationUint    = 3
	AnnotationInt     = 4
	AnnotationDouble  = 5
	AnnotationString  = 6
	AnnotationPointer = 7
	AnnotationName    = 10
)

// Values of enumerations.
const (
	TypeBegin   = 1
	TypeEnd     = 2
	TypeInstant = 3

	ClockRealtime = 1
	ClockBoottime = 6 // that of all timestamps, unless a packet says otherwise
)
