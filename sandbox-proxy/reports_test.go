package proxy_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// A report is a fault that somebody found in another proxy, resolver or
// sandbox, and the tests that hold ours to doing better: "<folder> <test>" from
// this folder. One without a test says why it does not apply.
type report struct {
	of, fault string
	tests     string
	not       string
}

var reports = []report{
	{"coder/httpjail#57", "the rule saw the target's host, the origin the Host", ". TestPlainTargets", ""},
	{"openai/codex#13275", "a Host that differs in its port", ". TestPlainTargets", ""},
	{"coder/httpjail#53", "data leaves in the names that are asked for", "names TestNothingHereResolvesOrDials, judge TestRefusedFirst, ../sandbox-cli TestNoQueryLeaves", ""},
	{"coder/httpjail#84", "a request to the proxy itself loops", ". TestSelf, . TestUpstreamIsSelf", ""},
	{"coder/boundary#211", "a kept connection is closed without a word", ". TestKeepAlive", ""},
	{"anthropics/claude-code#40213", "plain http is not filtered", ". TestRefusal, ../sandbox-cli TestAnotherHostIsRefused", ""},
	{"anthropics/claude-code#87381", "refused directly, let through by a relay inside", "", "a call has no caller: the judge knows its host, its port and nothing of who made it"},
	{"anthropic-experimental/sandbox-runtime#353", "deny * beats what is allowed", "judge TestRulesRefused", ""},
	{"anthropic-experimental/sandbox-runtime#147", "no way behind a company's proxy", ". TestUpstream, . TestSystemUpstream, ../sandbox-cli TestSystemUpstream", ""},
	{"NVIDIA/OpenShell#1498", "a NUL in a SOCKS name", ". TestSOCKS, . FuzzSOCKS", ""},
	{"NVIDIA/OpenShell#592", "0.0.0.0 and :: are not internal", "judge TestClassOf, judge TestLoopback", ""},
	{"windmill-labs/windmill#10597", "0.1.2.3 and 1 are not internal", "judge TestSpellings, judge TestLoopback", ""},
	{"oryx-labs/oryxos#126", "a metadata address as NAT64", "judge TestClassOf, judge TestAddresses", ""},
	{"stripe/smokescreen#265", "shared addresses pass", "judge TestClassOf", ""},
	{"stripe/smokescreen#158", "a name in brackets is two names", ". TestPlainTargets, . TestConnectTargets", ""},
	{"stripe/smokescreen#264", "rules that are not ASCII never match", "judge TestRulesRefused", ""},
	{"stripe/smokescreen#191", "the upstream's own address is refused", ". TestUpstream", ""},
	{"HyNetworks/hysteria#1574", "a trailing dot passes a rule", "judge TestSpellings, . TestUpstream", ""},
	{"tinyproxy/tinyproxy#627", "trusted.net matches untrusted.net", "judge TestHosts, judge FuzzRules", ""},
	{"nolabs-ai/nono#1676", "metadata names with a dot or in capitals", "judge TestAddresses", ""},
	{"benoitc/hackney#920", "a full-width dot folds after the check", "judge TestSpellings", ""},
	{"luckyPipewrench/pipelock#1205", "the port is dropped between check and dial", "judge TestHosts, . TestConnect", ""},
	{"squid-cache/squid#1253", "malformed CONNECT targets", ". TestConnectTargets, . FuzzConnectTarget", ""},
	{"tinyproxy/tinyproxy#609", "Content-Length and Transfer-Encoding both go on", ". TestPlainTargets, . FuzzHead", ""},
	{"QubesOS/qubes-issues#9242", "Connection names itself", ". TestHopByHop", ""},
	{"golang/go#46313", "an empty first Connection hides the others", ". TestHopByHop", ""},
	{"golang/go#80416", "an upgrade to h2c hides later requests", ". TestHopByHop, . TestUpgrades", ""},
	{"golang/go#80875", "an upgrade loses the client's first bytes", ". TestWebsocket", ""},
	{"elazarl/goproxy#367", "Expect: 100-continue hangs", ". TestExpect", ""},
	{"barnacs/compy#46", "Proxy-Authorization reaches the origin", ". TestHopByHop", ""},
	{"passteque/gluetun#3481", "bytes behind a CONNECT are dropped", ". TestEarlyBytes, . TestEarlyBulk", ""},
	{"saucelabs/forwarder#616", "the far side's first words are swallowed", ". TestUpstream", ""},
	{"elazarl/goproxy#33", "no answer where the dial fails", ". TestDialFailures", ""},
	{"elazarl/goproxy#209", "half-closed calls are cut, or stay for ever", "tunnel TestHalfClose, tunnel TestDrain, . TestPlainHalfClose", ""},
	{"hivecommons/hive#3872", "300,000 descriptors of hosts that never end", "tunnel TestDrain, . TestDescriptors", ""},
	{"router-for-me/CLIProxyAPI#3952", "an upstream that never answers", ". TestUpstreamSilent", ""},
	{"HyNetworks/hysteria#1676", "a download is cut at ten seconds", ". TestSilenceIsAllowed", ""},
	{"BerriAI/litellm#34819", "a stream that is silent for a minute is cut", ". TestSilenceIsAllowed, tunnel TestIdle", ""},
	{"mmartinez/postern#70", "a dial's error maps the network", ". TestDialFailures", ""},
	{"armon/go-socks5#25", "a far side that is no TCP ends the process", ". TestSOCKSOtherConn", ""},
	{"SenseUnit/dumbproxy#162", "SOCKS names are looked up first", ". TestSOCKS, . FuzzSOCKS", ""},
	{"rofl0r/microsocks#80", "only the first address is tried", ". TestNextAddress", ""},
	{"capnproto/capnproto#1403", "splice slows down when pipes run out", "tunnel TestIdleHoldsNothing, tunnel TestPipes", ""},
	{"MetaCubeX/mihomo#3034", "answers over UDP that are too long", "names TestTruncation, names TestLimitOverUDP", ""},
	{"celzero/rethink-app#3072", "HTTPS records go round the block", "names TestAnswers", ""},
	{"miekg/dns#1375", "a message without a question", "names TestMalformed, names FuzzRespond", ""},
	{"opnsense/core#6070", "client and proxy resolve differently", ". TestTransparent", ""},
	{"google/nftables#242", "a flush hangs or leaves elements", "inside TestTheKernelHoldsTheRulesAsShown, inside TestReadBackSeesEveryChange", ""},
	{"github/gh-aw-firewall#8878", "the TLS name is not the host", ". TestInsideTLS", ""},
	{"superradcompany/microsandbox#986", "a placeholder elsewhere gets the secret", "routes/secret TestPlaceholderElsewhere, routes/secret TestJudged", ""},
}

