import { expect, test } from "bun:test";
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { programFacts } from "./programs.ts";

test("a program that is asked for its version never passes for the operator", async () => {
  const dir = mkdtempSync(join(tmpdir(), "ov-versions-"));
  try {
    const script = `#!/bin/sh\ngrep '^Max file locks' /proc/self/limits > ${dir}/seen\necho 1.2\n`;
    writeFileSync(join(dir, "asked"), script, { mode: 0o755 });
    writeFileSync(join(dir, "broken"), "#!/no/such/interpreter\n", { mode: 0o755 });
    const { versionOf } = programFacts({ root: dir, state: dir }, { PATH: `${dir}:/usr/bin:/bin`, HOME: dir });
    expect(await versionOf("asked", ["--version"])).toBe("1.2");
    expect(readFileSync(join(dir, "seen"), "utf8")).toMatch(/^Max file locks +\d+ +\d+/);
    expect(await versionOf("broken", ["--version"])).toBe(null);
    expect(await versionOf("missing", ["--version"])).toBe(null);
  } finally {
    rmSync(dir, { recursive: true, force: true });
  }
});
