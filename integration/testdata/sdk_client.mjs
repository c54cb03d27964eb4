// A client of the TypeScript SDK, which prints a session as text.
//
//   node sdk_client.mjs AGENT DIRECTORY STEPS
//
// The SDK is looked up in the directory ACP_SDK. STEPS is a JSON list. {"prompt": TEXT} is a
// turn, {"prompt": TEXT, "steer": TEXT} also adds a text at the turn's first tool call and
// then creates the file "steered". {"mode": ID}, {"rewind": NUMBER} and {"fork": true} are
// requests; after a fork, the steps are for the new session. {"commands": true} prints the commands
// of files. {"answer": KIND} is the answer to the questions that follow, at first allow_once.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";

const [binary, cwd, steps] = process.argv.slice(2);
const sdk = createRequire(join(process.env.ACP_SDK, "client.js")).resolve("@agentclientprotocol/sdk/unstable");
const acp = await import(sdk);

const agent = spawn(binary, [], { cwd, stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

let answer = "allow_once";
let onCall; // called once, at the next tool call
let onMode; // called when the options are shown after a mode
let modeShown = false;
let line = "";
let commands = [];
const titles = new Map();

const indent = (text) => text.replaceAll(/\n(?=.)/g, "\n       ");
const print = (text) => {
  if (line) console.log(indent("agent: " + line.trim()));
  line = "";
  if (text) console.log(text);
};

function update({ params: { update: u } }) {
  switch (u.sessionUpdate) {
    case "agent_message_chunk":
      line += u.content.text;
      break;
    case "tool_call":
      titles.set(u.toolCallId, u.title);
      onCall?.();
      onCall = undefined;
      break;
    case "tool_call_update":
      if (u.title) titles.set(u.toolCallId, u.title);
      if (u.status === "completed" || u.status === "failed") print(`call: ${titles.get(u.toolCallId)} (${u.status})`);
      break;
    case "current_mode_update":
      print(`mode: ${u.currentModeId}`);
      modeShown = true;
      break;
    case "config_option_update":
      if (!modeShown) break; // the options are also shown when another one changes
      modeShown = false;
      print(`option: mode ${u.configOptions.find((o) => o.id === "mode").currentValue}`);
      onMode?.();
      break;
    case "available_commands_update":
      commands = u.availableCommands;
  }
}

function permission({ params }) {
  const option = params.options.find((o) => o.kind === answer);
  const text = (params.toolCall.content ?? []).map((c) => c.content?.text ?? "").join("\n").trim();
  print(indent(`question: ${params.toolCall.title}\n${text}`.trim()) + `\nanswer: ${option.name}`);
  return { outcome: { outcome: "selected", optionId: option.optionId } };
}

await acp.client({ name: "sdk-client" })
  .onRequest(acp.methods.client.session.requestPermission, permission)
  .onNotification(acp.methods.client.session.update, update)
  .connectWith(stream, async (ctx) => {
    const can = await ctx.request(acp.methods.agent.initialize, { protocolVersion: acp.PROTOCOL_VERSION, clientCapabilities: {} });
    let { sessionId } = await ctx.request(acp.methods.agent.session.new, { cwd, mcpServers: [] });
    for (const step of JSON.parse(steps)) {
      if (step.answer) answer = step.answer;
      if (step.mode) {
        const shown = new Promise((resolve) => (onMode = resolve));
        await ctx.request(acp.methods.agent.session.setMode, { sessionId, modeId: step.mode });
        await shown;
      }
      if (step.commands) print(`commands of files: ${commands.map((c) => c.name).filter((name) => name.includes(":")).join(" ")}`);
      if (step.fork && can.agentCapabilities.sessionCapabilities.fork) {
        ({ sessionId } = await ctx.request(acp.methods.agent.session.fork, { sessionId, cwd, mcpServers: [] }));
        print("forked");
      }
      if (step.rewind && can.agentCapabilities._meta.zeph.methods.includes("_session/rewind")) {
        const { points } = await ctx.request("_session/rewind_points", { sessionId });
        const { messageId } = points.find((p) => p.index === step.rewind);
        const result = await ctx.request("_session/rewind", { sessionId, messageId });
        print(`rewound: ${result.rewound}, files ${result.files.filesChanged.length}, messages ${result.conversation.messagesDropped}`);
      }
      if (step.prompt) {
        print(`user: ${step.prompt}`);
        let steered;
        if (step.steer && can._meta.steering.supported) {
          onCall = () => {
            steered = ctx.request("_session/steering", { sessionId, prompt: [{ type: "text", text: step.steer }] });
            writeFileSync(join(cwd, "steered"), "");
          };
        }
        const { stopReason } = await ctx.request(acp.methods.agent.session.prompt, { sessionId, prompt: [{ type: "text", text: step.prompt }] });
        print(stopReason === "end_turn" ? "" : stopReason);
        if (steered) print(`steering: ${(await steered).outcome}`);
      }
    }
  });
agent.stdin.end();
