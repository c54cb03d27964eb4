//! A client of the Rust SDK that speaks version 2 of the protocol, and prints a session as text. Its arguments, its
//! steps and its output are those of ../sdk_client_v2.mjs.

use std::cell::RefCell;
use std::collections::HashMap;
use std::path::Path;
use std::rc::Rc;

use agent_client_protocol::schema::ProtocolVersion;
use agent_client_protocol::v2::{ConnectionTo, Responder, schema};
use agent_client_protocol::{AcpAgent, Agent, Client, Error};
use base64::Engine;
use serde_json::{Map, Value, json};
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};

enum Event {
    Update(Value),
    Asked(Value, UnboundedSender<String>),
}

#[derive(Default)]
struct View {
    cwd: String,
    session: String,
    answer: String,
    line: String,
    background: Vec<String>, // the ids of the terminals
    calls: HashMap<String, Map<String, Value>>,
    terminals: HashMap<String, Vec<u8>>,
}

fn text(v: &Value) -> &str {
    v.as_str().unwrap_or("")
}

fn list(v: &Value) -> &[Value] {
    v.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn decoded(v: &Value) -> Vec<u8> {
    base64::engine::general_purpose::STANDARD.decode(text(v)).unwrap_or_default()
}

impl View {
    fn print(&mut self, what: &str) {
        let line = std::mem::take(&mut self.line);
        for text in [if line.is_empty() { line } else { format!("agent: {}", line.trim()) }, what.to_owned()] {
            if !text.is_empty() {
                println!("{}", text.trim().replace('\n', "\n       "));
            }
        }
    }

    fn who(&self, id: &str) -> &'static str {
        if id == self.session { "" } else { "child: " }
    }

    fn message(&mut self, id: &str, u: &Value, name: &str) {
        let said: String = list(&u["content"]).iter().map(|b| text(&b["text"])).collect();
        if !said.is_empty() {
            self.print(&format!("{}{name}: {said}", self.who(id)));
        }
    }

    /// Notes a change of a call, prints its end, and reports whether it runs now.
    fn tool_call(&mut self, id: &str, u: &Value) -> bool {
        let call = self.calls.entry(text(&u["toolCallId"]).to_owned()).or_default();
        for (key, value) in u.as_object().into_iter().flatten() {
            call.insert(key.clone(), value.clone());
        }
        let call = Value::Object(call.clone());
        if !["completed", "failed", "cancelled"].contains(&text(&u["status"])) {
            return text(&u["status"]) == "in_progress";
        }
        let mut shown = format!("{}call: {} ({})", self.who(id), text(&call["title"]), text(&u["status"]));
        for c in list(&call["content"]) {
            for change in list(&c["changes"]) {
                shown += &format!("\n{} {}", text(&change["operation"]), &text(&change["path"])[self.cwd.len() + 1..]);
            }
            if c["type"] == "terminal" {
                let output = self.terminals.get(text(&c["terminalId"])).cloned().unwrap_or_default();
                shown += &format!("\n{}", String::from_utf8_lossy(&output).trim());
            }
        }
        self.print(&shown);
        false
    }

    fn update(&mut self, p: &Value) -> Seen {
        let (id, u) = (text(&p["sessionId"]), &p["update"]);
        let terminal = text(&u["terminalId"]).to_owned();
        match text(&u["sessionUpdate"]) {
            "user_message" => self.message(id, u, "user"),
            "agent_message" => self.message(id, u, "agent"),
            "agent_message_chunk" if id == self.session => self.line += text(&u["content"]["text"]),
            "tool_call_update" => return if self.tool_call(id, u) { Seen::Runs } else { Seen::Nothing },
            "terminal_update" => {
                let output = self.terminals.entry(terminal).or_default();
                if u["output"].is_object() {
                    *output = decoded(&u["output"]["data"]);
                }
            }
            "terminal_output_chunk" => self.terminals.entry(terminal).or_default().extend(decoded(&u["data"])),
            "subagent_update" if u["state"].is_object() => {
                let state = &u["state"];
                self.print(&format!("child {}: {} {}", text(&u["title"]), text(&state["state"]), text(&state["stopReason"])));
            }
            "replay_complete" => self.print(&format!("{}replayed", self.who(id))),
            "state_update" if id == self.session => {
                let running: Vec<String> = list(&u["background"]).iter().map(|b| text(&b["terminalId"]).to_owned()).collect();
                if running.len() != self.background.len() {
                    self.print(&format!("background: {}", running.len()));
                }
                self.background = running;
                if u["state"] != "idle" {
                    return Seen::Nothing;
                }
                self.print(&format!("idle: {}", u["stopReason"].as_str().unwrap_or("no work")));
                return Seen::Idle;
            }
            _ => {}
        }
        Seen::Nothing
    }

    fn asked(&mut self, p: &Value, reply: &UnboundedSender<String>) {
        let empty = Value::Null;
        let option = list(&p["options"]).iter().find(|o| o["kind"] == self.answer.as_str()).unwrap_or(&empty);
        let question = format!("{}question: {}", self.who(text(&p["sessionId"])), text(&p["title"]));
        self.print(&question);
        self.print(&format!("answer: {}", text(&option["name"])));
        let _ = reply.send(text(&option["optionId"]).to_owned());
    }
}

