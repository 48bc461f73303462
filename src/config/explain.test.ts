import { expect, test } from "bun:test";
import { loadedConfig as load } from "../../testkit/loaded-config.ts";
import { variableFor } from "./environment.ts";
import { configKeys, explain, listConfig } from "./explain.ts";
import { knownKeys } from "./keys.ts";

test("a key is explained with its meaning, range, value, and the line that set it", async () => {
  const loaded = await load("watchdog:\n  maxEscalationLevel: 4\n");
  expect(explain("watchdog.maxEscalationLevel", loaded)).toMatchObject({
    ok: true,
    value: {
      type: "integer",
      takes: "a whole number from 1 to 5",
      min: 1,
      max: 5,
      default: 3,
      value: 4,
      origin: { layer: "project", line: 2, column: 23, file: expect.stringContaining("config.yaml") },
      variable: "OVERSTORY__WATCHDOG__MAX_ESCALATION_LEVEL",
    },
  });
});

test("a key nobody set is explained by its default", async () => {
  expect(explain("merge.promote", await load(""))).toMatchObject({
    value: { value: "ask", choices: ["ask", "auto"], origin: { layer: "default" } },
  });
});

test("names the user chose are explained like keys", async () => {
  const loaded = await load("runtime: {capabilities: {builder: scripted}}\n");
  const explained = (name: string) => explain(`runtime.capabilities.${name}`, loaded);
  expect(explained("builder")).toMatchObject({ value: { value: "scripted", origin: { line: 1 } } });
  expect(explained("scout")).toMatchObject({ value: { value: undefined, origin: { layer: "default" } } });
});

test("a key that no part of this version uses is refused with what it waits for", async () => {
  for (const key of ["logging.verbose", "mulch.enabled"]) {
    const answer = explain(key, await load(""));
    expect(answer).toMatchObject({ ok: false, refusal: { problem: expect.stringContaining("it waits for") } });
  }
});

test("an unknown key is refused with the nearest one", async () => {
  const answer = explain("agent.maxDepth", await load(""));
  expect(answer).toMatchObject({ ok: false, refusal: { kind: "invalid", nearest: "agents.maxDepth" } });
});

test("the list shows every key once, names as they are in use", async () => {
  const loaded = await load("runtime: {capabilities: {builder: scripted}}\nmulch: {enabled: true}\n");
  const keys = listConfig(loaded).map(({ key }) => key);
  expect(keys).toContain("runtime.capabilities.builder");
  expect(keys).not.toContain("mulch.enabled");
  expect(new Set(keys).size).toBe(keys.length);
  for (const key of configKeys()) if (!key.includes("*")) expect(keys).toContain(key);
  expect(listConfig(loaded, "mail.rateLimits").map(({ key }) => key)).toEqual([
    "mail.rateLimits.perMinute",
    "mail.rateLimits.broadcastPerMinute",
  ]);
});

test("the variable named for a key is the one that sets it", async () => {
  for (const { parts, spec } of knownKeys) {
    const path = parts.map((part) => (part === "*" ? "builder" : part));
    const typed = {
      integer: "x",
      number: "x",
      boolean: "x",
      choice: "x",
      text: "\u0007",
      "list of text": "[",
      "list of records": "x",
    }[spec.type];
    const { problems } = await load("", { [variableFor(path)]: typed });
    expect(problems.map((problem) => problem.key)).toEqual([path.join(".")]);
  }
}, 60_000);

test("the name of a section is refused with a key of that section", async () => {
  const answer = explain("project", await load(""));
  expect(answer).toMatchObject({ ok: false, refusal: { kind: "invalid", nearest: "project.name" } });
});
