package main

import "testing"

func TestAddressIsMadeFromOutputs(t *testing.T) {
	outputs := map[string]string{"ApiId": "abc", "ApiStage": "live"}
	got, err := expand("http://127.0.0.1:1/_aws/execute-api/{ApiId}/{ApiStage}", outputs)
	if want := "http://127.0.0.1:1/_aws/execute-api/abc/live"; err != nil || got != want {
		t.Errorf("got %q, %v; want %q", got, err, want)
	}
	if got, err := expand("{Url}", outputs); err == nil {
		t.Errorf("an output that is missing: got %q, want an error", got)
	}
}