// Every report has its tests, and they are there.
func TestReports(t *testing.T) {
	tests := map[string]string{}
	seen := map[string]bool{}
	for _, r := range reports {
		if seen[r.of] || (r.tests == "") == (r.not == "") || r.fault == "" {
			t.Errorf("%s: named twice, or neither tested nor said not to apply", r.of)
		}
		seen[r.of] = true
		for _, test := range strings.Split(r.tests, ", ") {
			folder, name, _ := strings.Cut(test, " ")
			if test == "" {
				continue
			}
			if _, err := os.Stat(folder); err != nil && strings.HasPrefix(folder, "../") {
				continue // this module stands alone
			}
			if tests[folder] == "" {
				files, err := filepath.Glob(filepath.Join(folder, "*_test.go"))
				if err != nil {
					t.Fatal(err)
				}
				for _, file := range files {
					text, err := os.ReadFile(file)
					if err != nil {
						t.Fatal(err)
					}
					tests[folder] += string(text)
				}
			}
			if tests[folder] == "" {
				t.Errorf("%s: %s: no tests there", r.of, folder)
			} else if !strings.Contains(tests[folder], "\nfunc "+name+"(") {
				t.Errorf("%s: no test %s in %s", r.of, name, folder)
			}
		}
	}
	if len(reports) != 50 {
		t.Errorf("%d reports", len(reports))
	}
}
