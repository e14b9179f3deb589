package stackstate_test

import (
	"encoding/json"
	"encoding/xml"
	"fmt"
	"hash/crc32"
	"io"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"go.yaml.in/yaml/v3"
)

// template is what account reads of a template.
type template struct {
	Parameters map[string]struct {
		Default string `yaml:"Default"`
	} `yaml:"Parameters"`
	Resources resources `yaml:"Resources"`
	Outputs   map[string]struct {
		Value yaml.Node `yaml:"Value"`
	} `yaml:"Outputs"`
}

// resources leaves out what Fn::ForEach makes.
type resources map[string]resource

func (r *resources) UnmarshalYAML(n *yaml.Node) error {
	*r = resources{}
	for i := 0; i < len(n.Content); i += 2 {
		var of resource
		if n.Content[i+1].Kind != yaml.MappingNode {
			continue
		}
		if err := n.Content[i+1].Decode(&of); err != nil {
			return err
		}
		(*r)[n.Content[i].Value] = of
	}
	return nil
}

type resource struct {
	Type           string               `yaml:"Type"`
	DependsOn      yaml.Node            `yaml:"DependsOn"`
	Condition      string               `yaml:"Condition"`
	DeletionPolicy string               `yaml:"DeletionPolicy"`
	Properties     map[string]yaml.Node `yaml:"Properties"`
}

var getAtt = regexp.MustCompile(`!GetAtt ['"]?([A-Za-z]+)\.`)

// needs returns the resources that have to be there before r.
func (r resource) needs(t *testing.T) (out []string) {
	text, err := yaml.Marshal(r.Properties)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range getAtt.FindAllStringSubmatch(string(text), -1) {
		out = append(out, m[1])
	}
	return append(out, r.DependsOn.Value)
}

// protected reports whether AWS refuses to delete the resource.
func (r resource) protected(params map[string]string) bool {
	for _, name := range []string{"DeletionProtection", "DeletionProtectionEnabled"} {
		n, ok := r.Properties[name]
		if ok && n.Kind == yaml.SequenceNode { // !If [condition, …, …]
			holds := params["Protect"] == "true"
			if n.Content[0].Value == "IsSandbox" {
				holds = params["Sandbox"] == "true"
			}
			n = *n.Content[2]
			if holds {
				n = *r.Properties[name].Content[1]
			}
		}
		if ok && (n.Value == "ACTIVE" || n.Value == "true") {
			return true
		}
	}
	return false
}

// made is a resource that was made.
type made struct {
	logical, kind, name, status string
	protected, kept             bool
}

type event struct{ logical, kind, physical, status, reason string }

// stack is one of the account's stacks, or a stack nested in another.
type stack struct {
	name, id, status string
	params           map[string]string
	began            time.Time
	resources        []*made
	events           []event // the newest last
	termination      bool
}

func (s *stack) event(logical, kind, physical, status, reason string) {
	s.events = append(s.events, event{logical, kind, physical, status, reason})
}

// account is a fake of an AWS account, and of what `sam deploy` does there. Resources are made one after the other, in
// an order that their references allow. What CloudFormation may leave, it leaves: every resource of a nested stack that
// was complete and has a policy to be retained.
type account struct {
	t         *testing.T
	templates map[string]template // by file name, without .yaml; "" is the root
	fail      string              // the nested stack whose next creation fails; "edge" is the CDN's
	stubborn  bool                // the rollback cannot delete what the failing nested stack had made
	mu        sync.Mutex
	stacks    []*stack // the newest last
	tables    map[string]bool
	n         int
	released  []map[string]string // parameters of each `sam deploy` that came to an end
}

