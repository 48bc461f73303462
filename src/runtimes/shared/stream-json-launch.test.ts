import { expect, test } from "bun:test";
import { streamJsonArguments } from "./stream-json-launch.ts";

test("our tool server is the only one an agent gets, and its file is followed by another flag", () => {
  const plain = streamJsonArguments({ model: null, resume: null });
  expect(plain).toContain("--strict-mcp-config");
  expect(plain).not.toContain("--mcp-config");
  const told = streamJsonArguments({ model: "m", resume: "s", instructions: "/i.md", mcpConfig: "/mcp.json" });
  const at = told.indexOf("--mcp-config");
  expect(told.slice(at, at + 3)).toEqual(["--mcp-config", "/mcp.json", "--permission-mode"]);
  expect(told).toContain("--strict-mcp-config");
});
