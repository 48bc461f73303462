import { expect, test } from "bun:test";
import { mcpServers, streamJsonArguments } from "./stream-json-launch.ts";

test("our tool server is the only one an agent gets, and its file is followed by another flag", () => {
  const nothing = { model: null, resume: null, instructions: null, tools: null, maxCostUsd: null } as const;
  const plain = streamJsonArguments(nothing, "once");
  expect(plain).toContain("--strict-mcp-config");
  expect(plain).not.toContain("--mcp-config");
  const tools = { name: "ours", command: "/ov", args: ["mcp"], env: ["OVERSTORY_TOKEN"] };
  const told = streamJsonArguments({ ...nothing, model: "m", resume: "s", instructions: "/i.md", tools }, "once");
  const at = told.indexOf("--mcp-config");
  expect(told.slice(at, at + 3)).toEqual(["--mcp-config", mcpServers(tools), "--permission-mode"]);
  expect(told).toContain("--strict-mcp-config");
  expect(JSON.parse(mcpServers(tools))).toEqual({
    mcpServers: { ours: { type: "stdio", command: "/ov", args: ["mcp"], alwaysLoad: true } },
  });
});
