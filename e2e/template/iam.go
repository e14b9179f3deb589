package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// iamPage writes docs/IAM.md.
func iamPage(t *template) ([]byte, error) {
	var b bytes.Buffer
	b.WriteString(`# What each function may do

Made from the policies in infra/ by ` + "`go run ./e2e/template >docs/IAM.md`" + `. A test compares this page with the
policies, and the policies with the calls that each function's code can make: no right is missing, none is left over.
Every role is inline and of one function. AWS refuses what is not listed. Staff get policies of
infra/office.yaml, such as FinancePolicy, each of one route; what its role may do:
[the commands](../shared/api/operator).

Tables and queues are named as in the templates, secrets after their path; a right on an index is on that index alone.
What follows OfficeTable or PassingTable are the only rows of it that the right is on
([ADR 53](adr/others.md#adr-53)).
Functions on a queue take messages off it by ReceiveMessage, DeleteMessage and GetQueueAttributes, which Lambda calls in
their name. What each secret has: [below](#keys). Inside a network (` + "`CreateCache=true`" + `) the five functions
that use Redis also have the policy of infra/network.yaml. No function has a right to decrypt: secrets are under the
account's key of Secrets Manager (aws/secretsmanager), which needs none.

| function | action | on |
|---|---|---|
`)
	functions, mayRead := t.functions(), map[string][]string{}
	for _, step := range slices.Sorted(maps.Keys(functions)) {
		rights, err := t.rights(functions[step])
		if err != nil {
			return nil, err
		}
		for _, r := range rights {
			if audience, ok := strings.CutPrefix(r.on, "SecretsPath/"); ok {
				mayRead[step] = append(mayRead[step], audience)
			}
		}
		for _, row := range rows(rights) {
			fmt.Fprintf(&b, "| %s | %s | %s |\n", step, row[0], row[1])
		}
	}
	err := writeKeys(&b, mayRead)
	writeLogs(&b, t)
	return b.Bytes(), err
}

// rows groups the actions on the same resource, and then the resources with the same actions.
func rows(rights []right) (out [][2]string) {
	actions := map[string][]string{}
	for _, r := range rights {
		actions[r.on] = append(actions[r.on], r.action)
	}
	on := map[string][]string{}
	for _, resource := range slices.Sorted(maps.Keys(actions)) {
		slices.Sort(actions[resource])
		all := strings.Join(actions[resource], ", ")
		on[all] = append(on[all], resource)
	}
	for _, all := range slices.Sorted(maps.Keys(on)) {
		out = append(out, [2]string{all, strings.Join(on[all], ", ")})
	}
	return out
}
