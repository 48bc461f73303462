import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { setConfigValue, unsetConfigValue } from "./edit.ts";
import { dataOf } from "./tree.ts";
import { parseYaml } from "./yaml.ts";

async function set(text: string, key: string, value: string): Promise<string> {
  const result = await setConfigValue(text, key, value);
  if (!result.ok) throw new Error(JSON.stringify(result.refusal));
  return result.value;
}

async function refusal(text: string, key: string, value: string) {
  const result = await setConfigValue(text, key, value);
  return result.ok ? [] : result.refusal;
}

const written = `# our team
agents:   # keep it small
    # how many at once
    maxConcurrent:   3     # was 5

    maxDepth: 2

merge:
  # nothing decided yet
runtime: {capabilities: {lead: claude}}
`;

describe("setting a value leaves the rest of the text as it was", () => {
  test("a value that is there is replaced in its place", async () => {
    expect(await set(written, "agents.maxConcurrent", "8")).toBe(written.replace("  3  ", "  8  "));
  });

  test("a new key goes below its section's header, so that comments stay with their keys", async () => {
    const expected = written.replace("small\n", "small\n    maxRevivals: 1\n");
    expect(await set(written, "agents.maxRevivals", "1")).toBe(expected);
  });

  test("a section that holds only comments is filled", async () => {
    expect(await set(written, "merge.mode", "manual")).toBe(written.replace("merge:\n", "merge:\n  mode: manual\n"));
  });

  test("a new section goes to the end", async () => {
    expect(await set(written, "mail.rateLimits.perMinute", "9")).toBe(
      `${written}mail:\n  rateLimits:\n    perMinute: 9\n`,
    );
    expect(await set("", "merge.promote", "auto")).toBe("merge:\n  promote: auto\n");
    expect(await set("# nothing yet", "merge.promote", "auto")).toBe("# nothing yet\nmerge:\n  promote: auto\n");
  });

  test("line ends stay what they are", async () => {
    expect(await set("agents:\r\n  maxDepth: 1\r\n", "agents.maxRevivals", "2")).toBe(
      "agents:\r\n  maxRevivals: 2\r\n  maxDepth: 1\r\n",
    );
  });

  test("a list on one line is replaced in its place", async () => {
    expect(await set("merge:\n  keepIgnored: [a]  # why\n", "merge.keepIgnored", "b,c")).toBe(
      'merge:\n  keepIgnored: ["b","c"]  # why\n',
    );
  });
});

test("a list over several lines is replaced, and comments elsewhere survive", async () => {
  const edited = await set(
    "# top\nmerge:\n  keepIgnored:\n    - a\n    - b\n  # mode\n  mode: auto # yes\n",
    "merge.keepIgnored",
    "c",
  );
  expect(dataOf(parseYaml(edited).tree!)).toEqual({ merge: { keepIgnored: ["c"], mode: "auto" } });
  for (const comment of ["# top", "# mode", "# yes"]) expect(edited).toContain(comment);
});

test("a key inside braces is set too", async () => {
  const edited = await set(written, "runtime.capabilities.builder", "scripted");
  expect(dataOf(parseYaml(edited).tree!)).toMatchObject({
    runtime: { capabilities: { lead: "claude", builder: "scripted" } },
  });
  expect(edited).toContain("# how many at once");
});

test("names with dots of their own are set as one name", async () => {
  const edited = await set("", "runtime.capabilities.gpt-4.1", "openai/gpt-4.1");
  expect(dataOf(parseYaml(edited).tree!)).toEqual({ runtime: { capabilities: { "gpt-4.1": "openai/gpt-4.1" } } });
});

test("texts that YAML would read as something else are quoted", async () => {
  for (const name of [
    "true",
    "7",
    "a: b",
    "# c",
    "~",
    "null",
    "yes",
    "it's",
    "- x",
    '"',
    "x #y",
    "1e3",
    "*a",
    "&a",
    "!t",
    "%",
  ]) {
    const edited = await set("project:\n  name: old # note\n", "project.name", name);
    expect(dataOf(parseYaml(edited).tree!)).toEqual({ project: { name } });
    expect(edited).toContain("# note");
  }
});

test("any name survives being set, with its neighbours untouched", async () => {
  const names = fc
    .string({ unit: "grapheme", minLength: 1 })
    .filter((name) => name.trim() !== "" && !/\p{Cc}/u.test(name));
  await fc.assert(
    fc.asyncProperty(names, async (name) => {
      const edited = await set("project:\n  name: old\n  # b\n  canonicalBranch: dev\n", "project.name", name);
      expect(dataOf(parseYaml(edited).tree!)).toEqual({ project: { name, canonicalBranch: "dev" } });
    }),
  );
}, 60_000);

test("a value that does not fit is refused with the reason", async () => {
  expect(await refusal(written, "agents.maxConcurrent", "0")).toMatchObject([
    { key: "agents.maxConcurrent", message: "must be a whole number of at least 1, not 0" },
  ]);
  expect(await refusal(written, "merge.promote", "atuo")).toMatchObject([{ nearest: "auto" }]);
  expect(await refusal(written, "project.qualityGates", '[{"name":"x"}]')).toMatchObject([
    { key: "project.qualityGates[0].command", message: "is missing" },
  ]);
});

test("a gate is written as it was typed, without the fields that have defaults", async () => {
  const typed = '[{"name":"t","command":"make","timeoutMs":9,"required":true}]';
  const edited = await set("", "project.qualityGates", typed);
  expect(dataOf(parseYaml(edited).tree!)).toEqual({
    project: { qualityGates: [{ name: "t", command: "make", timeoutMs: 9 }] },
  });
});

