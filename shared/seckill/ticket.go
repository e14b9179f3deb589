package seckill

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Limits and times of admission.
const (
	TicketLead    = 30 * time.Minute   // before the start, when tickets are given first
	ChallengeLife = 30 * time.Minute   // of a challenge, and how long a shopper has the same question
	MinAccountAge = 7 * 24 * time.Hour // for ChecksStrict, where tokens say when an account was made
	MaxAttempts   = 5                  // answers of a shopper for an item in AttemptWindow
	AttemptWindow = time.Minute
	MaxQuestions  = 1000 // of an item
	MaxQuestion   = 200  // characters
	MaxAnswers    = 10   // accepted for a question
	MaxAnswer     = 100  // characters
	MaxTicketBody = 8 << 10
)

// Question is asked before a ticket is given.
type Question struct {
	ID      string   `row:"id,key"` // QuestionID
	Text    string   `row:"text"`
	Answers []string `row:"answers"` // any of them is right
}

// Check returns what is wrong with the question in one sentence, or nil.
func (q *Question) Check() error {
	within := func(s string, most int) bool {
		return utf8.ValidString(s) && utf8.RuneCountInString(s) <= most && plainAnswer(s) != "" &&
			!strings.ContainsFunc(s, unicode.IsControl)
	}
	switch {
	case !within(q.Text, MaxQuestion):
		return fmt.Errorf("text %.40q: want 1 to %d characters, none a control character", q.Text, MaxQuestion)
	case len(q.Answers) == 0 || len(q.Answers) > MaxAnswers:
		return fmt.Errorf("%d answers: want 1 to %d", len(q.Answers), MaxAnswers)
	}
	for i, a := range q.Answers {
		if !within(a, MaxAnswer) { // not shown: it is a secret
			return fmt.Errorf("answer %d: want 1 to %d characters, none a control character", i+1, MaxAnswer)
		}
	}
	return nil
}

// QuestionID returns the id of an item's n-th question, from 1: their order is that of their ids.
func QuestionID(n int) string { return fmt.Sprintf("q%04d", n) }

// CheckQuestions returns what is wrong with an item's questions in one sentence, or nil.
func CheckQuestions(all []Question) error {
	if len(all) > MaxQuestions {
		return fmt.Errorf("%d questions: want at most %d", len(all), MaxQuestions)
	}
	first := make(map[string]int, len(all)) // by what shoppers read
	for i := range all {
		if err := all[i].Check(); err != nil {
			return fmt.Errorf("question %d: %w", i+1, err)
		}
		for _, text := range append([]string{all[i].Text}, all[i].Answers...) {
			if why := flaw(text, max(MaxQuestion, MaxAnswer), false); why != "" {
				return fmt.Errorf("question %d: want text and answers on one line each; one has %s", i+1, why)
			}
		}
		read := plainAnswer(all[i].Text)
		if n := first[read]; n > 0 {
			return fmt.Errorf("question %d is question %d again", i+1, n)
		}
		first[read] = i + 1
	}
	return nil
}

// Equal reports whether both ask the same and accept the same answers.
func (q *Question) Equal(other *Question) bool {
	return q.Text == other.Text && slices.Equal(q.Answers, other.Answers)
}

// Right reports whether an answer is one of those that are accepted. Width, case, spaces and marks that are not seen do
// not count.
func (q *Question) Right(answer string) bool {
	if utf8.RuneCountInString(answer) > MaxAnswer {
		return false
	}
	got := plainAnswer(answer)
	return got != "" && slices.ContainsFunc(q.Answers, func(a string) bool { return plainAnswer(a) == got })
}

// PlainAnswer returns what of an answer counts when answers are compared.
func PlainAnswer(answer string) string { return plainAnswer(answer) }

// plainAnswer folds case, makes full-width letters and digits plain ones, and drops spaces, control and format
// characters.
func plainAnswer(s string) string {
	return strings.Map(func(r rune) rune {
		if r >= '！' && r <= '～' {
			r -= '！' - '!'
		}
		if unicode.IsSpace(r) || unicode.Is(unicode.Cc, r) || unicode.Is(unicode.Cf, r) || r == utf8.RuneError {
			return -1
		}
		return unicode.ToLower(unicode.ToUpper(r))
	}, s)
}

// Answer is what a shopper sends for a ticket.
type Answer struct {
	Item   string
	Proof  []byte // an ALTCHA solution, JSON
	Answer string // to the question
}

// Ticket permits its user to buy its item, until the sale ends.
type Ticket struct {
	Text    string
	Expires time.Time
	Took    time.Duration // that the proof took
	TooFast bool          // the proof took less time than any page needs
}

// ErrAttempts: the shopper has answered MaxAttempts times within AttemptWindow; nothing was counted.
var ErrAttempts = errors.New("seckill: too many answers")

// Proofs makes and checks proofs of work.
type Proofs interface {
	// Make returns a challenge for this user and item.
	Make(user, item string, w Work, expires time.Time) ([]byte, error)
	// Check reports whether a solution is this user's for this item, and not expired. took is how long its solver says
	// to have worked, or the time since the challenge was made if that is less.
	Check(solution []byte, user, item string) (took time.Duration, ok bool)
}

// TicketMaker makes tickets.
type TicketMaker interface {
	Make(user, item string, expires time.Time) (string, error)
}

// TicketChecker checks tickets.
type TicketChecker interface {
	// Check returns nil for a ticket of this user for this item, else an *Error with CodeTicket.
	Check(ticket, user, item string) error
}

// Attempts counts answers.
type Attempts interface {
	// CountAttempt counts an answer of a user for an item. ErrAttempts.
	CountAttempt(ctx context.Context, user, item string, now time.Time) error
}

// Questions keeps the questions of items.
type Questions interface {
	// Questions returns an item's questions, always in the same order; none if it has none.
	Questions(ctx context.Context, item string) ([]Question, error)
}

// QuestionKeeper changes the questions of items.
type QuestionKeeper interface {
	Questions
	// PutQuestion writes a question; one with the same id is replaced.
	PutQuestion(ctx context.Context, item string, q Question) error
	// DropQuestion removes a question; nothing happens if there is none with this id.
	DropQuestion(ctx context.Context, item, id string) error
}

// Picker chooses for a shopper what nobody else can foresee.
type Picker interface {
	// Pick returns a number from 0 to n-1, always the same for the same arguments.
	Pick(user, item string, slot int64, n int) int
}
