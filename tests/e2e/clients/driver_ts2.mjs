// A client program on `@modelcontextprotocol/client` 2.x, in `auto` or `legacy` mode, or offering one older
// protocol version. Started by `driver.py`.
import { emit, load, main, serverParameters } from "./driver_node.mjs";

const { Client, LOG_LEVEL_META_KEY, ProtocolError, ProtocolErrorCode, StreamableHTTPClientTransport } = load(
  "@modelcontextprotocol/client",
);
const { StdioClientTransport } = load("@modelcontextprotocol/client/stdio");

function negotiation(mode) {
  if (mode === "auto" || mode === "legacy") return { versionNegotiation: { mode } };
  return { supportedProtocolVersions: [mode] };
}

function register(client, declared, answer) {
  client.setNotificationHandler("notifications/tools/list_changed", () => emit("tools_changed"));
  client.setNotificationHandler("notifications/message", ({ params }) => emit("log", { params }));
  client.onclose = () => emit("closed", { error: null });
  client.onerror = (error) => console.error(String(error));
  if (declared === null) return;
  client.setRequestHandler("elicitation/create", async ({ params }, { mcpReq }) => {
    const { action, content, message } = await answer(params, mcpReq.signal);
    if (action === "error") throw new ProtocolError(ProtocolErrorCode.InternalError, message);
    return content == null ? { action } : { action, content };
  });
}

function transportTo(server) {
  if (server.url === undefined) return new StdioClientTransport(serverParameters(server));
  return new StreamableHTTPClientTransport(new URL(server.url), { requestInit: { headers: server.headers } });
}

main(async ({ server, client: info, mode, elicitation, log_level: logLevel }, answer) => {
  const capabilities = elicitation === null ? {} : { elicitation };
  const client = new Client(info, { capabilities, ...negotiation(mode) });
  register(client, elicitation, answer);
  await client.connect(transportTo(server));
  const modern = client.getProtocolEra() === "modern";
  // Here the library leaves it to the program to ask for log messages, request by request.
  const asksForLogs = modern && logLevel !== null ? { [LOG_LEVEL_META_KEY]: logLevel } : {};
  return {
    describe: () => ({
      protocolVersion: client.getNegotiatedProtocolVersion(),
      serverInfo: client.getServerVersion() ?? null,
      capabilities: client.getServerCapabilities(),
      instructions: client.getInstructions() ?? null,
    }),
    listTools: async () => (await client.listTools(undefined, { cacheMode: "refresh" })).tools,
    watchTools: async () => {
      if (modern) await client.listen({ toolsListChanged: true });
    },
    call: ({ name, arguments: args, meta }, options) =>
      client.callTool({ name, arguments: args, _meta: { ...asksForLogs, ...meta } }, options),
    close: () => client.close(),
  };
});
