package redisstock

import (
	"embed"
	"path"
	"strings"
)

//go:embed *.lua
var files embed.FS

// live begins with the six keys of an item, build with the four keys of a build.
var (
	reserve     = load("common", "reserve")
	confirm     = load("common", "confirm")
	redraw      = load("common", "redraw")
	giveBack    = load("common", "return")
	due         = load("common", "due")
	assert      = load("common", "assert")
	level       = load("common", "level")
	queued      = load("common", "queued")
	driftBegin  = load("common", "drift_begin")
	driftEnd    = load("common", "drift_end")
	scan        = load("common", "scan")
	correct     = load("common", "correct")
	users       = load("common", "users")
	correctUser = load("common", "correct_user")
	copyBlocks  = load("common", "copy_blocks")
	copied      = load("common", "copied_blocks")
	buildStart  = load("build_common", "build_start")
	buildUnits  = load("build_common", "build_units")
	buildGaps   = load("build_common", "build_gaps")
	install     = load("build_common", "install")
	remove      = load("build_common", "remove")
)

func load(prelude, name string) *Script {
	return NewScript(name, source(prelude)+source(name))
}

func source(name string) string {
	b, err := files.ReadFile(name + ".lua")
	if err != nil {
		panic(err) // cannot happen: embedded at build time
	}
	return string(b)
}

// Names lists the scripts, for tests that check every script.
func Names() []string {
	entries, err := files.ReadDir(".")
	if err != nil {
		panic(err)
	}
	var out []string
	for _, e := range entries {
		out = append(out, strings.TrimSuffix(path.Base(e.Name()), ".lua"))
	}
	return out
}
