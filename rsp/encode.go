package rsp

import "encoding/binary"

// AppendPacket appends the frame of a packet: $, payload escaped, #, checksum. The payload must not overlap the spare
// capacity of dst.
func AppendPacket(dst, payload []byte) []byte { return appendFrame(dst, '$', payload) }

// AppendNotification appends the frame of a notification: as a packet, but with % in place of $.
func AppendNotification(dst, payload []byte) []byte { return appendFrame(dst, '%', payload) }

func appendFrame(dst []byte, first byte, payload []byte) []byte {
	dst = append(dst, first)
	body := len(dst)
	dst = AppendEscaped(dst, payload)
	sum := checksum(dst[body:])
	return append(dst, '#', hexDigits[sum>>4], hexDigits[sum&15])
}

// checksum returns the sum of all bytes modulo 256. It adds eight bytes at a time, in four lanes of 16 bits of which only
// the lower halves matter: masking them after each addition leaves no carry into the next lane.
func checksum(b []byte) byte {
	const low = 0x00ff00ff00ff00ff
	var lanes uint64
	for len(b) >= 8 {
		x := binary.LittleEndian.Uint64(b)
		lanes = (lanes + x&low + x>>8&low) & low
		b = b[8:]
	}
	lanes += lanes >> 32
	sum := byte(lanes + lanes>>16)
	for _, c := range b {
		sum += c
	}
	return sum
}
