// A client of the TypeScript SDK that speaks version 2 of the protocol, and prints a session as text.
//
//   node sdk_client_v2.mjs AGENT DIRECTORY STEPS
//
// The SDK is looked up in the directory ACP_SDK. STEPS is a JSON list; testdata/sdk_client_v2 is the same client
// with the SDK in Rust. {"prompt": TEXT} is a prompt and the work on it. With "steer": TEXT, a second prompt is sent at
// the first tool call that runs, and then the file "steered" is created; with "cancel": true, the work is cancelled
// there. {"stop": true} stops the terminals that run in the background. {"resume": true} closes the session and opens it again with its history. {"answer": KIND} is the answer to the
// questions that follow, at first allow_once.

import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { Readable, Writable } from "node:stream";

const [binary, cwd, steps] = process.argv.slice(2);
const sdk = createRequire(join(process.env.ACP_SDK, "client.js")).resolve("@agentclientprotocol/sdk/experimental/v2");
const acp = await import(sdk);

const agent = spawn(binary, ["serve", "--protocol", "v2"], { cwd, stdio: ["pipe", "pipe", "inherit"] });
const stream = acp.ndJsonStream(Writable.toWeb(agent.stdin), Readable.toWeb(agent.stdout));

let answer = "allow_once";
let session; // the id
let onCall; // called once, when the next tool call runs
let onIdle; // called when the session is idle
let background = []; // the ids of the terminals
let line = "";
const calls = new Map();
const terminals = new Map();

const indent = (text) => text.trim().replaceAll(/\n(?=.)/g, "\n       ");
const print = (text) => {
  if (line) console.log(indent("agent: " + line.trim()));
  line = "";
  if (text) console.log(indent(text));
};
const textOf = (blocks) => blocks.map((b) => b.text ?? "").join("");
const who = (id) => (id === session ? "" : "child: ");

function message(id, u, name) {
  if (u.content?.length) print(`${who(id)}${name}: ${textOf(u.content)}`);
}

function toolCall(id, u) {
  const call = calls.get(u.toolCallId) ?? { content: [] };
  calls.set(u.toolCallId, call);
  for (const [key, value] of Object.entries(u)) call[key] = value;
  if (u.status === "in_progress") {
    onCall?.();
    onCall = undefined;
  }
  if (!["completed", "failed", "cancelled"].includes(u.status)) return;
  let text = `${who(id)}call: ${call.title} (${u.status})`;
  for (const c of call.content ?? []) {
    if (c.type === "diff") for (const change of c.changes) text += `\n${change.operation} ${change.path.slice(cwd.length + 1)}`;
    if (c.type === "terminal") text += `\n${terminals.get(c.terminalId).trim()}`;
  }
  print(text);
}

function update({ params: { sessionId: id, update: u } }) {
  switch (u.sessionUpdate) {
    case "user_message":
      return message(id, u, "user");
    case "agent_message":
      return message(id, u, "agent");
    case "agent_message_chunk":
      if (id === session) line += u.content.text;
      return;
    case "tool_call_update":
      return toolCall(id, u);
    case "terminal_update":
      if (u.output) terminals.set(u.terminalId, Buffer.from(u.output.data, "base64").toString());
      return terminals.set(u.terminalId, terminals.get(u.terminalId) ?? "");
    case "terminal_output_chunk":
      return terminals.set(u.terminalId, terminals.get(u.terminalId) + Buffer.from(u.data, "base64").toString());
    case "subagent_update":
      if (u.state) print(`child ${u.title ?? ""}: ${u.state.state} ${u.state.stopReason ?? ""}`);
      return;
    case "replay_complete":
      return print(`${who(id)}replayed`);
    case "state_update":
      if (id !== session) return;
      if (u.background && u.background.length !== background.length) print(`background: ${u.background.length}`);
      background = (u.background ?? []).map((b) => b.terminalId);
      if (u.state !== "idle") return;
      print(`idle: ${u.stopReason ?? "no work"}`);
      onIdle?.();
  }
}

function permission({ params }) {
  const option = params.options.find((o) => o.kind === answer);
  print(`${who(params.sessionId)}question: ${params.title}`);
  print(`answer: ${option.name}`);
  return { outcome: { outcome: "selected", optionId: option.optionId } };
}

await acp.client({ name: "sdk-client" })
  .onRequest(acp.methods.client.session.requestPermission, permission)
  .onNotification(acp.methods.client.session.update, update)
  .connectWith(stream, async (ctx) => {
    const can = await ctx.request(acp.methods.agent.initialize, {
      protocolVersion: acp.PROTOCOL_VERSION, info: { name: "sdk-client", version: "1" }, capabilities: {},
    });
    console.log(`version: ${can.protocolVersion}`);
    session = (await ctx.request(acp.methods.agent.session.new, { cwd, mcpServers: [] })).sessionId;
    for (const step of JSON.parse(steps)) {
      if (step.answer) answer = step.answer;
      const idle = new Promise((resolve) => (onIdle = resolve));
      if (step.stop) {
        for (const terminalId of background) await ctx.request(acp.methods.agent.terminal.cancel, { sessionId: session, terminalId });
        await idle;
      }
      if (step.resume) {
        await ctx.request(acp.methods.agent.session.close, { sessionId: session });
        await ctx.request(acp.methods.agent.session.resume, { sessionId: session, cwd, mcpServers: [], replayFrom: { type: "start" } });
        await idle; // the SDK handles updates after the response
        print("resumed");
      }
      if (step.prompt) {
        const prompt = (text) => ctx.request(acp.methods.agent.session.prompt, { sessionId: session, prompt: [{ type: "text", text }] });
        let second;
        onCall = () => {
          if (step.cancel) ctx.notify(acp.methods.agent.session.cancel, { sessionId: session });
          if (!step.steer) return;
          const before = agent.stdin.bytesWritten;
          second = prompt(step.steer);
          const create = () => agent.stdin.bytesWritten > before ? writeFileSync(join(cwd, "steered"), "") : setImmediate(create);
          create(); // the SDK writes a request later than it makes it
        };
        const first = await prompt(step.prompt);
        await idle;
        if (!first.messageId || (step.steer && !(await second).messageId)) print("a prompt has no message");
      }
    }
  });
agent.stdin.end();