#[derive(PartialEq)]
enum Seen {
    Nothing,
    Runs,
    Idle,
}

/// Shows events until the session is idle. `runs` is called when a tool call runs.
async fn until_idle(view: &Rc<RefCell<View>>, events: &mut UnboundedReceiver<Event>, mut runs: impl FnMut() -> Result<(), Error>) -> Result<(), Error> {
    loop {
        match events.recv().await.ok_or_else(Error::internal_error)? {
            Event::Asked(p, reply) => view.borrow_mut().asked(&p, &reply),
            Event::Update(p) => match view.borrow_mut().update(&p) {
                Seen::Idle => return Ok(()),
                Seen::Runs => runs()?,
                Seen::Nothing => {}
            },
        }
    }
}

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let args: Vec<String> = std::env::args().collect();
    let (binary, cwd, steps) = (args[1].clone(), args[2].clone(), serde_json::from_str::<Vec<Value>>(&args[3])?);
    let agent: AcpAgent = json!({"command": binary, "args": ["serve", "--protocol", "v2"]}).to_string().parse()?;
    let (updates, mut events) = unbounded_channel();
    let questions = updates.clone();
    Client
        .v2()
        .name("sdk-client")
        .on_receive_notification(
            async move |n: schema::UpdateSessionNotification, _: ConnectionTo<Agent>| {
                let value = serde_json::to_value(&n).map_err(Error::into_internal_error)?;
                updates.send(Event::Update(value)).map_err(Error::into_internal_error)
            },
            agent_client_protocol::on_receive_notification!(),
        )
        .on_receive_request(
            async move |r: schema::RequestPermissionRequest, responder: Responder<schema::RequestPermissionResponse>, connection: ConnectionTo<Agent>| {
                let value = serde_json::to_value(&r).map_err(Error::into_internal_error)?;
                let (reply, mut chosen) = unbounded_channel();
                questions.send(Event::Asked(value, reply)).map_err(Error::into_internal_error)?;
                connection.spawn(async move {
                    let option = chosen.recv().await.ok_or_else(Error::internal_error)?;
                    responder.respond(schema::RequestPermissionResponse::new(schema::RequestPermissionOutcome::Selected(
                        schema::SelectedPermissionOutcome::new(option),
                    )))
                })
            },
            agent_client_protocol::on_receive_request!(),
        )
        .connect_with(agent, async move |connection| {
            let initialize = schema::InitializeRequest::new(ProtocolVersion::V2, schema::Implementation::new("sdk-client", "1"));
            let can = connection.send_request(initialize).block_task().await?;
            println!("version: {}", serde_json::to_value(&can).map_err(Error::into_internal_error)?["protocolVersion"]);
            let mut session = connection.build_session(&cwd).start_session().block_task().await?.session;
            let view = Rc::new(RefCell::new(View { cwd: cwd.clone(), answer: "allow_once".into(), ..View::default() }));
            view.borrow_mut().session = session.session_id().to_string();
            for step in steps {
                if let Some(answer) = step["answer"].as_str() {
                    view.borrow_mut().answer = answer.to_owned();
                }
                if step["stop"] == true {
                    let running = view.borrow().background.clone();
                    for terminal in running {
                        let request = schema::CancelTerminalRequest::new(session.session_id().clone(), terminal);
                        connection.send_request(request).block_task().await?;
                    }
                    until_idle(&view, &mut events, || Ok(())).await?;
                }
                if step["resume"] == true {
                    session.close().block_task().await?;
                    let request = schema::ResumeSessionRequest::new(session.session_id().clone(), Path::new(&cwd))
                        .replay_from(schema::ReplayFrom::Start(schema::ReplayFromStart::new()));
                    session = connection.resume_session_from(request).start_session().block_task().await?.session;
                    until_idle(&view, &mut events, || Ok(())).await?;
                    view.borrow_mut().print("resumed");
                }
                if let Some(prompt) = step["prompt"].as_str() {
                    let first = session.send_prompt(prompt);
                    let mut second = None;
                    let mut acted = false;
                    until_idle(&view, &mut events, || {
                        if std::mem::replace(&mut acted, true) {
                            return Ok(());
                        }
                        if step["cancel"] == true {
                            session.cancel_active_work()?;
                        }
                        if let Some(steer) = step["steer"].as_str() {
                            second = Some(session.send_prompt(steer));
                            std::fs::write(Path::new(&cwd).join("steered"), "").map_err(Error::into_internal_error)?;
                        }
                        Ok(())
                    })
                    .await?;
                    first.block_task().await?;
                    if let Some(second) = second {
                        second.block_task().await?;
                    }
                }
            }
            Ok(())
        })
        .await?;
    Ok(())
}
