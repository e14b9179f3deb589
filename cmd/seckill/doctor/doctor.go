// Package doctor looks at a deployed stack before a sale: what is missing, switched off, full, late or too small. In:
// the stack as CloudFormation describes it, AWS's answers about its parts, the API's own answer, and what the stage
// function sees of Redis. Out: findings, one sentence each, as they come. It changes nothing: it reads, and has each
// function handle an empty event, so that one that cannot start says why (stage, repair and refund, which know no empty
// one, do once more what they do each minute).
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

	"github.com/your-org/seckill/shared/adapter/operator"
)

// MaxSkew is how far clocks may be apart: windows are judged with that tolerance (docs/GUARANTEES.md, I10).
const MaxSkew = 2 * time.Second

// checkTimeout bounds one check. Functions that start cold on a stand-in for AWS take tens of seconds.
const checkTimeout = 2 * time.Minute

// State is what came of a question.
type State string

// The states.
const (
	OK      State = "ok"
	Fault   State = "fault"
	Unasked State = "unasked" // there was no answer, so nobody knows
)

// Finding is one sentence about the stack.
type Finding struct {
	Check string `json:"check"`
	State State  `json:"state"`
	Says  string `json:"says"`
}

// Doctor examines one stack.
type Doctor struct {
	AWS      aws.Config
	Stack    types.Stack
	Operator operator.Client                            // of its stage function
	HTTP     *http.Client                               // to the API
	StandIn  bool                                       // AWS is a stand-in on somebody's machine
	Crowd    int                                        // shoppers that are expected; 0: quotas are not looked at
	Within   time.Duration                              // in which they come
	Explain  func(error) string                         // puts an error of AWS into words
	During   func(what string, look func() error) error // runs a check, and may say what it waits for
	Report   func(Finding)

	outputs, parameters map[string]string
	resources           map[string]resource // by logical id
	resourcesErr        error
	stage               *apigateway.GetStageOutput // nil when API Gateway did not say
	stageErr            error
	shut                bool // the whole shop is stopped hard
	health              *sight
	date                *reading
}

// resource is one that CloudFormation made.
type resource struct{ kind, id string }

// check is one that is under way.
type check struct {
	of string
	*Doctor
}

func (c *check) ok(format string, a ...any)    { c.say(OK, format, a...) }
func (c *check) fault(format string, a ...any) { c.say(Fault, format, a...) }

// unasked says what could not be asked, and why.
func (c *check) unasked(what string, err error) {
	c.say(Unasked, "could not ask %s: %s", what, c.Explain(err))
}

// say makes one line of what may hold a foreign text.
func (c *check) say(s State, format string, a ...any) {
	c.Report(Finding{c.of, s, strings.Join(strings.Fields(fmt.Sprintf(format, a...)), " ")})
}

func (d *Doctor) sandbox() bool { return d.outputs["Sandbox"] == "true" }

// name is the stack's.
func (d *Doctor) name() string { return aws.ToString(d.Stack.StackName) }

// made gives the resources of a type by logical id, in order; an error when nobody could ask for them.
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
