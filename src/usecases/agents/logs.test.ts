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
      event("tool_end", {
        id: "t1",
        failed: true,
        said: "Exit code 2\n\nmake: no rule\nline 3\nline 4\nline 5\nline 6",
      }),
      event("tool_end", { id: "t2", failed: true }),
      event("turn_end", { end: { kind: "clean" }, state: "completed", outcome: "no_signal" }),
      event("turn_start", { trigger: "mail", attempt: 1, messages: 1 }),
      event("progress", { text: "All done." }),
      event("result", { cause: "completed", text: "All done." }),
      event("result", { cause: "login", text: "Invalid API key" }),
      event("turn_end", { end: { kind: "failed", reason: "it broke\nhere\nand there" }, state: "between_turns" }),
    ]),
  );
  const { lines } = await world.must(readLogs, { name: "ann", lines: 20 });
  expect(lines.map(({ text }) => text)).toEqual([
    "> Bash: git push",
    "! Bash was denied (git-push)",
    "! the tool failed: Exit code 2",
    "!   make: no rule",
    "!   line 3",
    "!   line 4",
    "!   (2 more lines)",
    "! the tool failed",
    "== turn ended; agent: ended without a report ==",
    "== turn begins: mail, 1 message ==",
    "All done.",
    "! Invalid API key",
    "== turn ended by a failure, it broke; agent: waiting ==",
    "!   here",
    "!   and there",
  ]);
});

test("a log tells in words when the conversation was made shorter, and when another model answers", async () => {
  await using world = await mailWorld();
  await world.seat("ann", { worktreePath: "/w" });
  const event = (type: string, data: object) =>
    ({ agentName: "ann", source: "agent", type, data, createdAt: 1 }) as const;
  await world.store.transaction((tx) =>
    tx.events.append([
      event("compacted", { asked: false, tokensBefore: 180_123, tokensAfter: 9_500 }),
      event("compacted", { asked: true, tokensBefore: null, tokensAfter: null }),
      event("model_changed", { from: "claude-opus-5-5", to: "claude-sonnet-5-5", why: null }),
      event("model_changed", { from: "a", to: "b", why: "the first one refused to answer" }),
    ]),
  );
  const { lines } = await world.must(readLogs, { name: "ann", lines: 20 });
  expect(lines.map(({ text }) => text)).toEqual([
    "- the conversation was compacted: 180k tokens before, 9500 tokens after",
    "- the conversation was compacted, as it was told",
    "! the model changed to claude-sonnet-5-5, before it was claude-opus-5-5",
    "! the model changed to b, before it was a, the first one refused to answer",
  ]);
});

test("a log shows events of kinds that only a newer version knows, whatever they hold", async () => {
  await using world = await mailWorld();
  await world.seat("ann", { worktreePath: "/w" });
  const event = (type: string, data?: unknown) =>
    ({ agentName: "ann", source: "agent", type, data, createdAt: 1 }) as const;
  await world.store.transaction((tx) =>
    tx.events.append([
      event("quota_borrowed", { from: "bob", tokens: 5 }),
      event("constructor"),
      event("screen_seen", { text: "x".repeat(900) }),
      event("turn_stop", {}),
      event("tool_start", { from: "a version with other fields" }),
    ]),
  );
  const { lines } = await world.must(readLogs, { name: "ann", lines: 20 });
  expect(lines.map(({ type, text }) => [type, text])).toEqual([
    ["quota_borrowed", '? quota_borrowed: {"from":"bob","tokens":5}'],
    ["constructor", "? constructor"],
    ["screen_seen", `? screen_seen: {"text":"${"x".repeat(191)}…`],
    ["tool_start", "> "],
  ]);
});

test("page by page no line of a log is lost, also of an event that a page cuts", async () => {
  await using world = await mailWorld();
  await world.seat("ann", { worktreePath: "/w" });
  const texts = [["a1"], ["b1", "b2", "b3"], ["c1"], ["d1", "d2", "d3", "d4", "d5"], ["e1", "e2"]];
  await world.store.transaction((tx) =>
    tx.events.append(
      texts.map((lines) => ({
        agentName: "ann",
        source: "agent" as const,
        type: "progress",
        data: { text: lines.join("\n") },
        createdAt: 1,
      })),
    ),
  );
  for (const lines of [1, 2, 3, 4, 5, 100]) {
    const seen = new Set<string>();
    let before: number | null | undefined;
    let pages = 0;
    do {
      const page = await world.must(readLogs, { name: "ann", lines, ...(before == null ? {} : { before }) });
      if (pages === 0) expect(page.lines).toHaveLength(Math.min(lines, texts.flat().length));
      for (const { text } of page.lines) seen.add(text);
      before = page.older;
      pages++;
    } while (before !== null && pages < 20);
    expect([lines, [...seen].toSorted()]).toEqual([lines, texts.flat()]);
  }
});
