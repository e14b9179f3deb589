package apigw

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"io"
	"log/slog"

	"github.com/aws/aws-lambda-go/events"
)

// maxLogs is the largest batch of log lines, unpacked: CloudWatch Logs sends at most 1 MiB of lines, and each has an
// envelope.
const maxLogs = 16 << 20

// LogLine is a line of a log group. Its id never changes, and no other line has it.
type LogLine struct{ ID, Message string }

// LogsOr dispatches the events of a function that a log group is subscribed to and that serves an operator. It passes
// the lines of a batch on together; after an error the batch comes again. It also ends 2 s before the deadline.
func LogsOr(lines func(context.Context, []LogLine) error, operator Handler, log *slog.Logger) Handler {
	operator = direct(operator)
	batch := direct(func(ctx context.Context, event []byte) ([]byte, error) {
		list, err := logLines(event)
		if err != nil {
			return nil, err
		}
		if err := lines(ctx, list); err != nil {
			log.WarnContext(ctx, "log lines come back", "lines", len(list), "err", err)
			return nil, err
		}
		return []byte("null"), nil
	})
	return func(ctx context.Context, event []byte) ([]byte, error) {
		var e struct {
			Logs json.RawMessage `json:"awslogs"`
		}
		if err := json.Unmarshal(event, &e); err != nil {
			return nil, notAnEvent("Lambda", err)
		}
		if e.Logs == nil {
			return operator(ctx, event)
		}
		return batch(ctx, event)
	}
}

// logLines unpacks an event ("Log group-level subscription filters", Amazon CloudWatch Logs User Guide): gzipped JSON
// in base64. A message that only tests the way has no lines for us.
func logLines(event []byte) (list []LogLine, err error) {
	var e struct {
		Logs struct{ Data []byte } `json:"awslogs"`
	}
	if err := json.Unmarshal(event, &e); err != nil {
		return nil, notAnEvent("CloudWatch Logs", err)
	}
	z, err := gzip.NewReader(bytes.NewReader(e.Logs.Data))
	if err != nil {
		return nil, notAnEvent("CloudWatch Logs", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, maxLogs+1))
	switch {
	case err != nil:
		return nil, notAnEvent("CloudWatch Logs", err)
	case len(text) > maxLogs:
		return nil, notAnEvent("CloudWatch Logs", errShape)
	}
	var data events.CloudwatchLogsData
	if err := json.Unmarshal(text, &data); err != nil {
		return nil, notAnEvent("CloudWatch Logs", err)
	}
	if data.MessageType != "DATA_MESSAGE" {
		return nil, nil
	}
	for i := range data.LogEvents {
		list = append(list, LogLine{data.LogEvents[i].ID, data.LogEvents[i].Message})
	}
	return list, nil
}
