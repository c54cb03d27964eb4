package acp

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// A client that does not read for ten seconds holds up a flood of terminal output: little of it is kept in memory,
// and then the client gets all of it and the end of the work.
// Statements 418.
func TestSlowReaderInVersion2(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const chunks, queue = 2000, 64 << 10
		var sent atomic.Int64
		f := &fakeSessions{turn: func(ctx context.Context, c *Client, _ []ContentBlock) (StopReason, error) {
			for i := range chunks {
				data := fmt.Sprintf("%01000d", i)
				if err := c.Update(ctx, "s1", TerminalChunk{TerminalID: "t", ToolCallID: "t", Data: data}); err != nil {
					return "", err
				}
				sent.Add(int64(len(data)))
			}
			return StopEndTurn, nil
		}}
		s := newServer(t, f)
		s.Config.Protocol, s.maxQueue = ProtocolAuto, queue
		w := serve(t, s)
		w.send(hello2)
		w.read()
		w.send(`{"jsonrpc":"2.0","id":"new","method":"session/new","params":{"cwd":"/w"}}`)
		w.read()
		w.send(prompt2Frame)
		w.expect(t, "user_message m1", "response 1", "state_update running", "terminal_output_chunk")
		synctest.Wait()
		before := sent.Load()
		time.Sleep(10 * time.Second)
		synctest.Wait()
		if now := sent.Load(); now != before || now > 2*queue {
			t.Errorf("while the client did not read, %d bytes were sent, then %d, with a queue of %d", before, now, queue)
		}
		for i := 1; i < chunks; i++ {
			var f struct {
				Params struct{ Update struct{ Data string } }
			}
			line := w.read()
			if err := json.Unmarshal([]byte(line), &f); err != nil {
				t.Fatal(err)
			}
			if data, err := base64.StdEncoding.DecodeString(f.Params.Update.Data); err != nil || string(data) != fmt.Sprintf("%01000d", i) {
				t.Fatalf("chunk %d is %.200s, %v", i, line, err)
			}
		}
		w.expect(t, "state_update idle end_turn")
		w.in.Close()
	})
}
