package skills

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/zeph-acp/zeph-acp/executors"
	"github.com/zeph-acp/zeph-acp/filter/text/line"
)

// invokeInput is the input of invoke_skill.
type invokeInput struct {
	Name string `json:"name"`
	Task string `json:"task,omitempty"`
}

func (s *Set) prepareInvoke(_ context.Context, _ *executors.Call, in *invokeInput) (executors.Card, error) {
	card := executors.Card{Title: "run a skill", Kind: executors.KindThink}
	if _, err := s.find(in.Name); err != nil {
		return card, err
	}
	card.Title = "run the skill " + executors.Titled(in.Name)
	if task := line.Join(in.Task); task != "" {
		card.Title += ": " + executors.OneLine(executors.Shown(task))
	}
	return card, nil
}

// invoke runs a skill in a subturn, and returns its report.
func (s *Set) invoke(ctx context.Context, call *executors.Call, in *invokeInput) (executors.Result, error) {
	if call.Delegate == nil {
		return executors.Failf(executors.PolicyBlocked, "only the session's own turn can run a skill"), nil
	}
	skill, data, more, err := s.readApproved(ctx, in.Name, skillFile)
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	if err == nil && more {
		err = fmt.Errorf("its text has more than %d bytes", maxBody)
	}
	var env []string
	if err == nil {
		env, err = s.env(skill)
	}
	if err != nil {
		return unusable(skill, in.Name, "", err).Result(), nil
	}
	if s.options.OnRead != nil {
		s.options.OnRead(skill.Name)
	}
	report, err := call.Delegate(ctx, s.delegation(skill, skill.text(toUTF8(data)), in.Task, env))
	if ctx.Err() != nil {
		return executors.Result{}, context.Cause(ctx)
	}
	return reportResult(skill, report, err), nil
}

// env returns the variables of the skill's secrets.
func (s *Set) env(skill Skill) ([]string, error) {
	var env []string
	for _, name := range skill.Secrets {
		value := s.options.Secret(name)
		if value == "" {
			return nil, executors.Failuref(executors.PermanentFailure, "the skill %s needs the secret %s, which is not set", skill.Name, name).
				Hint("Ask the user to set ZEPH_SECRET_%s in the environment of zeph-acp.", name)
		}
		env = append(env, name+"="+value)
	}
	return env, nil
}

// delegation returns the subturn of a skill.
func (s *Set) delegation(skill Skill, text, task string, env []string) executors.Delegation {
	d := executors.Delegation{
		Name: "skill:" + skill.Name, Rounds: s.options.MaxRounds, Env: env, Internal: []string{loadTool},
		Task: strings.TrimSpace(taskText) + "\n\nThe skill " + skill.Name + ":\n" + text,
	}
	d.System, d.Project = s.options.System()
	if task = strings.TrimSpace(task); task != "" {
		d.Task += "\n\nWhat it is to do:\n" + task
	}
	allowed := ParseAllowed(skill.Tools, s.options.Dir, s.options.Known())
	if skill.Tools != nil {
		d.Tools = allowed.Offers
	}
	d.Bounds = func(call *executors.Call) *executors.Failure {
		if call.Tool == loadTool {
			return checkLoad(skill, call)
		}
		if skill.Tools == nil || allowed.Permits(call) {
			return nil
		}
		return executors.Failuref(executors.PolicyBlocked, "the skill %s does not permit this call: its allowed-tools are %s", skill.Name, skill.toolList()).
			Hint("Do the task with the calls that it allows, or report what is missing.")
	}
	return d
}

// checkLoad returns the failure of a call that loads another skill.
func checkLoad(skill Skill, call *executors.Call) *executors.Failure {
	var in loadInput
	if json.Unmarshal(call.Input, &in) == nil && in.Name == skill.Name {
		return nil
	}
	return executors.Failuref(executors.PolicyBlocked, "the skill %s loads only its own files", skill.Name)
}

// reportResult returns the report of a skill as the result of the call.
func reportResult(skill Skill, report executors.Report, err error) executors.Result {
	res := executors.Result{Text: report.Text}
	switch {
	case err != nil:
		res = executors.Failf(executors.PermanentFailure, "the skill %s could not continue: %v", skill.Name, err)
		res.Text = report.Text
	case strings.TrimSpace(report.Text) == "":
		res.Text = "The skill ended without a report."
	}
	if report.Ended != "" {
		res.Below(fmt.Sprintf("[the skill stopped before it was done: %s]", report.Ended))
	}
	res.Raw = map[string]any{"name": skill.Name, "callerId": report.Caller, "calls": report.Calls}
	return res
}
