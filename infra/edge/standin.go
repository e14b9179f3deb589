package edge

import (
	"bytes"
	"cmp"
	"context"
	_ "embed" // nginx's configuration and the adapter
	"errors"
	"fmt"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"text/template"
	"time"
)

// StandIn is a stand-in for the CDN on one machine: nginx, driven by the table, with the function in its njs.
//
// nginx differs from CloudFront: it is one cache and not one for each location; it keeps a stale answer for an API that
// fails, for any time, where CloudFront obeys stale-if-error; it passes on bodies of any GET; it answers a
// connection's next request only after what it fetches in the background. Of the web ACL it has only the floods, if
// asked, and acts at once.
type StandIn struct {
	Listen string // host:port
	Origin string // address of the API, http or https, its stage included
	Key    string // sent to the API as X-Api-Key
	Limits []int  // calls a minute of one address, one for each of Floods; nil for none
	Dir    string // for configuration, cache and logs; nginx starts with `nginx -p Dir -c nginx.conf`
}

//go:embed nginx.conf.tmpl
var configuration string

//go:embed adapter.js
var adapter string

var tmpl = template.Must(template.New("nginx.conf").Funcs(template.FuncMap{
	"location": location,
	"key":      key,
	"query":    query,
}).Parse(configuration))

// write writes all that nginx needs into s.Dir, which it makes.
func (s StandIn) write() error {
	origin, err := url.Parse(s.Origin)
	if err != nil || origin.Host == "" || origin.RawQuery != "" {
		return fmt.Errorf("origin %q: want an address such as http://127.0.0.1:8100 or https://HOST/live", s.Origin)
	}
	var text bytes.Buffer
	err = tmpl.Execute(&text, map[string]any{"Listen": s.Listen, "Key": s.Key, "Host": origin.Host,
		"Scheme": origin.Scheme, "Path": strings.TrimSuffix(origin.Path, "/"),
		"Floods": s.floods(), "Behaviours": Behaviours(), "Queries": queries(), "StaleOn": staleOn, "Dir": s.Dir,
		"Root": os.Geteuid() == 0})
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(s.Dir, "tmp"), 0o755); err != nil {
		return err
	}
	for name, text := range map[string]string{"nginx.conf": text.String(), "adapter.js": adapter,
		"function_module.js": Function + "\nexport default handler;\n"} {
		if err := os.WriteFile(filepath.Join(s.Dir, name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// floods returns nginx's form of the floods: expressions of a method, a blank and a path.
func (s StandIn) floods() (out []m) {
	for i, limit := range s.Limits {
		f := Floods()[i]
		form := m{"Zone": strings.ReplaceAll(f.Name, "-", "_"), "Limit": limit,
			"Calls": whole(cmp.Or(f.Method, `\S+`)+" ", f.Path)}
		if f.Except != "" {
			form["Except"] = whole(`\S+ `, f.Except)
		}
		out = append(out, form)
	}
	return out
}

// location returns nginx's form of a behaviour's path.
func location(path string) string {
	if prefix, ok := strings.CutSuffix(path, "*"); ok {
		return "^~ " + prefix
	}
	return "= " + path
}

// key returns what tells an answer's copies apart.
func key(c Cache) string {
	parts := []string{"$edge_path", "$edge_encoding"}
	if c.Language {
		parts = append(parts, "$edge_language")
	}
	for _, q := range c.Queries {
		parts = append(parts, q+"=$edge_arg_"+q)
	}
	return strings.Join(parts, "|")
}

// queries returns every parameter that a behaviour names, once.
func queries() []string {
	var all []string
	for _, b := range Behaviours() {
		all = append(all, b.Cache.Queries...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// query returns the query that the API sees.
func query(c Cache) string {
	var parts []string
	for _, q := range c.Queries {
		parts = append(parts, "$edge_query_"+q)
	}
	if parts == nil {
		return ""
	}
	return "?" + strings.Join(parts, "")
}

// Start runs the stand-in until ctx ends, and returns once it answers. ended gets what Run returns.
func (s StandIn) Start(ctx context.Context) (ended <-chan error, err error) {
	up, end := make(chan struct{}), make(chan error, 1)
	go func() { end <- s.Run(ctx, func() { close(up) }) }()
	select {
	case <-up:
		return end, nil
	case err := <-end:
		return nil, err
	}
}

// Run starts nginx with its configuration in s.Dir, and returns once it has ended: nil when ctx was cancelled. It calls
// ready when nginx answers. It refuses an address at which something else answers, which nginx would be taken for.
func (s StandIn) Run(ctx context.Context, ready func()) error {
	if s.answers(ctx) {
		return fmt.Errorf("something else takes connections at %s: end it, or choose another port", s.Listen)
	}
	if err := s.write(); err != nil {
		return err
	}
	nginx, err := exec.LookPath("nginx")
	if err != nil {
		return errors.New("nginx is missing, the stand-in for the CDN: apt-get install nginx libnginx-mod-http-js")
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(ctx, nginx, "-p", s.Dir, "-e", filepath.Join(s.Dir, "error.log"), "-c",
		filepath.Join(s.Dir, "nginx.conf"))
	cmd.Stderr = &said
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = 5 * time.Second
	if err := cmd.Start(); err != nil {
		return err
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	for up := false; !up; {
		select {
		case err := <-ended:
			return fmt.Errorf("nginx did not start: %w\n%s", err, said.String())
		case <-time.After(20 * time.Millisecond):
		}
		up = s.answers(ctx)
	}
	ready()
	if err := <-ended; ctx.Err() == nil {
		return fmt.Errorf("nginx ended: %w\n%s", err, said.String())
	}
	return nil
}

// answers reports whether something takes connections where nginx listens.
func (s StandIn) answers(ctx context.Context) bool {
	c, err := (&net.Dialer{Timeout: time.Second}).DialContext(ctx, "tcp", s.Listen)
	if err == nil {
		_ = c.Close()
	}
	return err == nil
}
