// Command stub serves N custom resources from memory, over TLS with HTTP/1.1 and HTTP/2, so that a controller and
// not the API server is what is measured. It writes a kubeconfig, says "ready", and at SIGTERM what it did.
package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"flag"
	"fmt"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"
)

func main() {
	n := flag.Int("n", 0, "how many objects there are")
	kubeconfig := flag.String("kubeconfig", "", "where to write the kubeconfig")
	flag.Parse()
	text, err := io.ReadAll(os.Stdin)
	must(err)
	objects, err := parseTemplate(string(text))
	must(err)

	certificate, authority, err := selfSigned()
	must(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(err)
	stub := &server{store: newStore(objects, *n), leases: &leases{byName: map[string]map[string]any{}}}
	web := &http.Server{
		Handler:   stub,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		ErrorLog:  log.New(io.Discard, "", 0), // a client that goes away is no news
	}
	must(os.WriteFile(*kubeconfig, kubeconfigFor(listener.Addr().String(), authority), 0o600))
	go web.ServeTLS(listener, "", "")
	fmt.Println("ready")

	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, syscall.SIGINT)
	<-end
	var usage syscall.Rusage
	must(syscall.Getrusage(syscall.RUSAGE_SELF, &usage))
	line, _ := json.Marshal(map[string]any{
		"cpuSeconds": time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds(),
		"requests":   stub.requests.Load(),
		"patches":    stub.patches.Load(),
		"events":     stub.events.Load(),
	})
	fmt.Println(string(line))
}

func selfSigned() (tls.Certificate, []byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	subject := &x509.Certificate{
		SerialNumber:          big.NewInt(1),
		Subject:               pkix.Name{CommonName: "stub"},
		NotBefore:             time.Now().Add(-time.Hour),
		NotAfter:              time.Now().Add(24 * time.Hour),
		IPAddresses:           []net.IP{net.IPv4(127, 0, 0, 1)},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageDigitalSignature | x509.KeyUsageCertSign,
	}
	made, err := x509.CreateCertificate(rand.Reader, subject, subject, &key.PublicKey, key)
	if err != nil {
		return tls.Certificate{}, nil, err
	}
	authority := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: made})
	return tls.Certificate{Certificate: [][]byte{made}, PrivateKey: key}, authority, nil
}

func kubeconfigFor(address string, authority []byte) []byte {
	text, _ := json.Marshal(map[string]any{
		"apiVersion": "v1",
		"kind":       "Config",
		"clusters": []any{map[string]any{"name": "stub", "cluster": map[string]any{
			"server":                     "https://" + address,
			"certificate-authority-data": base64.StdEncoding.EncodeToString(authority),
		}}},
		"users":           []any{map[string]any{"name": "bench", "user": map[string]any{"token": "bench"}}},
		"contexts":        []any{map[string]any{"name": "stub", "context": map[string]any{"cluster": "stub", "user": "bench"}}},
		"current-context": "stub",
	})
	return text
}

func must(err error) {
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
