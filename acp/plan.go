package acp

// Ids of plans, the same during the whole session.
const (
	PlanSteps    = "steps"    // the list of steps that the model keeps
	PlanApproved = "approved" // the document that the user approved
)

// PlanUpdate replaces a plan that the client shows: a list of steps or, with Markdown, a
// document. [Client.Update] sends it in the form that the client reads.
type PlanUpdate struct {
	PlanID   string
	Entries  []PlanEntry // all steps; empty, but not nil, if the list was cleared
	Markdown string      // the whole document
}

// PlanRemoved removes a plan. Only clients with [ClientCapabilities].PlanOperations are
// sent it.
type PlanRemoved struct {
	Update string `json:"sessionUpdate"` // UpdatePlanRemoved
	PlanID string `json:"planId"`
}

// PlanEntry is one step of a plan.
type PlanEntry struct {
	Content  string `json:"content"`
	Priority string `json:"priority"` // high, medium or low
	Status   string `json:"status"`   // pending, in_progress or completed
}

// planList is the form of a list for clients without PlanOperations.
type planList struct {
	Update  string      `json:"sessionUpdate"` // UpdatePlan
	Entries []PlanEntry `json:"entries"`
}

// planContent is the form of a plan for clients with PlanOperations.
type planContent struct {
	Update string `json:"sessionUpdate"` // UpdatePlanContent
	Plan   any    `json:"plan"`          // planItems or planMarkdown
}

type planItems struct {
	Type    string      `json:"type"` // items
	PlanID  string      `json:"planId"`
	Entries []PlanEntry `json:"entries"`
}

type planMarkdown struct {
	Type    string `json:"type"` // markdown
	PlanID  string `json:"planId"`
	Content string `json:"content"`
}

func (planList) sessionUpdate()    {}
func (planContent) sessionUpdate() {}

// form returns the update as a client of version 1 with these capabilities reads it, or nil
// if it shows no such update. Version 2 has plan operations alone.
func (c ClientCapabilities) form(u SessionUpdate) SessionUpdate {
	switch u := u.(type) {
	case PlanUpdate:
		switch {
		case !c.PlanOperations && u.Markdown != "":
			return nil
		case !c.PlanOperations:
			return planList{UpdatePlan, u.Entries}
		case u.Markdown == "" && len(u.Entries) == 0:
			return PlanRemoved{UpdatePlanRemoved, u.PlanID}
		case u.Markdown != "":
			return planContent{UpdatePlanContent, planMarkdown{"markdown", u.PlanID, u.Markdown}}
		}
		return planContent{UpdatePlanContent, planItems{"items", u.PlanID, u.Entries}}
	case PlanRemoved:
		if !c.PlanOperations {
			return nil
		}
	}
	return u
}
