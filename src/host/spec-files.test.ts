import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { specFiles } from "./project-files.ts";

test("a link in the place of a specification is not followed, and gives way to the text that was given", async () => {
  const dir = mkdtempSync(join(tmpdir(), "ov-specs-"));
  try {
    const dirs = { shown: join(dir, "shown"), given: join(dir, "given") };
    for (const each of Object.values(dirs)) mkdirSync(each);
    const specs = specFiles(dirs);
    writeFileSync(join(dir, "secret"), "a key\n");
    symlinkSync(join(dir, "secret"), join(dirs.shown, "T1.md"));
    expect(await specs.readSpec("T1", null)).toBeUndefined();
    const { digest } = await specs.writeSpec("T1", "what to do\n");
    expect(await specs.readSpec("T1", digest)).toMatchObject({ text: "what to do\n", byHand: false });
    expect(await Bun.file(join(dir, "secret")).text()).toBe("a key\n");
  } finally {
    rmSync(dir, { recursive: true });
  }
});

test("a link in the place of the directory gets no copy of a specification", async () => {
  const dir = mkdtempSync(join(tmpdir(), "ov-specs-"));
  try {
    const dirs = { shown: join(dir, "shown"), given: join(dir, "given") };
    mkdirSync(join(dir, "outside"));
    symlinkSync(join(dir, "outside"), dirs.shown);
    const specs = specFiles(dirs);
    const { digest } = await specs.writeSpec("T1", "what to do\n");
    expect(await specs.readSpec("T1", digest)).toMatchObject({ text: "what to do\n", byHand: false });
    expect(readdirSync(join(dir, "outside"))).toEqual([]);
  } finally {
    rmSync(dir, { recursive: true });
  }
});
