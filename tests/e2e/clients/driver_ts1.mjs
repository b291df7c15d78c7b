// A client program on `@modelcontextprotocol/sdk` 1.x, which knows only the handshake era. Started by `driver.py`.
import { emit, load, main, serverParameters } from "./driver_node.mjs";

const { Client } = load("@modelcontextprotocol/sdk/client/index.js");
const { StdioClientTransport } = load("@modelcontextprotocol/sdk/client/stdio.js");
const { StreamableHTTPClientTransport } = load("@modelcontextprotocol/sdk/client/streamableHttp.js");
const {
  ElicitRequestSchema,
  LoggingMessageNotificationSchema,
  McpError,
  ToolListChangedNotificationSchema,
} = load("@modelcontextprotocol/sdk/types.js");

const INTERNAL_ERROR = -32603;

function register(client, declared, answer) {
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => emit("tools_changed"));
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => emit("log", { params }));
  client.onclose = () => emit("closed", { error: null });
  client.onerror = (error) => console.error(String(error));
  if (declared === null) return;
  client.setRequestHandler(ElicitRequestSchema, async ({ params }, { signal }) => {
    const { action, content, message } = await answer(params, signal);
    if (action === "error") throw new McpError(INTERNAL_ERROR, message);
    return content == null ? { action } : { action, content };
  });
}

async function allTools(client) {
  const tools = [];
  let cursor;
  do {
    const page = await client.listTools(cursor === undefined ? undefined : { cursor });
    tools.push(...page.tools);
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  return tools;
}

// The negotiated version is told to transports alone.
function rememberVersion(transport) {
  const tell = transport.setProtocolVersion?.bind(transport);
  transport.setProtocolVersion = (version) => {
    transport.negotiated = version;
    tell?.(version);
  };
  return transport;
}

function transportTo(server) {
  if (server.url === undefined) return new StdioClientTransport(serverParameters(server));
  return new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers } });
}

main(async ({ server, client: info, mode, elicitation }, answer) => {
  if (mode !== "legacy") throw new Error("the 1.x SDK has no mode but 'legacy'");
  const client = new Client(info, { capabilities: elicitation === null ? {} : { elicitation } });
  register(client, elicitation, answer);
  const transport = rememberVersion(transportTo(server));
  await client.connect(transport);
  return {
    describe: () => ({
      protocolVersion: transport.negotiated,
      serverInfo: client.getServerVersion(),
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions() ?? null,
    }),
    listTools: () => allTools(client),
    watchTools: () => null, // the handshake era sends changes unasked
    call: ({ name, arguments: args, meta }, options) =>
      client.callTool({ name, arguments: args, ...(meta && { _meta: meta }) }, undefined, options),
    close: () => client.close(),
  };
});
