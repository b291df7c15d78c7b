// What the two Node driver programs share: commands in and events out as lines of JSON, forms, calls in flight.
// It knows no MCP library; a driver program brings its own as functions on a connected client.
import { openSync } from "node:fs";
import { createRequire } from "node:module";
import { createInterface } from "node:readline";

// The library lives in the folder the test names, not beside this file.
export const load = createRequire(`${process.argv[2]}/package.json`);

export function emit(event, fields = {}) {
  process.stdout.write(JSON.stringify({ event, ...fields }) + "\n");
}

function explained(failure) {
  return { code: failure?.code ?? null, message: String(failure?.message ?? failure), data: failure?.data ?? null };
}

export function serverParameters({ command, args, env, cwd, stderr }) {
  return { command, args, env, cwd, stderr: openSync(stderr, "a") };
}

export function requestOptions(command, signal) {
  const options = { signal };
  if (command.timeout_ms != null) options.timeout = command.timeout_ms;
  if (command.extend_on_progress) options.resetTimeoutOnProgress = true;
  if (command.progress) options.onprogress = (progress) => emit("progress", { id: command.id, ...progress });
  return options;
}

class Forms {
  #replies = [];
  #default = { action: "decline" };
  #held = new Map();
  #count = 0;

  take({ replies, default_reply }) {
    this.#replies = [...replies];
    this.#default = default_reply;
  }

  release({ form, reply }) {
    this.#held.get(form)(reply);
  }

  // The reply to one form: the next in the queue, or the default; held until the test says so.
  async answer(params, signal) {
    const form = `form-${++this.#count}`;
    const next = this.#replies.shift() ?? this.#default;
    const reply = new Promise((resolve) => {
      this.#held.set(form, resolve);
      if (next.action !== "hold") resolve(next);
    });
    const withdrawn = new Promise((_, reject) => {
      signal.addEventListener("abort", () => reject(signal.reason ?? new Error("withdrawn")), { once: true });
    });
    emit("elicitation", { form, params });
    try {
      return await Promise.race([reply.then(later), withdrawn]);
    } catch (reason) {
      emit("withdrawn", { form });
      throw reason;
    }
  }
}

async function later(reply) {
  if (reply.after_ms) await new Promise((resolve) => setTimeout(resolve, reply.after_ms));
  return reply;
}

// `connect(command, answer)` gives { describe, listTools, watchTools, call, close }, and calls `emit("closed")` itself.
export function main(connect) {
  const forms = new Forms();
  const calls = new Map();
  let session;

  const commands = {
    async connect(command) {
      forms.take(command);
      session = await connect(command, (params, signal) => forms.answer(params, signal));
      return session.describe();
    },
    list_tools: () => session.listTools(),
    watch_tools: () => session.watchTools(),
    async call(command) {
      const abort = new AbortController();
      calls.set(command.id, abort);
      return session.call(command, requestOptions(command, abort.signal));
    },
    cancel: ({ key }) => calls.get(key).abort(new Error("cancelled by the test")),
    replies: (command) => forms.take(command),
    reply: (command) => forms.release(command),
    close: () => session.close(),
  };

  async function carryOut(command) {
    try {
      const value = await commands[command.do](command);
      emit("done", { id: command.id, value: value ?? null });
    } catch (failure) {
      const cancelled = calls.get(command.id)?.signal.aborted ?? false;
      emit("failed", { id: command.id, cancelled, error: explained(failure) });
    }
  }

  const lines = createInterface({ input: process.stdin });
  lines.on("line", (line) => carryOut(JSON.parse(line)));
  lines.on("close", () => process.exit(0));
}
