package stackstate

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/credentials"
	"github.com/aws/aws-sdk-go-v2/service/cloudformation"
)

// event is one of CloudFormation's, seconds after noon.
type event struct {
	stack, id, kind, physical, status, reason string
	at                                        int
}

var noon = time.Date(2026, 11, 11, 12, 0, 0, 0, time.UTC)

// TestFailure checks that the first failure is told, of the nested stack where it began, and none of an earlier try.
// The events come newest first, as CloudFormation's do, one on each page.
func TestFailure(t *testing.T) {
	const cancelled = "Resource creation cancelled"
	all := []event{
		{"shop", "shop", "AWS::CloudFormation::Stack", "shop", "ROLLBACK_IN_PROGRESS", "Failed: [Edge, Other]", 9},
		{"shop", "Other", "AWS::SNS::Topic", "", "CREATE_FAILED", cancelled, 8},
		{"shop", "Edge", "AWS::CloudFormation::Stack", "shop-Edge-1", "CREATE_FAILED", "Embedded stack failed", 7},
		{"shop", "Fine", "AWS::SNS::Topic", "", "CREATE_COMPLETE", "", 6},
		{"shop", "Old", "AWS::SNS::Topic", "", "CREATE_FAILED", "an earlier try", -60},
		{"shop-Edge-1", "Logs", "AWS::S3::Bucket", "", "CREATE_FAILED", cancelled, 5},
		{"shop-Edge-1", "Acl", "AWS::WAFv2::WebACL", "", "CREATE_FAILED", "422 is not a response code", 4},
		{"whole", "Topic", "AWS::SNS::Topic", "", "CREATE_COMPLETE", "", 3},
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var of []event
		for _, e := range all {
			if e.stack == r.FormValue("StackName") {
				of = append(of, e)
			}
		}
		page := 0
		_, _ = fmt.Sscan(r.FormValue("NextToken"), &page)
		e, next := of[page], ""
		if page+1 < len(of) {
			next = fmt.Sprintf("<NextToken>%d</NextToken>", page+1)
		}
		fmt.Fprintf(w, `<DescribeStackEventsResponse><DescribeStackEventsResult><StackEvents><member>`+
			`<StackName>%s</StackName><LogicalResourceId>%s</LogicalResourceId><ResourceType>%s</ResourceType>`+
			`<PhysicalResourceId>%s</PhysicalResourceId><ResourceStatus>%s</ResourceStatus>`+
			`<ResourceStatusReason>%s</ResourceStatusReason><Timestamp>%s</Timestamp></member></StackEvents>%s`+
			`</DescribeStackEventsResult></DescribeStackEventsResponse>`, e.stack, e.id, e.kind, e.physical, e.status,
			e.reason, noon.Add(time.Duration(e.at)*time.Second).Format(time.RFC3339), next)
	}))
	t.Cleanup(server.Close)
	cfn := cloudformation.New(cloudformation.Options{Region: "us-east-1", BaseEndpoint: aws.String(server.URL),
		Credentials: credentials.NewStaticCredentialsProvider("test", "test", "")})
	for id, want := range map[string]string{"whole": "",
		"shop": "Edge: Acl (AWS::WAFv2::WebACL): 422 is not a response code"} {
		if got, err := Failure(t.Context(), cfn, id, noon); err != nil || got != want {
			t.Errorf("%s: %q, %v, want %q", id, got, err, want)
		}
	}
	server.Close()
	if _, err := Failure(t.Context(), cfn, "shop", noon); err == nil ||
		!strings.Contains(err.Error(), "DescribeStackEvents") {
		t.Errorf("nobody answers: %v", err)
	}
}
