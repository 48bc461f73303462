import { expect, test } from "bun:test";
import { mailWorld } from "../../../testkit/mail-world.ts";
import { readLogs } from "./logs.ts";

test("a log shows a denial after the call that was denied, and a turn's last word only when it failed", async () => {
  await using world = await mailWorld();
  await world.seat("ann", { worktreePath: "/w" });
  const event = (type: string, data: object) =>
    ({ agentName: "ann", source: "agent", type, data, createdAt: 1 }) as const;
  await world.store.transaction((tx) =>
    tx.events.append([
      // The hook writes at once; the call itself is read from the output a moment later.
      event("guard_denied", { id: "t1", tool: "Bash", rule: "git-push" }),
      event("tool_start", { id: "t1", tool: "Bash", input: { command: "git push" } }),
      event("tool_end", { id: "t1", failed: true }),
      event("progress", { text: "All done." }),
      event("result", { cause: "completed", text: "All done." }),
      event("result", { cause: "login", text: "Invalid API key" }),
    ]),
  );
  const { lines } = await world.must(readLogs, { name: "ann", lines: 20 });
  expect(lines.map(({ text }) => text)).toEqual([
    "> Bash: git push",
    "! Bash was denied (git-push)",
    "! the tool failed",
    "All done.",
    "! Invalid API key",
  ]);
});
