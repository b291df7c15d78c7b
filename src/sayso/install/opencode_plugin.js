// {mark}
// Brings the prompts of opencode into your inbox as well. The first answer counts, here or there.
import { spawn } from "node:child_process"

const GATE = {program}
const OWN_ANSWER = 150 // ms in which opencode may answer by itself, as `opencode run` does
const LOOKS = 20

export const Sayso = async ({ client, directory }) => {
  const prompts = new Map() // the open ones, by their ids: of which session, and their gates once they have started

  // The use of a tool that a prompt is about. Its input is empty while opencode still reads it from the model.
  const use = async ({ sessionID, tool }) => {
    for (let look = 0; look < LOOKS; look++) {
      const found = await client.session.message({ path: { id: sessionID, messageID: tool.messageID } })
      const part = found.data?.parts?.find((one) => one.type === "tool" && one.callID === tool.callID)
      if (part && part.state.status !== "pending") return { tool: part.tool, input: part.state.input }
      await new Promise((done) => setTimeout(done, OWN_ANSWER))
    }
    return null
  }

  const send = async (kind, id, said) => {
    const { to, body } = JSON.parse(said)
    const headers = { "Content-Type": "application/json" }
    await client._client.post({ url: `/${kind}/{id}/${to}`, path: { id }, body, headers })
  }

  const begin = async (kind, event) => {
    const { id, tool, sessionID: session } = event.properties
    prompts.set(id, { session })
    await new Promise((done) => setTimeout(done, OWN_ANSWER))
    if (!prompts.has(id)) return
    const asked = { ...event, directory, use: kind === "permission" && tool ? await use(event.properties) : null }
    if (!prompts.has(id)) return
    // Detached, so that the end of the terminal is not taken for an answer in it. The gate sees when opencode ends.
    const gate = spawn(GATE[0], GATE.slice(1), { cwd: directory, stdio: ["pipe", "pipe", "ignore"], detached: true })
    let said = ""
    prompts.set(id, { session, gate })
    gate.on("error", () => prompts.delete(id))
    gate.stdin.on("error", () => {})
    gate.stdout.setEncoding("utf8").on("data", (text) => (said += text))
    gate.on("close", () => {
      // What a gate leaves unsaid, or half said, is no decision.
      if (prompts.delete(id) && said) send(kind, id, said).catch(() => {})
    })
    gate.stdin.end(JSON.stringify(asked))
  }

  const end = (id, signal) => {
    const prompt = prompts.get(id)
    prompts.delete(id)
    prompt?.gate?.kill(signal)
  }

  const endAll = (session) => {
    for (const [id, prompt] of prompts) if (prompt.session === session) end(id, "SIGTERM")
  }

  return {
    event: async ({ event }) => {
      const { id, requestID, reply: said, sessionID } = event.properties ?? {}
      const [kind, what] = event.type.split(".")
      // A session that is at rest, or gone, asks nothing any more.
      if (event.type === "session.idle" || event.type === "session.error") endAll(sessionID)
      if (kind !== "permission" && kind !== "question") return
      // Nothing here is waited for: what is asked must not hold up what else happens.
      if (what === "asked" && !prompts.has(id)) begin(kind, event).catch(() => prompts.delete(id))
      if (what === "replied") end(requestID, said === "reject" ? "SIGTERM" : "SIGUSR1")
      if (what === "rejected") end(requestID, "SIGTERM")
    },
  }
}