func newAccount(t *testing.T, root string) *account {
	a := &account{t: t, templates: map[string]template{}, tables: map[string]bool{}}
	files, err := filepath.Glob(filepath.Join(root, "infra/*.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range append(files, filepath.Join(root, "template.yaml")) {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		var of template
		if err := yaml.Unmarshal(text, &of); err != nil {
			t.Fatal(f, err)
		}
		name := strings.TrimSuffix(filepath.Base(f), ".yaml")
		if name == "template" {
			name = ""
		}
		a.templates[name] = of
	}
	return a
}

func (a *account) newest(name string) *stack {
	for _, s := range slices.Backward(a.stacks) {
		if s.id == name || s.name == name && s.status != "DELETE_COMPLETE" {
			return s
		}
	}
	return nil
}

func (a *account) add(name string, params map[string]string) *stack {
	a.n++
	s := &stack{name: name, id: fmt.Sprintf("arn:aws:cloudformation:r:1:stack/%s/%d", name, a.n), params: params,
		began: time.Now(), status: "CREATE_IN_PROGRESS"}
	a.stacks = append(a.stacks, s)
	return s
}

// order returns the root's nested stacks, each after the stacks that it needs.
func (a *account) order() (out []string) {
	root := a.templates[""].Resources
	var visit func(string)
	visit = func(name string) {
		if slices.Contains(out, name) || root[name].Type != "AWS::CloudFormation::Stack" {
			return
		}
		for _, n := range root[name].needs(a.t) {
			visit(n)
		}
		out = append(out, name)
	}
	for _, name := range slices.Sorted(maps.Keys(root)) {
		visit(name)
	}
	return out
}

// deploy does what `sam deploy` asks of CloudFormation; "" if it came to an end.
func (a *account) deploy(name string, params map[string]string) string {
	s := a.newest(name)
	switch {
	case s == nil || s.status == "REVIEW_IN_PROGRESS":
		all := map[string]string{}
		for p, of := range a.templates[""].Parameters {
			all[p] = of.Default
		}
		maps.Copy(all, params)
		if s == nil {
			s = a.add(name, nil)
		}
		s.params = all
		for _, of := range a.order() {
			if why := a.make(s, of); why != "" {
				a.rollBack(s)
				return s.status
			}
		}
		s.status = "CREATE_COMPLETE"
	case s.status == "CREATE_COMPLETE" || s.status == "UPDATE_COMPLETE":
		maps.Copy(s.params, params)
		s.status = "UPDATE_COMPLETE"
	default:
		return "ValidationError: Stack:" + s.id + " is in " + s.status + " state and can not be updated."
	}
	a.released = append(a.released, params)
	return ""
}

// make makes one nested stack, and answers why it cannot.
func (a *account) make(s *stack, logical string) (why string) {
	file := strings.ToLower(logical)
	of, ok := a.templates[file]
	if !ok {
		a.t.Errorf("nested stack %s has no infra/%s.yaml", logical, file)
	}
	const kind = "AWS::CloudFormation::Stack"
	nested := a.add(s.name+"-"+logical, s.params)
	entry := &made{logical: logical, kind: kind, name: nested.id, status: "CREATE_COMPLETE"}
	s.resources = append(s.resources, entry)
	for i, name := range slices.Backward(slices.Sorted(maps.Keys(of.Resources))) {
		r := of.Resources[name]
		if r.Condition == "IsSandbox" && s.params["Sandbox"] != "true" {
			continue
		}
		m := &made{logical: name, kind: r.Type, name: fmt.Sprintf("%s-%s-%d", nested.name, name, a.n),
			status: "CREATE_COMPLETE", protected: r.protected(s.params),
			kept: strings.HasPrefix(r.DeletionPolicy, "Retain")}
		if table := r.Properties["TableName"]; table.Value != "" {
			m.name = strings.ReplaceAll(table.Value, "${Name}", s.name)
			if a.tables[m.name] {
				why = m.name + " already exists"
			}
		}
		if last := i == 0; last && a.fail == logical {
			why, a.fail = injected, ""
		}
		if why != "" {
			nested.event(name, r.Type, "", "CREATE_FAILED", why)
			nested.status, entry.status = "CREATE_FAILED", "CREATE_FAILED"
			s.event(logical, kind, nested.id, "CREATE_FAILED", "Embedded stack was not successfully created")
			return why
		}
		nested.resources = append(nested.resources, m)
		if r.Type == "AWS::DynamoDB::Table" {
			a.tables[m.name] = true
		}
	}
	nested.status = "CREATE_COMPLETE"
	return ""
}

const injected = "injected: this failed"

// rollBack deletes what a creation that failed has made.
func (a *account) rollBack(s *stack) {
	if s.status = "ROLLBACK_FAILED"; a.remove(s, false) {
		s.status = "ROLLBACK_COMPLETE"
	}
}

// remove deletes a stack's resources, and reports whether it could. force leaves what it cannot delete.
func (a *account) remove(s *stack, force bool) bool {
	whole := true
	for _, r := range s.resources {
		nested := a.newest(r.name)
		switch {
		case strings.HasPrefix(r.status, "DELETE_C"), r.status == "DELETE_SKIPPED":
		case nested != nil && a.remove(nested, force):
			r.status, nested.status = "DELETE_COMPLETE", "DELETE_COMPLETE"
		case nested != nil:
			r.status, whole = "DELETE_FAILED", false
			s.event(r.logical, r.kind, r.name, "DELETE_FAILED", "")
		case r.kept && s.status == "CREATE_COMPLETE":
			r.status = "DELETE_SKIPPED"
		case (r.protected || a.stubborn && s.status == "CREATE_FAILED") && !force:
			r.status, whole = "DELETE_FAILED", false
			s.event(r.logical, r.kind, r.name, "DELETE_FAILED", "it is protected")
		default:
			r.status = "DELETE_COMPLETE"
			delete(a.tables, r.name)
		}
	}
	return whole
}

func (a *account) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, call, ok := strings.Cut(r.Header.Get("X-Amz-Target"), "."); ok {
		a.json(w, r, call)
		return
	}
	if r.Method == http.MethodGet { // the API's keys
		fmt.Fprintf(w, `{"item": [{"name": %q, "value": "k", "createdDate": 1}]}`, r.URL.Query().Get("name")+"1")
		return
	}
	if err := r.ParseForm(); err != nil {
		a.t.Error(err)
	}
	if r.URL.Path == "/sam" {
		if why := a.deploy(r.PostFormValue("stack"), pairs(r.PostForm["override"])); why != "" {
			http.Error(w, why, http.StatusConflict)
		}
		return
	}
	a.query(w, r)
}

