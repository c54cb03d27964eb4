package store

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/zeph-acp/zeph-acp/protocol-fixtures/machine"
)

// TestMain is also the main function of the processes that tests start and
// kill.
func TestMain(m *testing.M) {
	if what := os.Getenv("ZEPH_STORE_TEST_CHILD"); what != "" {
		if err := child(what, os.Args[1:]); err != nil {
			fmt.Println("error:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(machine.Tests{M: m}.Run())
}

// patiently repeats an action while the database is locked: on a busy machine other handles
// may hold it for longer than busyTimeout. c passes the time for which the error is repeated.
func patiently(c *clock, do func() error) error {
	for {
		err := do()
		if u, ok := errors.AsType[*UnusableError](err); !ok || !u.locked() {
			return err
		}
		c.pass(retryAfter)
	}
}

// child reports each of its actions as a line on stdout.
func child(what string, args []string) error {
	path, id := args[0], args[1]
	c := &clock{now: time.Now()}
	db := New(path, Options{Now: c.Now})
	defer db.Close()
	ctx := context.Background()
	switch what {
	case "append": // appends events 1, 2, … of varying size until it is killed, or up to a number
		n, err := strconv.Atoi(args[2])
		if err != nil {
			return err
		}
		for i := range n {
			e := event(fmt.Sprint(i + 1))
			if i%10 == 9 {
				e.Data = fmt.Appendf(nil, "%q", strings.Repeat("x", partSize+i))
			}
			err := patiently(c, func() error {
				last, err := db.Append(ctx, Batch{Session: Session{ID: id, CWD: "/w"}, Create: i == 0, Events: []Event{e}})
				if err == nil {
					fmt.Println(last)
				}
				return err
			})
			if err != nil {
				return err
			}
		}
	case "overflow": // stores texts that take several transactions each, until it is killed
		if _, err := db.Append(ctx, Batch{Session: Session{ID: id, CWD: "/w"}, Create: true}); err != nil {
			return err
		}
		for i := 0; ; i++ {
			text := strings.Repeat(fmt.Sprint(i, " "), batchParts*partSize)
			if err := db.PutOverflow(ctx, id, fmt.Sprint(i), strings.NewReader(text)); err != nil {
				return err
			}
			fmt.Println(i)
		}
	case "hold": // holds the lease until it is killed
		if _, err := db.Acquire(ctx, id, fmt.Sprint("pid ", os.Getpid())); err != nil {
			return err
		}
		fmt.Println("held")
		_, err := io.Copy(io.Discard, os.Stdin)
		return err
	}
	return nil
}

// spawn starts a child. Its lines are sent on the channel.
func spawn(t *testing.T, what string, args ...string) (*exec.Cmd, <-chan string) {
	t.Helper()
	cmd := exec.Command(os.Args[0], args...)
	cmd.Env = append(os.Environ(), "ZEPH_STORE_TEST_CHILD="+what)
	cmd.Stderr = os.Stderr
	stdin, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = stdin.Close()
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	lines := make(chan string, 100_000) // large enough that the child never blocks
	go func() {
		defer close(lines)
		for scan := bufio.NewScanner(stdout); scan.Scan(); {
			lines <- scan.Text()
		}
	}()
	return cmd, lines
}

// A process that is killed while appending has lost none of the events reported
// as committed, and leaves a sound database.
func TestKill(t *testing.T) {
	path := newPath(t)
	survivor, _ := openAt(t, path)
	must(t, survivor, "mine", true, "x")
	random := rand.New(rand.NewPCG(1, 2))
	for round := range 15 {
		id := fmt.Sprint("round ", round)
		cmd, lines := spawn(t, "append", path, id, "100000")
		seen := 0
		for range 1 + random.IntN(120) {
			line, ok := <-lines
			if !ok {
				t.Fatal("the child has ended")
			}
			if strings.HasPrefix(line, "error") {
				t.Fatal(line)
			}
			seen, _ = strconv.Atoi(line)
		}
		time.Sleep(time.Duration(random.IntN(1000)) * time.Microsecond) // at a random point in the next appends
		if err := cmd.Process.Kill(); err != nil {
			t.Fatal(err)
		}
		for line := range lines { // the lines that it wrote before it died
			if n, err := strconv.Atoi(line); err == nil {
				seen = n
			}
		}
		_ = cmd.Wait()

		must(t, survivor, "mine", false, "y")
		if round%5 == 4 { // no one has it open, so the next open must recover the WAL
			if err := survivor.Close(); err != nil {
				t.Fatal(err)
			}
			survivor, _ = openAt(t, path)
		}
		got := texts(t, survivor, id)
		if len(got) < seen || len(got) > seen+1 {
			t.Errorf("round %d: %d events, %d were committed", round, len(got), seen)
		}
		for i, text := range got {
			if i%10 != 9 && text != fmt.Sprint(i+1) || i%10 == 9 && len(text) != partSize+i {
				t.Errorf("round %d: event %d is %.20q", round, i+1, text)
			}
		}
	}
	var verdict string
	if err := survivor.h.one([]any{&verdict}, "PRAGMA integrity_check"); err != nil || verdict != "ok" {
		t.Errorf("integrity: %s, %v", verdict, err)
	}
	if err := survivor.h.one([]any{new(any), new(any), new(any), new(any)}, "PRAGMA foreign_key_check"); err == nil {
		t.Error("events without a session")
	}
}

// Processes that create the database and write to it concurrently wait for each
// other.
func TestManyProcesses(t *testing.T) {
	path := newPath(t)
	const processes, events = 5, 150
	var wg sync.WaitGroup
	for i := range processes {
		cmd, lines := spawn(t, "append", path, fmt.Sprint(i), fmt.Sprint(events))
		wg.Go(func() {
			n := 0
			for line := range lines {
				if n++; line != fmt.Sprint(n) {
					t.Errorf("process %d: %s", i, line)
				}
			}
			if err := cmd.Wait(); err != nil || n != events {
				t.Errorf("process %d: %d events, %v", i, n, err)
			}
		})
	}
	wg.Wait()
	db, _ := openAt(t, path)
	for i := range processes {
		if got := texts(t, db, fmt.Sprint(i)); len(got) != events {
			t.Errorf("session %d has %d events", i, len(got))
		}
	}
}

// Several handles of one process on one file work from the start.
func TestManyHandles(t *testing.T) {
	path := newPath(t)
	const handles, events = 6, 40
	var wg sync.WaitGroup
	for i := range handles {
		wg.Go(func() {
			c := &clock{now: start}
			db := New(path, Options{Now: c.Now})
			defer db.Close()
			add := func(id string, create bool) error {
				return patiently(c, func() error {
					_, err := db.Append(t.Context(), Batch{Session: Session{ID: id}, Create: create, Events: []Event{event("x")}})
					return err
				})
			}
			for n := range events {
				if err := add(fmt.Sprint(i), n == 0); err != nil {
					t.Error(err)
				}
				const shared = "shared"
				err := add(shared, false)
				if errors.Is(err, ErrUnknown) {
					err = add(shared, true)
					if errors.Is(err, ErrExists) {
						err = add(shared, false)
					}
				}
				if err != nil {
					t.Error(err)
				}
			}
			if _, _, err := db.List(t.Context(), Query{}); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	db, _ := openAt(t, path)
	for i := range handles {
		if got := texts(t, db, fmt.Sprint(i)); len(got) != events {
			t.Errorf("session %d has %d events", i, len(got))
		}
	}
	if got := texts(t, db, "shared"); len(got) != handles*events {
		t.Errorf("the shared session has %d events", len(got))
	}
}

func TestLeaseOfTheDead(t *testing.T) {
	db := New(newPath(t), Options{})
	defer db.Close()
	cmd, lines := spawn(t, "hold", db.path, "s")
	if line := <-lines; line != "held" {
		t.Fatalf("got %q, want %q", line, "held")
	}
	_, err := db.Acquire(t.Context(), "s", "me")
	if leased, ok := errors.AsType[*LeasedError](err); !ok || leased.PID != cmd.Process.Pid {
		t.Errorf("of a living process: %v", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	awaitDeath(t, cmd)
	if _, err := db.Acquire(t.Context(), "s", "me"); err != nil {
		t.Errorf("of a dead process: %v", err)
	}
}
