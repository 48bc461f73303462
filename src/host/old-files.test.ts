import { afterAll, expect, test } from "bun:test";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { oldFiles } from "./old-files.ts";
import { specFiles } from "./project-files.ts";

const dir = mkdtempSync(join(tmpdir(), "ov-old-"));
afterAll(() => rmSync(dir, { recursive: true, force: true }));

const dayMs = 24 * 60 * 60_000;
const age = (path: string, days: number): void => {
  const then = new Date(Date.now() - days * dayMs);
  utimesSync(path, then, then);
};

test("logs that were not written to since are found, and go with all that is in them", async () => {
  const overstory = join(dir, "logs-of");
  const logs = join(overstory, "logs", "merge");
  for (const [id, days] of [
    ["train-old", 20],
    ["check-new", 2],
  ] as const) {
    mkdirSync(join(logs, id, "1-train"), { recursive: true });
    writeFileSync(join(logs, id, "1-train", "1-Tests.log"), "red\n");
    age(join(logs, id), days);
  }
  const old = oldFiles(overstory);
  const before = Date.now() - 14 * dayMs;
  expect(await old.logsBefore(before, 0)).toEqual(["train-old"]);
  await old.removeLogs(["train-old", "never-was"]);
  expect(readdirSync(logs)).toEqual(["check-new"]);
  expect(await oldFiles(join(dir, "nowhere")).logsBefore(before, 0)).toEqual([]);
});

test("of very many each turn asks about others", async () => {
  const overstory = join(dir, "many");
  const logs = join(overstory, "logs", "merge");
  for (let n = 0; n < 1_500; n++) mkdirSync(join(logs, `train-${n}`), { recursive: true });
  const old = oldFiles(overstory);
  const parts = [await old.logsBefore(Date.now() + dayMs, 7), await old.logsBefore(Date.now() + dayMs, 8)];
  expect(parts.map(({ length }) => length)).toEqual([1_000, 1_000]);
  expect(new Set(parts.flat()).size).toBe(1_500);
});

test("old texts of specifications go, one that was given again stays, and the readable copy is none of them", async () => {
  const overstory = join(dir, "specs-of");
  const specs = specFiles({ shown: join(dir, "shown"), given: join(overstory, "specs", ".content") });
  const first = await specs.writeSpec("T1", "first\n");
  const again = await specs.writeSpec("T1", "again\n");
  await specs.readSpec("T1", again.digest);
  const text = (digest: string): string => join(overstory, "specs", ".content", `${digest}.md`);
  for (const path of [text(first.digest), text(again.digest), first.path]) age(path, 20);
  const old = oldFiles(overstory);
  const before = Date.now() - 14 * dayMs;
  const found = await old.specsBefore(before, 0);
  expect(found.toSorted()).toEqual([first.digest, again.digest].toSorted());
  await specs.writeSpec("T1", "again\n");
  await old.removeSpecs(found, before);
  expect([first.digest, again.digest].map((digest) => existsSync(text(digest)))).toEqual([false, true]);
  expect(await specs.readSpec("T1", again.digest)).toMatchObject({ text: "again\n", byHand: false });
});

test.each(["logs", "logs/merge", "mail-blobs", "specs/.content", "run/env", "logs/ann"])(
  "a link in the place of %s makes nothing behind it an old file of ours",
  async (name) => {
    const state = mkdtempSync(join(dir, "linked-"));
    const outside = mkdtempSync(join(dir, "outside-"));
    for (const path of ["merge/mine", "1-turn-a1", `${"a".repeat(64)}.md`, "ann/1-turn-a1"]) {
      mkdirSync(join(outside, path), { recursive: true });
      age(join(outside, path), 100);
    }
    mkdirSync(join(state, name, ".."), { recursive: true });
    symlinkSync(outside, join(state, name));
    const old = oldFiles(state);
    const { turnLogsBefore, logsBefore, specsBefore, environmentsBefore, blobsBefore } = old;
    for (const find of [turnLogsBefore, logsBefore, specsBefore, environmentsBefore, blobsBefore])
      expect(await find(Date.now() - dayMs, 0)).toEqual([]);
  },
);
