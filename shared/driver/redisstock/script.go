// Package redisstock is the stock (seckill.Stock) in Redis: each of its steps is one Lua script in this folder. The
// scripts run wherever a Runner runs them: on a Redis server, or in the embedded interpreter of package memory.
package redisstock

import (
	"context"
	"crypto/sha1"
	"encoding/hex"
)

// Script is one Lua file. Its header names KEYS, ARGV and the result.
type Script struct {
	Name   string // the file's name without .lua
	Source string
	SHA    string // hex SHA-1 of Source, as EVALSHA wants it
}

// NewScript returns the script of a name and a source.
func NewScript(name, source string) *Script {
	sum := sha1.Sum([]byte(source))
	return &Script{Name: name, Source: source, SHA: hex.EncodeToString(sum[:])}
}

// Runner runs a script atomically. The reply is nil, int64, string or []any of these, as Redis converts Lua values
// (numbers are truncated to integers, false is nil). A script's own error, and any failure on the way, is an error.
type Runner interface {
	Run(ctx context.Context, s *Script, keys, args []string) (any, error)
}
