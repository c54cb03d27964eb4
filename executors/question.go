package executors

// Question is a question of a model to the user.
type Question struct {
	Text    string
	Options []string // answers to pick from; the user may give another one
	Limit   int      // questions that one turn may ask
}

// Reply is the user's reaction to a Question.
type Reply struct {
	Reaction Reaction
	Answer   string // if Answered; not empty
}

// Reaction is the kind of a Reply.
type Reaction string

// The reactions.
const (
	Answered   Reaction = "answered"
	Declined   Reaction = "declined"
	Unanswered Reaction = "unanswered"
	// Later means that the client cannot ask during a turn: the question ends it, and
	// the next prompt is the answer.
	Later Reaction = "later"
)
