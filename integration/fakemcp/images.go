package fakemcp

import (
	"bytes"
	"context"
	"encoding/json"
	"image"
	"image/png"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// Screenshot is the result of the tool screenshot: a PNG of 3136 × 1000 pixels.
func Screenshot() []byte {
	var b bytes.Buffer
	if err := png.Encode(&b, image.NewGray(image.Rect(0, 0, 3136, 1000))); err != nil {
		panic(err) // such an image always encodes
	}
	return b.Bytes()
}

// bomb is the beginning of a PNG whose header promises 65,535 × 65,535 pixels.
const bomb = "\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR\x00\x00\xff\xff\x00\x00\xff\xff\x08\x02\x00\x00\x00\x39\x67\x4e\x07"

// Images returns a server with the tools screenshot and bomb, whose results are images.
func Images() *mcp.Server {
	s := mcp.NewServer(&mcp.Implementation{Name: "images", Version: "1"}, nil)
	for name, data := range map[string][]byte{"screenshot": Screenshot(), "bomb": []byte(bomb)} {
		s.AddTool(&mcp.Tool{Name: name, Description: "Shows.", InputSchema: json.RawMessage(anything)}, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return &mcp.CallToolResult{Content: []mcp.Content{&mcp.ImageContent{MIMEType: "image/png", Data: data}}}, nil
		})
	}
	return s
}
