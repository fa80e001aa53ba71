package perfetto

// The numbers of the fields that are written, by message, as Perfetto's descriptions (protos/perfetto/trace) have them.
const (
	tracePacket = 1

	packetClocks     = 6 // a ClockSnapshot
	packetTimestamp  = 8
	packetSequence   = 10
	packetEvent      = 11
	packetDescriptor = 60

	snapshotClock  = 1
	clockID        = 1
	clockTimestamp = 2

	descriptorUUID    = 1
	descriptorName    = 2
	descriptorProcess = 3
	descriptorThread  = 4
	descriptorParent  = 5
	descriptorCounter = 8

	processPID  = 1
	processName = 6

	threadPID  = 1
	threadTID  = 2
	threadName = 5

	eventAnnotation     = 4
	eventType           = 9
	eventTrack          = 11
	eventCounters       = 12 // values of the tracks of eventCounterTracks, one by one
	eventCategory       = 22
	eventName           = 23
	eventCounterTracks  = 31
	eventDoubleTracks   = 45
	eventDoubleCounters = 46
	eventFlow           = 47

	annotationBool    = 2
	annotationUint    = 3
	annotationInt     = 4
	annotationDouble  = 5
	annotationString  = 6
	annotationPointer = 7
	annotationName    = 10
)

// Values of enumerations.
const (
	typeBegin   = 1
	typeEnd     = 2
	typeInstant = 3

	clockRealtime = 1
	clockBoottime = 6 // that of all timestamps, unless a packet says otherwise
)
