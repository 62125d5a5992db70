package judge

import (
	"net/netip"
	"strings"
	"testing"
)

// The first and last address of every block and their neighbours, on a machine
// that has one public and one private address.
func TestClassOf(t *testing.T) {
	interfaces := []netip.Prefix{
		netip.MustParsePrefix("127.0.0.1/8"), netip.MustParsePrefix("::1/128"),
		netip.MustParsePrefix("51.15.0.7/24"), netip.MustParsePrefix("192.168.7.2/24"), netip.MustParsePrefix("2a00:1::7/64"), netip.MustParsePrefix("198.18.7.1/24"),
	}
	for want, all := range map[class]string{
		internet: "1.1.1.1 9.255.255.255 11.0.0.0 100.63.255.255 100.128.0.0 126.255.255.255 128.0.0.0 169.253.255.255 169.255.0.0 172.15.255.255 172.32.0.0 191.255.255.255 192.0.1.0 192.0.2.1 192.31.196.1 192.52.193.1 192.88.98.255 192.88.100.0 192.167.255.255 192.169.0.0 192.175.48.1 198.17.255.255 198.20.0.0 198.51.100.1 203.0.113.1 223.255.255.255 51.15.1.7 " +
			"2001:200:: 2003::1 2400::1 2606:4700::1111 2620:4f:8000::1 2001:db8::1 2001:db8:ffff::1 3ffe::1 3fff::1 3fff:fff::1 3fff:1000::1 2a00:1:0:1::7 64:ff9b::1.1.1.1 ::ffff:1.1.1.1",
		private:     "10.0.0.0 10.255.255.255 172.16.0.0 172.31.255.255 192.168.0.0 192.168.255.255 192.168.7.3 ::ffff:10.0.0.1 64:ff9b::10.0.0.1",
		shared:      "100.64.0.0 100.127.255.255",
		linkLocal:   "169.254.0.0 169.254.255.255 fe80:: febf:ffff::1",
		uniqueLocal: "fc00:: fdff:ffff::1",
		attached:    "51.15.0.1 51.15.0.255 2a00:1::1 198.18.7.2 64:ff9b::51.15.0.1",
		loopback:    "127.0.0.0 127.0.0.1 127.255.255.255 ::1 ::ffff:127.0.0.1 64:ff9b::127.0.0.1",
		own:         "51.15.0.7 192.168.7.2 2a00:1::7 198.18.7.1 ::ffff:51.15.0.7 64:ff9b::51.15.0.7",
		metadata:    "169.254.169.254 169.254.170.2 100.100.100.200 192.0.0.192 168.63.129.16 fd00:ec2::254 fd20:ce::254 fe80::a9fe:a9fe ::ffff:169.254.169.254 64:ff9b::169.254.169.254",
		unspecified: "0.0.0.0 0.0.0.1 0.255.255.255 ::",
		multicast:   "224.0.0.0 239.255.255.255 ff00:: ff02::1",
		benchmark:   "198.18.0.0 198.19.255.255",
		reserved: "192.0.0.0 192.0.0.9 192.0.0.255 192.88.99.1 240.0.0.0 255.255.255.255 " +
			"::2 ::127.0.0.1 ::ffff:0:127.0.0.1 64:ff9b:1::1 100::1 100:0:0:1::1 1fff::1 2001::1 2001:1ff:ffff::1 2001:2::1 2001:10::1 2001:20::1 2002:: 2002:7f00:1:: 4000::1 5f00::1 fbff::1 fe00::1 fec0::1 feff::1 fe80::1%eth0",
	} {
		for a := range strings.FieldsSeq(all) {
			if got := classOf(netip.MustParseAddr(a), interfaces); got != want {
				t.Errorf("%s is %v, want %v", a, got, want)
			}
		}
	}
}