test("an unknown key is refused with the nearest one", async () => {
  expect(await refusal(written, "agents.maxConcurent", "3")).toMatchObject([{ nearest: "agents.maxConcurrent" }]);
  expect(await refusal(written, "runtime.capabilities.__proto__", "claude")).toHaveLength(1);
  expect(await refusal(written, "logging.verbose", "true")).toMatchObject([
    { message: "is not used by this version: it waits for settings of logs" },
  ]);
});

test("a value that breaks a rule about several keys is refused", async () => {
  expect(await refusal("", "watchdog.staleThresholdMs", "900000")).toMatchObject([
    { key: "watchdog.zombieThresholdMs" },
  ]);
});

test("a fault that was there before does not stand in the way", async () => {
  const edited = await set("agents:\n  maxDepth: deep\n", "agents.maxRevivals", "1");
  expect(await set(edited, "agents.maxDepth", "1")).toBe("agents:\n  maxRevivals: 1\n  maxDepth: 1\n");
});

test("a file that cannot be read as YAML is not edited", async () => {
  expect(await refusal("agents: [\n", "agents.maxDepth", "1")).toMatchObject([{ key: "", line: 2 }]);
});

test("nothing is done when the edit would change what another key means", async () => {
  const tied = "agents:\n  maxDepth: &n 3\n  maxRevivals: *n\n";
  expect(await set(tied, "agents.maxRevivals", "4")).toBe("agents:\n  maxDepth: &n 3\n  maxRevivals: 4\n");
  expect(await refusal(tied, "agents.maxDepth", "4")).toMatchObject([{ message: expect.stringContaining("by hand") }]);
  const old = "watchdog:\n  tier1Enabled: true\n  tier1IntervalMs: 40000\n";
  expect(await refusal(old, "watchdog.tier0Enabled", "false")).toMatchObject([
    { message: expect.stringContaining("by hand") },
  ]);
  expect(await refusal("agents: 5\n", "agents.maxDepth", "1")).toHaveLength(1);
});

async function unset(text: string, key: string): Promise<string> {
  const result = await unsetConfigValue(text, key);
  if (!result.ok) throw new Error(JSON.stringify(result.refusal));
  return result.value;
}

describe("removing a value leaves the rest of the text as it was", () => {
  test("its lines go, and the comment above it stays", async () => {
    expect(await unset(written, "agents.maxConcurrent")).toBe(
      written.replace("    maxConcurrent:   3     # was 5\n", ""),
    );
    expect(await unset(written, "agents.maxDepth")).toBe(written.replace("    maxDepth: 2\n", ""));
  });

  test("a header that would have nothing below it goes too, unless a comment is there", async () => {
    const added = await set(written, "mail.rateLimits.perMinute", "9");
    expect(await unset(added, "mail.rateLimits.perMinute")).toBe(written);
    const noted = "mail:\n  # why\n  coalesceMs: 5\n";
    expect(await unset(noted, "mail.coalesceMs")).toBe("mail:\n  # why\n");
  });

  test("a value over several lines goes as a whole, with what follows it left alone", async () => {
    const text = 'project:\n  qualityGates:\n    - name: Tests\n      command: "make"\n  # the name\n  name: garden\n';
    expect(await unset(text, "project.qualityGates")).toBe("project:\n  # the name\n  name: garden\n");
  });

  test("a value in braces goes out of them", async () => {
    const left = await unset("runtime: {default: codex, capabilities: {lead: claude}} # ours\n", "runtime.default");
    expect(left).toContain("# ours");
    expect(dataOf(parseYaml(left).tree ?? { kind: "leaf", value: null, line: 0, column: 0, start: 0, end: 0 })).toEqual(
      {
        runtime: { capabilities: { lead: "claude" } },
      },
    );
  });

  test("what is not there changes nothing, and an unknown key is refused with the nearest one", async () => {
    expect(await unset(written, "merge.mode")).toBe(written);
    expect(await unset("", "merge.mode")).toBe("");
    const refused = await unsetConfigValue(written, "agents.maxDept");
    expect(refused).toMatchObject({ ok: false, refusal: [{ nearest: "agents.maxDepth" }] });
  });

  test("a key under an older name is not removed behind its back", async () => {
    const refused = await unsetConfigValue("beads:\n  enabled: true\n", "taskTracker.backend");
    expect(refused).toMatchObject({ ok: false, refusal: [{ message: expect.stringContaining("by hand") }] });
  });

  test("line ends stay what they are", async () => {
    expect(await unset("agents:\r\n  maxRevivals: 2\r\n  maxDepth: 1\r\n", "agents.maxDepth")).toBe(
      "agents:\r\n  maxRevivals: 2\r\n",
    );
  });

  test("whatever is set and removed again leaves the text that was there", async () => {
    const keys = ["agents.maxRevivals", "mail.coalesceMs", "turn.maxDenials", "budgets.run.tokens", "merge.batchSize"];
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...keys), fc.integer({ min: 1, max: 9 }), async (key, value) => {
        expect(await unset(await set(written, key, String(value)), key)).toBe(written);
      }),
    );
  });
});

test("a key that resembles no other is refused with the command that lists the keys", async () => {
  const refused = await setConfigValue("", "nope.x", "1");
  expect(refused).toMatchObject({ refusal: [{ message: "is not a known key; see them all with: ov config list" }] });
});
