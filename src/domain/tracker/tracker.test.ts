import { describe, expect, test } from "bun:test";
import { resolveTracker, type TrackerFacts } from "./tracker.ts";

const facts = (...there: readonly string[]): TrackerFacts => ({
  beads: { files: there.includes(".beads"), program: there.includes("bd") },
  seeds: { files: there.includes(".seeds"), program: there.includes("sd") },
});

describe("auto", () => {
  test.each<[readonly string[], ReturnType<typeof resolveTracker>]>([
    [[], "native"],
    [["bd"], "native"],
    [["sd"], "native"],
    [["bd", "sd"], "native"],
    [[".beads"], "native"],
    [[".beads", "bd"], "beads"],
    [[".beads", "sd"], "native"],
    [[".seeds"], "native"],
    [[".seeds", "sd"], "seeds"],
    [[".seeds", "bd"], "native"],
    [[".beads", ".seeds"], "native"],
    [[".beads", ".seeds", "sd"], "seeds"],
    [[".beads", ".seeds", "bd"], "beads"],
    [[".beads", ".seeds", "bd", "sd"], "beads"],
  ])("with %p takes %s", (there, tracker) => {
    expect(resolveTracker("auto", facts(...there))).toBe(tracker);
  });
});

test.each(["native", "seeds", "beads"] as const)("%s is taken as named, whatever is there", (backend) => {
  for (const there of [[], [".beads", "bd"], [".seeds", "sd"], [".beads", ".seeds", "bd", "sd"]]) {
    expect(resolveTracker(backend, facts(...there))).toBe(backend);
  }
});