func pairs(list []string) map[string]string {
	out := map[string]string{}
	for _, p := range list {
		k, v, _ := strings.Cut(p, "=")
		out[k] = v
	}
	return out
}

// json answers DynamoDB, SQS and Secrets Manager.
func (a *account) json(w http.ResponseWriter, r *http.Request, call string) {
	var in struct{ TableName string }
	body, _ := io.ReadAll(r.Body)
	_ = json.Unmarshal(body, &in)
	status, out := http.StatusOK, `{"Table":{},"Items":[],"Attributes":{"ApproximateNumberOfMessages":"0"}}`
	switch {
	case (strings.Contains(call, "Table") || call == "Scan") && !a.tables[in.TableName]:
		status, out = http.StatusBadRequest, `{"__type":"ResourceNotFoundException","message":"Requested resource not found"}`
	case call == "DeleteTable":
		delete(a.tables, in.TableName)
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.0")
	w.Header().Set("X-Amz-Crc32", fmt.Sprint(crc32.ChecksumIEEE([]byte(out))))
	w.WriteHeader(status)
	fmt.Fprint(w, out)
}

// query answers CloudFormation.
func (a *account) query(w http.ResponseWriter, r *http.Request) {
	action, s := r.PostFormValue("Action"), a.newest(r.PostFormValue("StackName"))
	if s == nil && action != "CreateStack" {
		w.WriteHeader(http.StatusBadRequest)
		fmt.Fprintf(w, "<ErrorResponse><Error><Code>ValidationError</Code><Message>Stack with id %s does not exist"+
			"</Message></Error></ErrorResponse>", r.PostFormValue("StackName"))
		return
	}
	var out strings.Builder
	switch action {
	case "DescribeStacks":
		outputs := map[string]string{}
		if strings.HasSuffix(s.status, "E_COMPLETE") && s.status != "DELETE_COMPLETE" {
			outputs = map[string]string{"Sandbox": s.params["Sandbox"], "StackPrefix": s.name + "-", "ApiId": "api",
				"ApiStage": "live", "Url": "https://shop.example", "SecretsPath": s.params["SecretsPath"],
				"OrdersQueueUrl": "http://" + r.Host + "/1/orders",
				"Formats":        a.templates[""].Outputs["Formats"].Value.Value}
		}
		fmt.Fprintf(&out, "<Stacks><member><StackName>%s</StackName><StackId>%s</StackId><StackStatus>%s</StackStatus>"+
			"<CreationTime>%s</CreationTime><Parameters>%s</Parameters><Outputs>%s</Outputs></member></Stacks>", s.name,
			s.id, s.status, s.began.UTC().Format(time.RFC3339), members("Parameter", s.params),
			members("Output", outputs))
	case "DescribeStackEvents":
		out.WriteString("<StackEvents>")
		for _, e := range slices.Backward(s.events) {
			fmt.Fprintf(&out, "<member>"+resourceXML+"<ResourceStatusReason>%s</ResourceStatusReason><Timestamp>%s"+
				"</Timestamp></member>", e.logical, e.kind, e.physical, e.status, e.reason,
				s.began.UTC().Format(time.RFC3339))
		}
		out.WriteString("</StackEvents>")
	case "ListStackResources":
		out.WriteString("<StackResourceSummaries>")
		for _, m := range s.resources {
			fmt.Fprintf(&out, "<member>"+resourceXML+"</member>", m.logical, m.kind, m.name, m.status)
		}
		out.WriteString("</StackResourceSummaries>")
	case "DeleteStack":
		if s.termination {
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(w, "<ErrorResponse><Error><Code>ValidationError</Code><Message>TerminationProtection is enabled"+
				"</Message></Error></ErrorResponse>")
			return
		}
		force := r.PostFormValue("DeletionMode") == "FORCE_DELETE_STACK"
		if gone := a.remove(s, force); gone || force {
			s.status = "DELETE_COMPLETE"
		} else {
			s.status = "DELETE_FAILED"
		}
	case "UpdateTerminationProtection":
		s.termination = r.PostFormValue("EnableTerminationProtection") == "true"
	case "CreateStack":
		s = a.add(r.PostFormValue("StackName"), map[string]string{})
		if s.status = "CREATE_COMPLETE"; a.fail == "edge" {
			a.fail = ""
			s.event("Acl", "AWS::WAFv2::WebACL", "", "CREATE_FAILED", injected)
			s.status = "DELETE_COMPLETE" // OnFailure
		}
		fmt.Fprintf(&out, "<StackId>%s</StackId>", s.id)
	case "UpdateStack":
		s.status = "UPDATE_COMPLETE"
	default:
		a.t.Errorf("nobody answers %s", action)
	}
	fmt.Fprintf(w, "<%sResponse><%sResult>%s</%sResult></%sResponse>", action, action, out.String(), action, action)
}

const resourceXML = "<LogicalResourceId>%s</LogicalResourceId><ResourceType>%s</ResourceType>" +
	"<PhysicalResourceId>%s</PhysicalResourceId><ResourceStatus>%s</ResourceStatus>"

func members(kind string, of map[string]string) string {
	var out strings.Builder
	for _, k := range slices.Sorted(maps.Keys(of)) {
		fmt.Fprintf(&out, "<member><%sKey>%s</%sKey><%sValue>", kind, k, kind, kind)
		_ = xml.EscapeText(&out, []byte(of[k]))
		fmt.Fprintf(&out, "</%sValue></member>", kind)
	}
	return out.String()
}
