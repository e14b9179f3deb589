// Package doctor checks a deployed stack before a sale: what is missing, switched off, full, late or too small. Its
// sources are the stack as CloudFormation describes it, AWS's answers about its parts, the API's own answer, and what
// the stage function sees of Redis. It reports findings of one sentence each as they come. It changes nothing, except
// that it makes each function handle an empty event, so that a function that cannot start returns the reason. Stage,
// repair and refund have no empty event: they do once more what they do each minute.
package doctor

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/apigateway"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation/types"

	"github.com/your-org/seckill/shared/api/operator"
	"github.com/your-org/seckill/shared/driver/config"
	"github.com/your-org/seckill/shared/seckill"
)

// MaxSkew is how much clocks may differ: the audit of sale windows has that tolerance (docs/GUARANTEES.md, I10).
const MaxSkew = 2 * time.Second

// checkTimeout bounds one check. Functions that start cold on a stand-in for AWS take tens of seconds.
const checkTimeout = 2 * time.Minute

// State is the outcome of a check.
type State string

// The states.
const (
	OK      State = "ok"
	Fault   State = "fault"
	Unasked State = "unasked" // there was no answer
)

// Finding is one sentence about the stack.
type Finding struct {
	Check string `json:"check"`
	State State  `json:"state"`
	Says  string `json:"says"`
}

// Doctor checks one stack.
type Doctor struct {
	AWS     aws.Config
	Stack   types.Stack
	As      func(seckill.Role) operator.Client         // returns a client of its back office in a role
	HTTP    *http.Client                               // to the API
	StandIn bool                                       // AWS is a stand-in, such as LocalStack
	Crowd   int                                        // expected shoppers; if 0, quotas are not checked
	Within  time.Duration                              // time within which the shoppers come
	Explain func(error) string                         // puts an error of AWS into words
	During  func(what string, look func() error) error // runs a check, and may print what it waits for
	Report  func(Finding)

	outputs, parameters map[string]string
	resources           map[string]resource // by logical id
	resourcesErr        error
	stage               *apigateway.GetStageOutput // nil when API Gateway did not return it
	stageErr            error
	shut                bool         // the whole shop is stopped hard
	role                seckill.Role // the role that the caller may take; "" if no role is known
	health              *sight
	date                *reading
	secretsRead         bool                 // the stack's secrets could be read; there may be none
	shopperSecrets      config.ClientSecrets // of the shop's clients at shoppers' issuers
	staffSecret         string               // of the back office's client
}

// resource is a resource that CloudFormation made.
type resource struct{ kind, id string }

// check is a check in progress.
type check struct {
	of string
	*Doctor
}

func (c *check) ok(format string, a ...any)    { c.say(OK, format, a...) }
func (c *check) fault(format string, a ...any) { c.say(Fault, format, a...) }

// unasked reports a question without an answer, and why.
func (c *check) unasked(what string, err error) {
	c.say(Unasked, "could not ask %s: %s", what, c.Explain(err))
}

// say reports one line; the arguments may hold foreign texts with line breaks.
func (c *check) say(s State, format string, a ...any) {
	c.Report(Finding{c.of, s, strings.Join(strings.Fields(fmt.Sprintf(format, a...)), " ")})
}

func (d *Doctor) sandbox() bool { return d.outputs["Sandbox"] == "true" }

// pushes reports whether the stack has a WebSocket API.
func (d *Doctor) pushes() bool { return d.parameters["CreatePush"] == "true" }

// name returns the stack's name.
func (d *Doctor) name() string { return aws.ToString(d.Stack.StackName) }

// made returns the logical ids of the resources of a type, sorted, or an error if the resources could not be listed.
func (d *Doctor) made(kind string) (ids []string, err error) {
	if d.resourcesErr != nil {
		return nil, d.resourcesErr
	}
	for id, r := range d.resources {
		if r.kind == kind {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids, nil
}
