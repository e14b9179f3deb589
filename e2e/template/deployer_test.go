//go:build sam

package main

import (
	"encoding/json"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/drivertest/must"
)

// unasked are rights that handlers name for what our templates do not use: data of tables, streams, imports, keys of
// one's own, code signing, other kinds of buckets, other services' logs and caches, groups and users of IAM; and names
// that IAM does not know.
var unasked = strings.Fields(`dynamodb:*Item dynamodb:Query dynamodb:Scan dynamodb:*Replica dynamodb:ImportTable
	dynamodb:*KinesisStreamingDestination kinesis:* kms:* firehose:* payments:* s3tables:* s3files:* vpc-lattice:* vpce:*
	elasticfilesystem:* autoloop:* codewhisperer:* workmail:* iam:*GroupPolicy iam:*UserPolicy iam:*PermissionsBoundary
	lambda:*CodeSigning* lambda:*Scaling* lambda:AssociateRuntimeAlias lambda:GetLayerVersion
	lambda:PassCapacityProvider codedeploy:RegisterOnPremisesInstance ec2:*CidrBlock ec2:*Encryption* ec2:DescribeInstances
	ec2:ModifyVpcTenancy ec2:UpdateSecurityGroupRule* elasticache:ModifyReplicationGroup logs:*KmsKey logs:CreateLogStream
	logs:PutLogEvents logs:*DataProtectionPolicy logs:AllowVended* s3:*Metadata* s3:*Analytics* s3:*Replication*
	s3:*Object* s3:*Website s3:*Cors s3:*CORS s3:*Lifecycle s3:*Metrics* s3:*Abac s3:REST.*
	cloudfront:*ConnectionGroup cloudfront:*WithTags cloudfront:GetVpcOrigin cloudfront:*Staging*
	billing:GetBillingViewData cloudfront:updateDistribution apigateway:*Resource s3:DeleteBucketEncryption`)

// beside are rights that no handler names: CloudFormation's own, SAM's bucket, and what the commands ask.
var beside = strings.Fields(`cloudformation:* sts:GetCallerIdentity sts:AssumeRoleWithWebIdentity
	secretsmanager:DescribeSecret s3:* dynamodb:Scan`)

// TestWorkflow: what the workflow on GitHub runs, there is.
func TestWorkflow(t *testing.T) {
	makefile := read(t, filepath.Join(root, "Makefile"))
	runs := regexp.MustCompile(`make ([a-z -]+)`).FindAllStringSubmatch(
		read(t, filepath.Join(root, ".github", "workflows", "sandbox.yaml")), -1)
	for _, m := range runs {
		for _, target := range strings.Fields(m[1]) {
			if !strings.Contains(makefile, "\n"+target+":") {
				t.Errorf("make %s: there is no such target", target)
			}
		}
	}
	if len(runs) != 3 {
		t.Errorf("the workflow runs make %d times", len(runs))
	}
}

func matches(patterns []string, right string) bool {
	return slices.ContainsFunc(patterns, func(p string) bool {
		ok, err := path.Match(p, right)
		return err == nil && ok
	})
}

// TestDeployersRights holds infra/deployer.yaml to what CloudFormation's handlers ask for when they create, read,
// update and delete what the templates have: it gives all of that, and nothing else.
func TestDeployersRights(t *testing.T) {
	kinds := map[string]bool{}
	for file, text := range all(t) {
		tree := asDeployed(t, file, text, "true")
		if name := filepath.Base(file); name == "deployer.yaml" || name == "wall.yaml" { // a person's own rights
			continue
		}
		for _, r := range (&template{tree}).resources("") {
			kinds[r.kind] = true
		}
	}
	for kind := range kinds {
		if kind == "" || matches([]string{"AWS::CloudFormation::*", "AWS::Serverless::*"}, kind) {
			delete(kinds, kind)
		}
	}
	cmd := exec.CommandContext(t.Context(), samPython(t), append([]string{"rights.py"},
		slices.Sorted(maps.Keys(kinds))...)...)
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	asks := map[string][]string{}
	if err != nil || json.Unmarshal(out, &asks) != nil {
		t.Fatal(err)
	}
	text := must.Get(os.ReadFile(filepath.Join(root, "infra", "deployer.yaml")))
	tree := must.Get(parse(text))
	var given, needed []string
	for _, r := range (&template{tree}).resources("AWS::IAM::ManagedPolicy") {
		for _, s := range list(r.prop(), "PolicyDocument", "Statement") {
			switch a := at(s, "Action").(type) {
			case string:
				given = append(given, a)
			case []any:
				for _, v := range a {
					given = append(given, v.(string))
				}
			}
		}
		size, err := json.Marshal(r.prop("PolicyDocument"))
		if err != nil || len(size) > 6144 { // IAM's quota, without spaces
			t.Errorf("%s has %d characters, %v", r.id, len(size), err)
		}
	}
	for kind, rights := range asks {
		for _, right := range rights {
			if matches(unasked, right) {
				continue
			}
			needed = append(needed, right)
			if !matches(given, right) {
				t.Errorf("%s asks for %s, which a deployer has not", kind, right)
			}
		}
	}
	for _, g := range given {
		if !matches(beside, g) && !slices.ContainsFunc(needed, func(right string) bool {
			return matches([]string{g}, right)
		}) {
			t.Errorf("a deployer has %s, which nothing asks for", g)
		}
	}
}
