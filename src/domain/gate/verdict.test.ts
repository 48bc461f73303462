import { expect, test } from "bun:test";
import fc from "fast-check";
import { gateStatuses } from "./gate.ts";
import { applies, type Evidence, verdictOf } from "./verdict.ts";

const tests = { name: "Tests", required: true, paths: [] };
const lint = { name: "Lint", required: false, paths: [] };
const web = { name: "Web", required: true, paths: ["web/**"] };
const passed = (gate: string) => ({ gate, status: "passed", flaky: false, kept: [] }) as const;

test("all gates passed at once: verified", () => {
  expect(verdictOf({ gates: [tests, lint], results: [passed("Tests"), passed("Lint")], cache: [] })).toEqual({
    verdict: "verified",
    gaps: [],
  });
});

test("without gates, or with none that ran, nothing is verified", () => {
  expect(verdictOf({ gates: [], results: [], cache: [] })).toEqual({
    verdict: "unverified",
    gaps: ["no quality gate is configured"],
  });
  expect(verdictOf({ gates: [web], results: [], cache: [] })).toEqual({
    verdict: "unverified",
    gaps: ["Web was left out: no file it is for changed"],
  });
});

test("a second run, an optional failure and a gate left out are gaps", () => {
  const flaky = { ...passed("Tests"), flaky: true };
  const failed = { gate: "Lint", status: "failed", flaky: false, kept: [] } as const;
  expect(verdictOf({ gates: [tests, lint, web], results: [flaky, failed], cache: [] })).toEqual({
    verdict: "verified_with_gaps",
    gaps: [
      "Tests failed before it passed on the same tree",
      "Lint failed, but is not required",
      "Web was left out: no file it is for changed",
    ],
  });
});

test("a build cache that was there is a gap, and what setup made is none", () => {
  const results = [{ ...passed("Tests"), kept: ["node_modules", "crates/a/target"] }];
  expect(verdictOf({ gates: [tests], results, cache: ["target"] })).toEqual({
    verdict: "verified_with_gaps",
    gaps: ["crates/a/target was used as earlier gates left it (merge.cache)"],
  });
  expect(verdictOf({ gates: [tests], results, cache: [] }).verdict).toBe("verified");
});

test("only an optional gate ran, and failed: nothing is verified", () => {
  const results = [{ gate: "Lint", status: "timed_out", flaky: false, kept: [] }] as const;
  expect(verdictOf({ gates: [lint], results, cache: [] }).verdict).toBe("unverified");
});

test("a required gate that every change needs but that did not run leaves nothing verified", () => {
  expect(verdictOf({ gates: [tests, lint], results: [passed("Lint")], cache: [] })).toEqual({
    verdict: "unverified",
    gaps: ["Tests was not run"],
  });
});

test("verified means that every gate has a first-time pass, and no verdict but that is without a gap", () => {
  const gate = fc.record({ required: fc.boolean(), paths: fc.constantFrom([], ["src"]) });
  const outcome = fc.option(fc.record({ status: fc.constantFrom(...gateStatuses), flaky: fc.boolean() }));
  fc.assert(
    fc.property(fc.array(fc.tuple(gate, outcome), { maxLength: 4 }), (drawn) => {
      const gates = drawn.map(([each], i) => ({ name: `g${i}`, ...each }));
      const results: Evidence["results"][number][] = [];
      for (const [i, [, result]] of drawn.entries())
        if (result !== null) results.push({ gate: `g${i}`, kept: [], ...result });
      const { verdict, gaps } = verdictOf({ gates, results, cache: [] });
      const clean = drawn.length > 0 && drawn.every(([, result]) => result?.status === "passed" && !result.flaky);
      expect(verdict === "verified").toBe(clean);
      expect(gaps.length === 0).toBe(clean);
      const broken = drawn.some(([{ required }, result]) => required && result !== null && result.status !== "passed");
      if (broken) expect(verdict).toBe("unverified");
    }),
  );
});

test("a gate without paths is needed by every change, even by none", () => {
  expect(applies({ paths: [] }, [])).toBe(true);
});

test("a gate with paths is needed when one changed file is among them", () => {
  const gate = { paths: ["src/**/*.ts", "Makefile"] };
  expect(applies(gate, ["docs/a.md", "src/deep/down/a.ts"])).toBe(true);
  expect(applies(gate, ["Makefile"])).toBe(true);
  expect(applies(gate, ["docs/a.md", "lib/Makefile"])).toBe(false);
  expect(applies(gate, [])).toBe(false);
});

test("a directory means what is in it, and nothing that only begins like it", () => {
  for (const path of ["web", "web/", "./web", "web/**"]) {
    expect(applies({ paths: [path] }, ["web/src/a.ts"])).toBe(true);
    expect(applies({ paths: [path] }, ["website/a.ts"])).toBe(false);
  }
  expect(applies({ paths: ["."] }, ["a"])).toBe(true);
});

test("if the changed files are unknown, the gate is needed", () => {
  expect(applies({ paths: ["src"] }, undefined)).toBe(true);
});
