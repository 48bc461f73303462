import { appendFileSync } from "node:fs";
import { createInterface } from "node:readline";

/** An MCP server with one tool, `note`, which writes what it is given to the file that the argument names. */
const file = process.argv[2] ?? "";
const schema = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const tool = { name: "note", description: "Notes a text.", inputSchema: schema };

createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const answer = resultOf(method, params);
  const outcome = answer === undefined ? { error: { code: -32601, message: `no ${method} here` } } : { result: answer };
  process.stdout.write(`${JSON.stringify({ jsonrpc: "2.0", id, ...outcome })}\n`);
});

function resultOf(method: string, params: { protocolVersion?: string; arguments?: { text: string } }): unknown {
  switch (method) {
    case "initialize":
      return {
        protocolVersion: params.protocolVersion,
        capabilities: { tools: {} },
        serverInfo: { name: "notes", version: "1" },
      };
    case "tools/list":
      return { tools: [tool] };
    case "tools/call":
      appendFileSync(file, `${params.arguments?.text}\n`);
      return { content: [{ type: "text", text: `Noted: ${params.arguments?.text}` }] };
    default:
      return undefined;
  }
}
