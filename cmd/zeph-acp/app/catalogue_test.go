package app

import (
	"encoding/json"
	"testing"
)

// maxCatalogue is what the tools that work on the project may take of every
// request, in bytes.
const maxCatalogue = 6 << 10

// TestCatalogueSize holds the tools as a model gets them, texts and schemas,
// against what they may take of every request.
func TestCatalogueSize(t *testing.T) {
	total := 0
	for _, tool := range Catalogue() {
		b, err := json.Marshal(struct {
			Name        string          `json:"name"`
			Description string          `json:"description"`
			Schema      json.RawMessage `json:"input_schema"`
		}{tool.Name, tool.Description, tool.Offered()})
		if err != nil {
			t.Fatal(err)
		}
		t.Logf("%-17s %4d bytes", tool.Name, len(b))
		if tool.Name != "update_plan" { // which works on the session alone
			total += len(b)
		}
	}
	if t.Logf("%d bytes in all", total); total > maxCatalogue {
		t.Errorf("the catalogue has %d bytes, %d are the most", total, maxCatalogue)
	}
}
