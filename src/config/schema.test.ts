import { expect, test } from "bun:test";
import type { Settings } from "../ports/settings.ts";
import { assemble } from "./assemble.ts";
import { knownKeys } from "./keys.ts";
import { noFindings } from "./problem.ts";
import { readValue } from "./read.ts";
import { type Config, table } from "./schema.ts";
import { treeOf } from "./tree.ts";

const defaults: Config = assemble([], "garden", noFindings()).config;

test("the default configuration has every key of the table and no other", () => {
  const named = knownKeys.filter((key) => key.pattern.includes("*")).map((key) => key.pattern.split(".*")[0] ?? "");
  const plain = knownKeys.filter((key) => !key.pattern.includes("*")).map((key) => key.pattern);
  const found = [...leaves(defaults)].map(
    (key) => named.find((name) => key === name || key.startsWith(`${name}.`)) ?? key,
  );
  expect([...new Set(found)].sort()).toEqual([...new Set([...plain, ...named])].sort());
});

test("every default passes the check of its own key", () => {
  const complaints: string[] = [];
  for (const { pattern, spec } of knownKeys) {
    const values = [spec.default, ...Object.values(spec.entries ?? {})].filter((value) => value !== undefined);
    if (pattern === "project.name") continue;
    for (const value of values)
      readValue(spec, treeOf(value), (_, message) => complaints.push(`${pattern} ${message}`));
  }
  expect(complaints).toEqual([]);
});

test("the defaults agree with each other", () => {
  const findings = noFindings();
  assemble([], "garden", findings);
  expect(findings).toEqual(noFindings());
});

test("the configuration is frozen to the bottom", () => {
  expect(Object.isFrozen(defaults.merge.keepIgnored)).toBe(true);
  expect(Object.isFrozen(defaults.mail.rateLimits)).toBe(true);
  expect(Object.isFrozen(table["merge.keepIgnored"].default)).toBe(false);
});

test("the type of the configuration follows the table", () => {
  const concurrent: number = defaults.agents.maxConcurrent;
  const backend: "auto" | "native" | "seeds" | "beads" = defaults.taskTracker.backend;
  const profile: string | undefined = defaults.project.defaultProfile;
  const gates: readonly { readonly name: string; readonly command: string }[] = defaults.project.qualityGates;
  const runtime: string | undefined = defaults.runtime.capabilities.builder;
  // @ts-expect-error a key that is not in the table is not in the type either
  expect(defaults.agents.maxConcurent).toBeUndefined();
  expect([concurrent, backend, profile, gates, runtime]).toEqual([25, "auto", undefined, [], undefined]);
});

test("rules and use cases find the slices they read", () => {
  const settings: Omit<Settings, "runtimes"> = defaults;
  expect(settings.mail.wake).toEqual({});
});

test("defaults that were decided differently from the earlier system", () => {
  expect(defaults.agents).toMatchObject({ staggerDelayMs: 0, maxRevivals: 5, continuePrompts: 2 });
  expect(defaults.merge).toMatchObject({ mode: "auto", unverified: "wait", promote: "ask" });
  expect(defaults.mail).toMatchObject({
    coalesceMs: 500,
    hopLimit: 12,
    rateLimits: { perMinute: 30, broadcastPerMinute: 4 },
  });
});

test("each key has a sentence about it", () => {
  expect(knownKeys.filter((key) => !/^[A-Z].*\.$/.test(key.spec.doc)).map((key) => key.pattern)).toEqual([]);
});

function* leaves(value: object, prefix = ""): Generator<string> {
  for (const [name, inner] of Object.entries(value)) {
    const isSection =
      typeof inner === "object" && inner !== null && !Array.isArray(inner) && Object.keys(inner).length > 0;
    if (isSection) yield* leaves(inner, `${prefix}${name}.`);
    else yield prefix + name;
  }
}
