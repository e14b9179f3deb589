package seckill_test

import (
	"strings"
	"testing"

	"github.com/your-org/seckill/shared/seckill"
)

// TestSums: each sum is one that a question may be, and is said in words only.
func TestSums(t *testing.T) {
	t.Parallel()
	all := map[seckill.Sum]bool{}
	for seed := range 1000 {
		s := seckill.SumOf(seed)
		all[s] = true
		for _, english := range []bool{false, true} {
			q := s.Question(english)
			if err := q.Check(); err != nil || strings.ContainsAny(q.Text, "0123456789") {
				t.Errorf("%+v: %+v, %v", s, q, err)
			}
		}
	}
	if len(all) != 80 {
		t.Errorf("%d sums", len(all))
	}
	for _, c := range []struct {
		sum   seckill.Sum
		words [2]string
		right []string
	}{
		{seckill.Sum{A: 17, B: 4}, [2]string{"十七加四等于几？", "What is seventeen plus four?"},
			[]string{"21", "２１", "二十一", "twenty-one", "Twenty-One "}},
		{seckill.Sum{A: 10, B: 9}, [2]string{"十加九等于几？", "What is ten plus nine?"}, []string{"19", "十九", "NINETEEN"}},
		{seckill.Sum{A: 18, B: 2}, [2]string{"十八加二等于几？", "What is eighteen plus two?"}, []string{"20", "二十", "twenty"}},
	} {
		for i, want := range c.words {
			q := c.sum.Question(i == 1)
			if q.Text != want {
				t.Errorf("%s, want %s", q.Text, want)
			}
			for _, right := range c.right {
				if !q.Right(right) {
					t.Errorf("%s %s is wrong", q.Text, right)
				}
			}
			if q.Right("22") || q.Right(q.Text) || q.Right("") {
				t.Errorf("%s takes everything", q.Text)
			}
		}
	}
}
