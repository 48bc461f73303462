import { expect, test } from "bun:test";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import { StdioClientTransport } from "@modelcontextprotocol/sdk/client/stdio.js";
import { markedCommand, markOfToken } from "../../testkit/marked.ts";
import { ovBinary } from "../../testkit/ov.ts";
import { makeProject } from "../../testkit/project.ts";
import { seat } from "./mcp.world.ts";

test("a program that would show its model the data instead of the text gets the text alone", async () => {
  await using project = await makeProject();
  const { token } = await seat(project, "b1", "builder");
  await project.json("mail", "send", "--to", "b1", "--subject", "Name", "--body", "call it new.txt", "--no-wake");
  const mark = await project.read((tx) => markOfToken(tx, token));
  const [command = "", ...args] = markedCommand(mark ?? 0, [ovBinary(), "mcp"]);
  const answerTo = async (name: string, tool: string) => {
    const env = { ...project.env, OVERSTORY_PROJECT_ROOT: project.root, OVERSTORY_TOKEN: token };
    const client = new Client({ name, version: "1" });
    await client.connect(new StdioClientTransport({ command, args, cwd: project.root, env }));
    try {
      return await client.callTool({ name: tool, arguments: {} });
    } finally {
      await client.close();
    }
  };
  const plain = await answerTo("claude-code", "inbox");
  expect(plain.content).toMatchObject([{ type: "text", text: expect.stringContaining("| call it new.txt") }]);
  expect(plain).not.toHaveProperty("structuredContent");
  const refused = await answerTo("claude-code", "spawn");
  expect(refused).toMatchObject({ isError: true });
  expect(refused).not.toHaveProperty("structuredContent");
  expect(await answerTo("another", "inbox")).toHaveProperty("structuredContent");
});
