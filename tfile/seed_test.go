package tfile
import ("testing";"os";"fmt";"encoding/binary")
func TestSeed(t *testing.T){
 os.MkdirAll("testdata/fuzz/FuzzOpen",0o777)
 l:=write(t, smallHeader(binary.LittleEndian), smallFrames(binary.LittleEndian)...)
 for n,d:=range map[string][]byte{"little-endian":l,"big-endian":write(t, smallHeader(binary.BigEndian), smallFrames(binary.BigEndian)...),
 "cut-in-frame":l[:len(l)-20],"cut-in-line":l[:60],
 "unknown-block":[]byte(magic + "R 0x10\ntp A1:10:R01\nwhat\n\n\x01\x00\x02\x00\x00\x00Q!\x00\x00trailing"),
 "no-register-size":[]byte(magic + "\n\x01\x00\x01\x00\x00\x00R\x00\x00"),
 "description-ends-in-empty-line":[]byte(magic + "R 1\ntdesc a\ntdesc \n\n\x00\x00")}{
  os.WriteFile("testdata/fuzz/FuzzOpen/"+n,[]byte(fmt.Sprintf("go test fuzz v1\n[]byte(%q)\n",d)),0o666)
 }
}
