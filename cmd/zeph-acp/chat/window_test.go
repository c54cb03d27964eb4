package chat

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// paper is a feed whose entries have as many rows as the test says.
type paper struct {
	feed   feed
	window window
	rows   map[*entry]int
	named  int
}

func newPaper(rows int) *paper {
	p := &paper{rows: map[*entry]int{}}
	p.feed.paint = paint{columns: 40}
	p.window = window{feed: &p.feed, rows: rows}
	return p
}

// add adds an entry of so many rows.
func (p *paper) add(rows int) *entry {
	p.named++
	name := p.named
	e := &entry{kind: kindOwn}
	e.draw = func(paint) string {
		var all []string
		for i := range p.rows[e] {
			all = append(all, fmt.Sprintf("%d.%d", name, i))
		}
		return strings.Join(all, "\n")
	}
	p.rows[e] = rows
	return p.feed.add(e)
}

// change gives an entry another number of rows.
func (p *paper) change(e *entry, rows int) { p.rows[e], e.drawn = rows, nil }

// check compares what is shown with the whole text.
func (p *paper) check() error {
	all := strings.Split(strings.TrimSuffix(p.window.text(), "\n"), "\n")
	whole := append(slices.Clone(all), "")
	shown, of := p.window.visible()
	at := -1
	for i := range len(whole) - len(shown) + 1 {
		if slices.Equal(whole[i:i+len(shown)], shown) {
			at = i // the last such place: an empty row alone is in many
		}
	}
	switch {
	case len(shown) != len(of):
		return fmt.Errorf("%d rows are of %d entries", len(shown), len(of))
	case at < 0:
		return fmt.Errorf("the rows %q are no part of %q", shown, whole)
	case len(shown) < min(p.window.rows, len(all)):
		return fmt.Errorf("%d of %d rows are shown in a window of %d", len(shown), len(all), p.window.rows)
	case !p.window.below() && p.window.rows > 0 && at+len(shown) < len(all):
		return fmt.Errorf("the window follows, but shows %q of %q", shown, whole)
	}
	return nil
}

// TestWindow scrolls in a feed that changes.
func TestWindow(t *testing.T) {
	for name, tt := range map[string]struct {
		do   func(p *paper, all []*entry)
		want string // the rows shown
	}{
		"follows":                    {func(p *paper, all []*entry) {}, "4.1 4.2  5.0 5.1 5.2"},
		"follows a new entry":        {func(p *paper, all []*entry) { p.add(1) }, " 5.0 5.1 5.2  6.0"},
		"follows an entry that grew": {func(p *paper, all []*entry) { p.change(all[4], 9) }, "5.3 5.4 5.5 5.6 5.7 5.8"},
		"scrolled up":                {func(p *paper, all []*entry) { p.window.scroll(-3) }, "3.2  4.0 4.1 4.2 "},
		"scrolled up, a new entry":   {func(p *paper, all []*entry) { p.window.scroll(-3); p.add(3) }, "3.2  4.0 4.1 4.2 "},
		"scrolled up, growing above": {func(p *paper, all []*entry) { p.window.scroll(-2); p.change(all[0], 50) }, " 4.0 4.1 4.2  5.0"},
		"scrolled up, growing below": {func(p *paper, all []*entry) { p.window.scroll(-3); p.change(all[4], 50) }, "3.2  4.0 4.1 4.2 "},
		"scrolled up, shrinking":     {func(p *paper, all []*entry) { p.window.scroll(-3); p.change(all[2], 1) }, " 4.0 4.1 4.2  5.0"},
		"back to the end":            {func(p *paper, all []*entry) { p.window.scroll(-9); p.window.scroll(9); p.add(1) }, " 5.0 5.1 5.2  6.0"},
		"too far up":                 {func(p *paper, all []*entry) { p.window.scroll(-1000) }, "1.0 1.1 1.2  2.0 2.1"},
		"too far down":               {func(p *paper, all []*entry) { p.window.scroll(-9); p.window.scroll(1000) }, "4.1 4.2  5.0 5.1 5.2"},
		"a higher window":            {func(p *paper, all []*entry) { p.window.scroll(-3); p.window.rows = 7 }, "3.2  4.0 4.1 4.2  5.0"},
		"a higher window than the rest": {func(p *paper, all []*entry) {
			p.window.scroll(-1)
			p.window.rows = 12
		}, "3.0 3.1 3.2  4.0 4.1 4.2  5.0 5.1 5.2 "},
		"all below removed": {func(p *paper, all []*entry) {
			p.window.scroll(-3)
			p.feed.remove(all[3])
			p.feed.remove(all[4])
		}, "2.1 2.2  3.0 3.1 3.2"},
		"its entry removed":        {func(p *paper, all []*entry) { p.window.scroll(-3); p.feed.remove(all[2]) }, "4.1 4.2  5.0 5.1 5.2"},
		"shown from its beginning": {func(p *paper, all []*entry) { p.window.show(p.add(9)) }, "6.0 6.1 6.2 6.3 6.4 6.5"},
		"shown, and small":         {func(p *paper, all []*entry) { p.window.show(p.add(2)) }, "5.0 5.1 5.2  6.0 6.1"},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPaper(6)
			var all []*entry
			for range 5 {
				all = append(all, p.add(3))
			}
			tt.do(p, all)
			shown, _ := p.window.visible()
			if got := strings.Join(shown, " "); got != tt.want {
				t.Errorf("shown is %q, want %q", got, tt.want)
			}
			if err := p.check(); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestRandomWindow changes a feed at random. The rows shown are always a part of the whole, as many as there is room for;
// and what the person has scrolled to stays where it is, unless it changes itself.
func TestRandomWindow(t *testing.T) {
	for seed := range rounds(1000) {
		random := rand.New(rand.NewPCG(seed, 3))
		p := newPaper(1 + random.IntN(30))
		p.add(2)
		for step := range 60 {
			before, of := p.window.visible()
			scrolled, stays := p.window.below(), true
			var changed *entry
			switch random.IntN(8) {
			case 0, 1:
				p.add(1 + random.IntN(10))
			case 2:
				changed = p.feed.entries[random.IntN(len(p.feed.entries))]
				p.change(changed, 1+random.IntN(20))
			case 3:
				if len(p.feed.entries) > 1 {
					changed = p.feed.entries[random.IntN(len(p.feed.entries))]
					p.feed.remove(changed)
				}
			case 4:
				p.window.rows = 1 + random.IntN(30)
			case 5:
				p.feed.paint.columns = 20 + random.IntN(100)
			default:
				p.window.scroll(random.IntN(61) - 30)
				stays = false
			}
			if err := p.check(); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, step, err)
			}
			after, _ := p.window.visible()
			if scrolled && stays && p.window.below() && of[0] != nil && of[0] != changed && after[0] != before[0] {
				t.Fatalf("seed %d, step %d: the window moved from %q to %q", seed, step, before[0], after[0])
			}
		}
	}
}
