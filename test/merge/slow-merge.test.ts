import { expect, test } from "bun:test";
import { landingWorld } from "../../testkit/landing-world.ts";

const lines = 200_000;

/** One key in each line. Every second value has this digit in front, which makes as many conflicts. */
const json = (digit: string): string => {
  const rows = Array.from({ length: lines }, (_, at) => `  "k${at}": ${at % 2 === 0 ? "" : digit}${at}`);
  return `{\n${rows.join(",\n")}\n}\n`;
};

test("a merge that takes git longer than merge.timeoutMs is a conflict in a named file, and the next branch lands", async () => {
  await using world = await landingWorld({
    files: { "data.json": json("") },
    gates: ["true"],
    merge: { timeoutMs: 2_000 },
  });
  world.branch("slow", () => world.write(world.root, "data.json", json("2")));
  world.branch("quick", () => world.write(world.root, "quick.txt", "quick\n"));
  world.write(world.root, "data.json", json("1"));
  world.git(world.root, "commit", "--quiet", "-am", "other values");
  const slow = await world.enqueue("slow");
  const quick = await world.enqueue("quick");
  const began = performance.now();
  await world.work();
  expect(performance.now() - began).toBeLessThan(60_000);
  expect(await world.entry(slow)).toMatchObject({ status: "conflict", cause: "conflict" });
  const { message, files } = (await world.entry(slow)).causeDetail ?? {};
  expect(message).toMatch(/^git did not merge the lines of data\.json \(4\.\d MB\) within 2 s: both sides changed/);
  expect(message).not.toContain("graft");
  expect(files).toEqual(["data.json"]);
  expect(await world.entry(quick)).toMatchObject({ status: "merged", verdict: "verified" });
}, 120_000);
