package jsonl

// key is a member of an object.
type key uint8

// The members that are read.
const (
	keyKind key = iota
	keyTime
	keyScale
	keyCPU
	keyID
	keySkipped
	keyAddress
	keyOpcode
	keyState
	keyMode
	keySecurity
	keyDisasm
	keyAccess
	keySize
	keyPrivilege
	keyData
	keyName
	keyValue
	keyUnknown
	keyTells
	keyTrapped
	keyPhysical
	keyCycle
	keyBack
	keyPartial
	keyDevice
	keySystem
	keyNumber
	keyZero
	keyShape
	keyHigh
	keyLow
	keyEvent
	keyDetail
	keyRemark
	numKeys
	otherKey = numKeys // any that is not read
)

// extras are the members that few traces have.
const extras keySet = 1<<numKeys - 1<<keyTells

// names are those of the members.
var names = [numKeys]string{
	keyKind: "kind", keyTime: "time", keyScale: "scale", keyCPU: "cpu", keyID: "id", keySkipped: "skipped",
	keyAddress: "address", keyOpcode: "opcode", keyState: "state", keyMode: "mode", keySecurity: "security",
	keyDisasm: "disasm", keyAccess: "access", keySize: "size", keyPrivilege: "privilege", keyData: "data", keyName: "name",
	keyValue: "value", keyUnknown: "unknown", keyTells: "tells", keyTrapped: "trapped", keyPhysical: "physical",
	keyCycle: "cycle", keyBack: "back", keyPartial: "partial", keyDevice: "device", keySystem: "system", keyNumber: "number",
	keyZero: "zero", keyShape: "shape", keyHigh: "high", keyLow: "low", keyEvent: "event", keyDetail: "detail", keyRemark: "remark",
}

// heads are how members begin as a rule.
var heads = func() (heads [numKeys]string) {
	for k, name := range names {
		heads[k] = `"` + name + `":`
	}
	return heads
}()

// byName finds members.
var byName = func() map[string]key {
	keys := make(map[string]key)
	for k, name := range names {
		keys[name] = key(k)
	}
	return keys
}()

// keySet is a set of members.
type keySet uint64

const _ = uint(64 - numKeys) // they fit

func (s keySet) has(k key) bool { return s>>k&1 != 0 }
