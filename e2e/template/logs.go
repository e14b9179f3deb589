package main

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"
)

// heldLog is a row of the inventory of logs.
type heldLog struct {
	what   string
	groups string // resources of the templates: a log group's id, or "" if it is no log group
	events string
	form   string
	where  string
	kept   string
	reads  string // who reads it, and what for
}

// asLogsAre is how long log groups keep lines.
const asLogsAre = "`logs` of `Retention` days"

// byRights is who reads what AWS keeps.
const byRights = "operators with rights of the AWS account"

// heldLogs are all logs but those of functions, which functionLogs adds.
var heldLogs = []heldLog{
	{what: "audit log", events: "staff's commands, refused ones, sign-ins of staff: begin, end, who, what, why",
		form: "rows", where: "OfficeTable", kept: "for ever; nobody changes or deletes one",
		reads: "auditors (`seckill audit`, /admin): what staff did"},
	{what: "API's access log", groups: "ApiLog", events: "each request: method, route, status, times, refusal",
		form: "JSON lines", where: "/aws/apigateway/NAME", kept: asLogsAre, reads: byRights + ": faults"},
	{what: "CDN's access log", events: "each request: method, behaviour, status, times; no address", form: "JSON lines",
		where: "bucket of NAME-edge", kept: asLogsAre, reads: byRights + ": faults, floods"},
}

// functionLogs returns the rows of functions, each of which writes its own log group alone.
func (t *template) functionLogs() (out []heldLog) {
	events := map[string]string{"acts": "suspicious acts, with user and network",
		"admin": "commands, sign-ins of staff", "gateway": "calls of the fake gateway",
		"connect": "handshakes, refused ones", "signin": "sign-ins, refused ones"}
	functions := t.functions()
	for _, step := range slices.Sorted(maps.Keys(functions)) {
		more := events[step]
		if more != "" {
			more += "; "
		}
		out = append(out, heldLog{what: step, groups: logID(step), events: more + "refusals, faults, metrics",
			form:  "JSON lines, UTC",
			where: strings.Replace(str(functions[step].prop("LoggingConfig", "LogGroup")), "/shop-", "/NAME-", 1),
			kept:  asLogsAre, reads: byRights + "; alarms: faults, attacks"})
	}
	return out
}

// writeLogs writes the inventory of logs.
func writeLogs(b *bytes.Buffer, t *template) {
	b.WriteString("\n## Logs\n\nEvery log of a stack; NAME is the stack's name. Functions may add lines to their " +
		"own log, and read or change none.\nNo log has tokens, addresses, names or payment details; users and " +
		"networks are daily hashes, except in suspicious acts.\n\n" +
		"| log | events | format | where | kept | read by, for |\n|" +
		strings.Repeat("---|", 6) + "\n")
	for _, l := range slices.Concat(t.functionLogs(), heldLogs) {
		fmt.Fprintf(b, "| %s | %s | %s | %s | %s | %s |\n", l.what, l.events, l.form, l.where, l.kept, l.reads)
	}
}
