package fakemcp

import (
	"fmt"
	"os"
	"strings"
)

// listed begins the habits of servers that offer prompts and resources.
const listed = "lists: "

// lists answers the requests about prompts and resources.
func (h *hostile) lists(method, id string) {
	habit := strings.TrimPrefix(h.habit, listed)
	kind, step, _ := strings.Cut(method, "/")
	if habit == "hang" && step == "list" {
		return
	}
	switch method {
	case "prompts/list", "resources/list":
		h.page++
		h.answer(id, h.listOf(habit, kind))
	case "resources/templates/list":
		h.answer(id, `{"resourceTemplates":[]}`)
	case "prompts/get":
		h.promptOf(habit, id)
	case "resources/read":
		h.resourceOf(habit, id)
	}
}

// listOf returns a page of a list. An item has the members of prompts and of resources.
func (h *hostile) listOf(habit, kind string) string {
	item := func(name string) string {
		return fmt.Sprintf(`{"name":%s,"uri":%s,"description":%s}`, quote(name), quote("x:"+name), quote(Order))
	}
	items, more := []string{item("run")}, ""
	switch habit {
	case "many":
		for i := range 10_000 {
			items = append(items, item(fmt.Sprintf("item%05d", i)))
		}
	case "endless":
		more = fmt.Sprintf(`,"nextCursor":"%d"`, h.page)
		items = append(items, item(fmt.Sprint("page", h.page)))
	case "names":
		for _, name := range []string{"clear", "help", "../etc", "a b", "a/b", "\x1b[2J", "ru\u202en", "x\ny", "", strings.Repeat("long", 1000)} {
			items = append(items, item(name))
		}
	case "nonsense":
		items = append(items, "null", `{"name":"odd","arguments":[null,{"name":""}]}`)
	case "storm":
		items = append(items, item(fmt.Sprint("version", h.page)))
	}
	return fmt.Sprintf(`{%q:[%s]%s}`, kind, strings.Join(items, ","), more)
}

func (h *hostile) promptOf(habit, id string) {
	switch habit {
	case "nonsense":
		h.answer(id, `{"messages":[null,{"role":"robot","content":{"type":"hologram"}}]}`)
	case "exit":
		os.Exit(7)
	default:
		h.answer(id, fmt.Sprintf(`{"messages":[{"role":"user","content":{"type":"text","text":%s}}]}`, quote("done")))
	}
}

func (h *hostile) resourceOf(habit, id string) {
	switch habit {
	case "100 MiB":
		h.write(`{"jsonrpc":"2.0","id":` + id + `,"result":{"contents":[{"uri":"x:run","text":"`)
		for mib := strings.Repeat("x", 1<<20); h.page <= 102; h.page++ {
			h.write(mib)
		}
		h.write("\"}]}}\n")
	case "nonsense":
		h.answer(id, `{"contents":[null,{"uri":7}]}`)
	default:
		h.answer(id, `{"contents":[{"uri":"x:run","text":"done"}]}`)
	}
}

// listStorm says again and again that all lists have changed.
func (h *hostile) listStorm() {
	for range 5000 {
		for _, kind := range []string{"tools", "prompts", "resources"} {
			h.write(`{"jsonrpc":"2.0","method":"notifications/` + kind + `/list_changed"}` + "\n")
		}
	}
}
