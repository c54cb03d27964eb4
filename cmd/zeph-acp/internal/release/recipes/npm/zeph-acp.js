#!/usr/bin/env node
// Starts the binary of zeph-acp that npm installed for this system, with the same arguments,
// stdin, stdout and stderr, and exits as it does.
"use strict";
const { spawn } = require("node:child_process");

const name = `@zeph-acp/${process.platform}-${process.arch}`;
const file = process.platform === "win32" ? "zeph-acp.exe" : "zeph-acp";

function fail(cause) {
  console.error(`zeph-acp: ${cause}`);
  process.exit(1);
}

let binary;
try {
  binary = require.resolve(`${name}/${file}`);
} catch {
  fail(
    `the package ${name} is not installed. Install zeph-acp again without --omit=optional ` +
      `and --no-optional; if there is no such package for your system, see {{.Source}}#install`,
  );
}

const child = spawn(binary, process.argv.slice(2), { stdio: "inherit" });
child.on("error", (err) => fail(`starting ${binary}: ${err.message}`));

for (const signal of ["SIGINT", "SIGTERM", "SIGHUP", "SIGQUIT"]) {
  process.on(signal, () => {
    // A terminal sends its signals to both processes already.
    const typed = signal === "SIGINT" || signal === "SIGQUIT";
    if (!(typed && process.stdin.isTTY)) child.kill(signal);
  });
}

child.on("exit", (code, signal) => {
  if (signal) {
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  } else {
    process.exit(code);
  }
});
