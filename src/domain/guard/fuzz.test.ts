import { expect, test } from "bun:test";
import { nowhere, policyFor, runs } from "../../../testkit/guard.ts";
import { fuzzCommands } from "../../../testkit/guard-fuzz.ts";
import { roles } from "../role/roles.ts";

/** As many in every run of the tests; `npm run fuzz` tries a million. */
const count = Number(process.env.GUARD_FUZZ ?? 5_000);
const seed = Number(process.env.PROPERTY_SEED ?? 1);
/** Time of the processor that none takes, unless something grows with more than its length. */
const longestMs = 2_000;

const usedMs = (): number => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1_000;
};

test(
  `${count} random commands make nobody throw or wait, and none that is no shell is allowed`,
  () => {
    const policies = [roles.builder, roles.scout, roles.coordinator].map((role) => policyFor(role));
    let at = 0;
    for (const command of fuzzCommands(seed, count)) {
      const policy = policies[at++ % policies.length] ?? policyFor(roles.builder);
      const began = usedMs();
      const { decision } = runs(policy, command);
      if (usedMs() - began > longestMs) expect([command, "took too long"]).toEqual([]);
      if (decision === "allow" && nowhere.parse(command) === undefined) expect([command, decision]).toEqual([]);
    }
    expect(at).toBe(count);
  },
  Math.max(60_000, count * 5),
);

test.each([
  ["parentheses", "(".repeat(50_000)],
  ["substitutions", "$(".repeat(50_000)],
  ["subshells that are closed", `${"(".repeat(5_000)}ls${")".repeat(5_000)}`],
  ["loops that go on and on", `${"while true; do cd x; ".repeat(500)}ls${"; done".repeat(500)}`],
  ["functions that call each other", `${"f() { g; g; g; g; g; g; g; }; g() { f; f; f; f; f; f; f; }; "}f`],
  ["commands", "ls;".repeat(30_000)],
  ["words", `echo ${"x ".repeat(50_000)}`],
  ["a long word", `echo ${"x".repeat(1_000_000)}`],
  ["words of an unknown program", `mywrapper ${"git ".repeat(20_000)}push`],
  ["shells in shells", Array.from({ length: 12 }).reduce<string>((text) => `sh -c ${JSON.stringify(text)}`, "ls")],
  ["a script of sed", `sed '${"s/a/b/;".repeat(20_000)}' f`],
  ["a program of awk", `awk '{${"print $1;".repeat(20_000)}}' f`],
  ["conditions of find", `find . ${"-name x -o ".repeat(20_000)} -delete`],
  ["braces", `rm ${"{a,b}".repeat(1_000)}`],
  ["wrappers", `${"env ".repeat(24_000)}git push`],
  ["wrappers in wrappers", `${"nice env timeout 5 ".repeat(6_000)}git push`],
  ["spaces", `git${" ".repeat(200_000)}status`],
  ["slashes", `rm ${"/".repeat(200_000)}x`],
  ["quotes", `echo ${"''".repeat(100_000)}`],
])(
  "a flood of %s is answered soon",
  (_, command) => {
    const began = usedMs();
    for (const role of [roles.builder, roles.scout]) {
      expect(["allow", "deny"]).toContain(runs(policyFor(role), command).decision);
    }
    expect(usedMs() - began).toBeLessThan(2 * longestMs);
  },
  60_000,
);
