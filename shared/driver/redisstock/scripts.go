package redisstock

import (
	"embed"
	"path"
	"strings"
)

//go:embed *.lua
var files embed.FS

// live begins with the seven keys of an item, build with the five keys of a build.
var (
	reserve     = load("common", "reserve")
	confirm     = load("common", "change_common", "confirm")
	redraw      = load("common", "change_common", "redraw")
	giveBack    = load("common", "change_common", "return")
	due         = load("common", "change_common", "due")
	assert      = load("common", "assert")
	level       = load("common", "level")
	queued      = load("common", "change_common", "queued")
	driftBegin  = load("common", "change_common", "drift_begin")
	driftEnd    = load("common", "change_common", "drift_end")
	scan        = load("common", "change_common", "scan")
	correct     = load("common", "change_common", "correct")
	users       = load("common", "change_common", "users")
	correctUser = load("common", "change_common", "correct_user")
	copyBlocks  = load("common", "change_common", "copy_blocks")
	copied      = load("common", "change_common", "copied_blocks")
	buildStart  = load("build_common", "build_start")
	buildUnits  = load("build_common", "build_units")
	buildGaps   = load("build_common", "build_gaps")
	install     = load("build_common", "install")
	holdBack    = load("common", "change_common", "hold_back")
	remove      = load("build_common", "remove")
)

// load joins the files that a script consists of. The last one names it.
func load(names ...string) *Script {
	var b strings.Builder
	for _, name := range names {
		b.WriteString(source(name))
	}
	return NewScript(names[len(names)-1], b.String())
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
